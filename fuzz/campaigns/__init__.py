"""Campaigns against real programs: inputs from a seed, a watched subject, a judge, and findings that are kept.

``diverged``   sound events meet documents that they were not made for (FR5)
``malformed``  damaged events; a released server and its client end themselves at some of them
``streams``    relay logs of any events; a replica must survive them

The way of an input:

* ``inputs`` makes a batch from its key;
* ``journal`` notes the input;
* a channel (``channels``, ``client``) gives the input to its subject, and a judge decides about the outcome;
* ``buckets`` counts inputs that did not pass by their outcome, and the stacks of listed crashes;
* ``known`` tells which kinds earlier campaigns have kept;
* ``findings`` keeps and shrinks the first input of each new kind, and ``damaged_fields`` says what is wrong with it.
"""
