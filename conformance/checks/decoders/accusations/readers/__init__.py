"""The vendors' own interfaces, a few lines each: the beginning of a script that shows a fault without the kit.

Each module defines ``rows(log)``, which yields ``(operation, before, after)`` with the library's own values. They stand
under the library's own names of columns, or ``@1``, ``@2``, … where it has none. ``tail`` is the end of every script.
"""
