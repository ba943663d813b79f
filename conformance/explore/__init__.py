"""Random workloads on real servers, and oracles that compare servers with themselves (``design.md`` section 8).

``rules`` draws tables and statements; ``world`` runs each statement in a schema and in its twin, where every partial
function stands inside ``IF(1, ..., NULL)``. ``oracles`` compare what must be equal. ``shrinking`` makes
a finding short.
"""
