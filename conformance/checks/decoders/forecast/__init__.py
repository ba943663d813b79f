"""A forecast for the readers of a binary log: features of events, and what each built-in subject makes of them.

``features`` says what is looked for, ``survey`` counts it in a log. ``outcomes`` measures each subject on Cases of the
suite that have a feature, and writes ``outcomes.json``; nothing in that file is written by hand. ``forecast`` brings
the two together.
"""
