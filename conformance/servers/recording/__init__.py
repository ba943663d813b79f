"""What servers answered in a run, written down, and asked again without them (docs/recordings).

``values`` and ``files`` are the format, ``tape`` is the order of requests and answers, ``directory`` holds the tapes of
a run; ``servers``, ``streams`` and ``beside`` stand between the checks and the servers.
"""
