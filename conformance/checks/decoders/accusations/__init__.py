"""Accusations against other people's decoders, and the scripts that show them by the decoder's own program alone.

An adapter stands between a decoder and the judge, so a difference may be the adapter's. ``script`` writes a stand-alone
program about one difference: the log, a few lines of the vendor's own interface (``readers``), what is expected in the
forms that the vendor documents (``forms``), and a verdict. Nothing of the kit is imported there. ``proof`` runs it in
the subject's own environment, and ``records`` keeps what it showed. Only what was reproduced is said of a program.

``python -m conformance.checks.decoders.accusations SUBJECT...`` tries every Case of the suite again.
"""
