"""The answers of servers in a run, written down, and given again without the servers (docs/recordings).

``values`` and ``files`` are the format, ``tape`` is the order of requests and answers, ``directory`` holds the tapes of
a run; ``servers``, ``streams`` and ``beside`` stand between the checks and the servers.
"""
