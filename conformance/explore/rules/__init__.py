"""The rules of random workloads: which tables, documents, statements and settings there are.

Every rule draws from :class:`generators.draw.Draw`. No rule depends on what chance decides in a server: no clock, no
random function, no LIMIT without a total order.
"""
