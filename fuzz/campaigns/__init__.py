"""Campaigns against real programs: inputs from a seed, a watched subject, a judge, and findings that are kept.

``diverged``   sound events meet documents that they were not made for (FR5)
``malformed``  damaged events; a released server and its client end themselves at some of them

The way of an input: ``inputs`` makes a batch from its key, ``journal`` notes it, a channel (``channels``, ``client``)
puts it before its subject and has it judged, ``buckets`` counts what did not pass by what it looks like, and
``findings`` keeps and shrinks the first of each kind.
"""
