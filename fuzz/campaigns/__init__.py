"""Campaigns against real programs: inputs from a seed, a watched subject, a judge, and findings that are kept.

``diverged``   sound events meet documents that they were not made for (FR5)
``malformed``  damaged events; a released server and its client end themselves at some of them

The way of an input:

* ``inputs`` makes a batch from its key;
* ``journal`` notes the input;
* a channel (``channels``, ``client``) gives the input to its subject, and a judge decides about the outcome;
* ``buckets`` counts inputs that did not pass by their outcome;
* ``findings`` keeps and shrinks the first input of each kind.
"""
