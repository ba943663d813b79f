from __future__ import annotations

import json

from conformance.explore.steps import CLOSE, OPEN, SIDE, Step, dump_script, json_literal, load_script, quoted

UPDATE = Step(f"UPDATE t0 SET j = {OPEN}JSON_SET(j, '$.a', 1){CLOSE} WHERE id = 1", "update", 1, ("view",))


def test_the_base_is_the_statement_without_marks() -> None:
    assert UPDATE.base == "UPDATE t0 SET j = JSON_SET(j, '$.a', 1) WHERE id = 1"


def test_the_twin_has_no_partial_function_at_the_top() -> None:
    assert UPDATE.twin == "UPDATE t0 SET j = IF(1, JSON_SET(j, '$.a', 1), NULL) WHERE id = 1"


def test_names_that_the_server_knows_once_differ_between_the_sides() -> None:
    step = Step(f"XA START '{SIDE}1'", "xa-start")
    assert (step.base, step.twin) == ("XA START 'x1'", "XA START 'y1'")


def test_a_script_survives_json() -> None:
    script = (UPDATE, Step("COMMIT", "commit"), Step("SELECT 1", "select", alone=True), Step("", "nothing"))
    dumped = dump_script(script)
    assert load_script(json.loads(json.dumps(dumped))) == script
    assert dumped[1] == {"text": "COMMIT", "shape": "commit"}


def test_another_text_is_the_same_step() -> None:
    assert UPDATE.with_text("DO 1") == Step("DO 1", "update", 1, ("view",))


def test_literals_hold_quotes_and_backslashes() -> None:
    assert quoted("it's a \\") == r"'it''s a \\'"
    assert json_literal({"a": 'x"é'}) == r"""'{"a": "x\\"é"}'"""
