"""Defects of a decoder by their cause: what the failing Cases share and the passing ones lack.

``features`` says what each change, value and diff of a Case has: the only place that does. ``sightings`` says what a
subject's answer did to them. ``rules`` finds the features that separate, ``words`` says them to people, and
``clusters`` puts these together.
"""
