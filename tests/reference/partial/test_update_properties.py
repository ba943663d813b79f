"""Properties of updates, in-place changes, diffs and their application, searched by Hypothesis (fuzzing 5)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from conformance.reference.dialect import MYSQL, WORKLOG
from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.jsonb.compare import equal_stored
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.layout import decode_stored, decode_strict, encode_stored, storage_free, stored_value
from conformance.reference.jsonb.tagged import from_tagged, to_tagged
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import depth, same
from conformance.reference.jsonb.view import View, open_document
from conformance.reference.partial.apply import apply_diffs, apply_field
from conformance.reference.partial.decision import decide
from conformance.reference.partial.diffs import Operation, decode_diffs, encode_diffs
from conformance.reference.partial.document import Document
from conformance.reference.partial.expression import Columns
from conformance.reference.partial.paths import Cell, Member, Path, is_identifier, parse_path
from conformance.reference.partial.update import update_row
from conformance.reference.tables.columns import PartialJson
from generators.documents import Size
from generators.strategies import assignments, damaged, documents, keys, paths, sequences, stored
from tests.cases.modelled import predictions
from tests.reference.kit import number, outcome

if TYPE_CHECKING:
    from conformance.cases.update_case import UpdateCase
    from conformance.reference.jsonb.values import JsonValue
    from generators.strategies import Damaged

pytestmark = pytest.mark.slow

SMALL: Final = (Size.SMALL, Size.SMALL, Size.TINY)
ACCEPTING: Final = replace(MYSQL, behaviour=replace(MYSQL.behaviour, refuse_unchanging_replace=False))
fewer = settings(max_examples=max(20, settings().max_examples // 3))


def used(view: View) -> int:
    """Bytes of a container that something points at, nested containers included: counted here by another way than
    the one under test."""
    total = view.values_end - view.start
    if view.is_object:
        total += sum(view.key_place(index)[1] for index in range(view.count))
    for index in range(view.count):
        place = view.place(index)
        if place is not None:
            child = view.element(index)
            total += used(child) if child.is_array or child.is_object else place[1] - place[0]
    return total


# --- whole sequences -------------------------------------------------------------------------------------------------


@fewer
@given(sequences(steps=6, rows=2))
def test_every_predicted_document_is_a_layout_whose_holes_add_up(case: UpdateCase) -> None:
    for prediction in predictions(case):
        for row in prediction.rows:
            for change in row.change.columns.values():
                data = change.after
                if not data:
                    continue
                layout = decode_stored(data)
                assert encode_stored(layout) == data
                value = decode(data)
                assert same(stored_value(layout), value)
                assert same(decode_strict(data), value)
                free = storage_free(data)
                view = open_document(data)
                if view.is_array or view.is_object:
                    assert free == len(data) - 1 - used(view) >= 0
                else:
                    assert free == 0
                if change.in_place:
                    assert change.before is not None
                    assert len(data) == len(change.before)
                elif change.diffs is not None:
                    assert free == 0
                    assert data == encode(value)


@fewer
@given(sequences(steps=6, rows=2))
def test_diffs_lead_from_the_old_document_to_the_new_one(case: UpdateCase) -> None:
    for prediction in predictions(case):
        for row in prediction.rows:
            for change in row.change.columns.values():
                if change.diffs is None or change.after is None:
                    continue
                assert encode_diffs(change.diffs) == change.encoded
                again = decode_diffs(change.encoded, strict=True)
                assert encode_diffs(again) == change.encoded
                for dialect in (ACCEPTING, WORKLOG):
                    applied = apply_field(change.before, change.encoded, dialect)
                    assert applied is not None
                    assert same(decode(applied), decode(change.after))
                    decode_strict(applied)


@fewer
@given(sequences(steps=6, rows=2))
def test_a_replica_refuses_only_what_the_listed_deviation_explains(case: UpdateCase) -> None:
    for prediction in predictions(case):
        for row in prediction.rows:
            for change in row.change.columns.values():
                if not change.diffs or change.after is None:
                    continue
                applied, error = outcome(apply_diffs, change.before, change.diffs)
                if error is not None:
                    # In place, a REPLACE that changes no byte (partial-update 8.1); the source was on the tree.
                    assert number(error) == 3648
                    assert "there already" in error.message
                    assert not change.in_place
                    continue
                assert applied is not None
                assert same(decode(applied), decode(change.after))
                if change.in_place and all(diff.operation is not Operation.INSERT for diff in change.diffs):
                    assert len(applied) == len(change.after)


@fewer
@given(sequences(steps=6, rows=2))
def test_the_decision_follows_from_the_sizes(case: UpdateCase) -> None:
    for prediction in predictions(case):
        logged = [row for row in prediction.rows if row.change.logged]
        for row in logged:
            for name, decision in row.decisions.items():
                before, after = row.change.before[name], row.change.after[name]
                change = row.change.columns.get(name)
                assert decision == decide(before, after, change, partial_json=case.session.partial_json)
                if after is None:
                    assert decision.field is None
                    continue
                assert isinstance(after, bytes)
                assert decision.data is not None
                if not case.session.partial_json:
                    assert not decision.partial
                if not decision.partial:
                    assert decision.data == after
                elif decision.data:
                    # Partial is chosen only when it saves five bytes of field (partial-update 5).
                    assert len(decision.data) + 4 <= 4 + len(after) - 5
                else:
                    assert before == after
        bodies = [row for event in prediction.events for row in event.rows]
        assert len(bodies) == len(logged)
        for body in bodies:
            partial = [value for value in body.after or () if isinstance(value, PartialJson)]
            assert bool(body.value_options) is bool(partial)
            assert (body.partial_columns or 0).bit_count() == len(partial)


@fewer
@given(sequences(steps=5, rows=2))
def test_rows_without_a_logged_change_stay_as_they_are(case: UpdateCase) -> None:
    for prediction in predictions(case):
        assert prediction.changed == sum(len(event.rows) for event in prediction.events)
        for row in prediction.rows:
            if not row.change.logged:
                assert row.change.after is row.change.before
                for change in row.change.columns.values():
                    if change.before is not None and change.after is not None:
                        assert equal_stored(change.before, change.after)


# --- one expression --------------------------------------------------------------------------------------------------


@given(st.data())
def test_ranges_cover_every_byte_that_an_update_in_place_changes(data: st.DataObject) -> None:
    before = data.draw(stored(sizes=SMALL))
    assignment = data.draw(assignments(before, partial_only=True))
    change = update_row({"j": before}, (assignment,), Columns(("j",)), log_diffs=True).columns["j"]
    assert (change.ranges is not None) is change.in_place or change.after is None
    if change.ranges is None or change.after is None:
        return
    covered = bytearray(len(before))
    end = -1
    for offset, length in change.ranges:
        assert length >= 0
        assert offset > end  # sorted, and neither overlapping nor touching; a removal may have an empty one
        end = offset + length
        covered[offset:end] = b"\1" * length
    assert end <= len(before)
    assert all(old == new or mark for old, new, mark in zip(before, change.after, covered, strict=True))


@given(st.data())
def test_whether_diffs_are_wanted_changes_nothing_in_the_document(data: st.DataObject) -> None:
    before = data.draw(stored(sizes=SMALL))
    assignment = data.draw(assignments(before))
    row = {"j": before}
    with_diffs = update_row(row, (assignment,), Columns(("j",)), log_diffs=True)
    without = update_row(row, (assignment,), Columns(("j",)), log_diffs=False)
    assert with_diffs.after == without.after
    assert with_diffs.logged is without.logged
    assert without.columns["j"].diffs is None
    assert row == {"j": before}


@given(st.data())
def test_the_same_values_in_place_and_on_the_tree(data: st.DataObject) -> None:
    """A document that fell to the tree before anything happened ends with the same value."""
    before = data.draw(stored(sizes=SMALL))
    assignment = data.draw(assignments(before, partial_only=True))
    change = update_row({"j": before}, (assignment,), Columns(("j",)), log_diffs=True).columns["j"]
    assume(change.diffs)
    assert change.diffs is not None
    assert change.after is not None
    tree = Document(before)
    tree.to_tree()
    for diff in change.diffs:
        step = apply_diffs(tree.stored(), (diff,), ACCEPTING)
        assert step is not None
        tree = Document(step)
        tree.to_tree()
    assert same(decode(tree.stored()), decode(change.after))


# --- paths and tagged values -----------------------------------------------------------------------------------------

legs = st.one_of(
    st.builds(Member, keys()),
    st.builds(Member, st.text(st.characters(codec="utf-8"), max_size=4)),
    st.builds(Cell, st.integers(0, 2**32 - 1), st.booleans()),
)


@given(st.lists(legs, max_size=6))
def test_canonical_text_of_a_path_means_that_path(drawn: list[Member | Cell]) -> None:
    path = Path(tuple(drawn))
    text = str(path)
    assert parse_path(text) == path
    assert str(parse_path(f" {text} ")) == text
    for leg in drawn:
        if isinstance(leg, Member):
            assert (f'"{leg.name}"' in text) or is_identifier(leg.name) or "\\" in text


@given(st.text(st.sampled_from('$.[]*"\\ last-to0123abāé文\t'), max_size=14))
def test_any_text_is_a_path_or_error_3143(text: str) -> None:
    path, error = outcome(parse_path, text)
    if error is None:
        if "****" not in str(path):  # MySQL splits "** **" at its space too, and prints stars that it would not parse
            assert parse_path(str(path)) == path
        return
    assert number(error) == 3143
    assert error.offset is not None
    assert 0 <= error.offset <= len(text)


@given(st.data())
def test_every_spelling_finds_what_the_canonical_path_finds(data: st.DataObject) -> None:
    document = data.draw(stored(sizes=SMALL))
    text = data.draw(paths(document, existing=True))
    found = Document(document).seek(parse_path(text).legs)
    again = Document(document).seek(parse_path(str(parse_path(text))).legs)
    assert isinstance(found, View)
    assert isinstance(again, View)
    assert same(found.value(), again.value())


@given(documents())
def test_tagged_data_gives_the_value_back(value: JsonValue) -> None:
    assert same(from_tagged(to_tagged(value)), value)
    assert encode(from_tagged(to_tagged(value))) == encode(value)


# --- hostile bytes ---------------------------------------------------------------------------------------------------


def check_document(data: bytes) -> None:
    """Declared errors only, and what two readings accept is the same (fuzzing 3)."""
    try:
        value = decode(data)
    except CodecError:
        with pytest.raises(CodecError):
            decode_strict(data)
        return
    again = encode(value)
    assert same(decode(again), value)
    assert encode(decode(again)) == again
    try:
        strictly = decode_strict(data)
    except CodecError:
        return
    assert same(strictly, value)
    assert depth(value) <= 100
    if data:
        assert encode_stored(decode_stored(data)) == data
        assert 0 <= storage_free(data) < len(data)
    format_text(value)


@given(damaged(stored(sizes=SMALL)))
def test_a_damaged_document_is_read_or_refused(made: Damaged) -> None:
    check_document(made.data)


@given(st.binary(max_size=80))
@example(b"\x02\x00\x00\x04\x00")
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    check_document(data)


@fewer
@given(damaged(stored(sizes=SMALL)), st.data())
def test_an_update_of_a_damaged_document_ends_or_is_refused(made: Damaged, data: st.DataObject) -> None:
    kept = made.data
    assignment = data.draw(assignments(made.original))
    try:
        change = update_row({"j": made.data}, (assignment,), Columns(("j",)), log_diffs=True)
    except CodecError:
        pass
    else:
        column = change.columns["j"]
        if column.in_place and column.after is not None:
            assert len(column.after) == len(kept)
    assert made.data == kept


encoded_diffs = st.builds(
    lambda before, assignment: (
        before,
        update_row({"j": before}, (assignment,), Columns(("j",)), log_diffs=True).columns["j"].encoded,
    ),
    st.just(encode({"a": 1, "b": "text", "c": [1, "two", {"x": None}], "d": {"k": "v"}})),
    assignments(encode({"a": 1, "b": "text", "c": [1, "two", {"x": None}], "d": {"k": "v"}}), partial_only=True),
)


@given(st.one_of(damaged(encoded_diffs.map(lambda pair: pair[1])).map(lambda made: made.data), st.binary(max_size=40)))
def test_damaged_diffs_are_refused_or_leave_a_document(field: bytes) -> None:
    before = encode({"a": 1, "b": "text", "c": [1, "two", {"x": None}], "d": {"k": "v"}})
    for strict in (False, True):
        decoded, error = outcome(decode_diffs, field, strict=strict)
        if error is None:
            again = encode_diffs(decoded)
            assert encode_diffs(decode_diffs(again)) == again
        assert number(error) in (0, -1, 3142, 3157)
    for dialect in (MYSQL, WORKLOG):
        after, error = outcome(apply_field, before, field, dialect)
        if error is None:
            decode(after)
        assert number(error) in (0, 3142, 3157, 3648, 3649)
    assert before == encode({"a": 1, "b": "text", "c": [1, "two", {"x": None}], "d": {"k": "v"}})


@given(st.data())
def test_diffs_of_another_document_are_refused_or_leave_a_document(data: st.DataObject) -> None:
    """A diverged replica: an error of the list, or a document that encodes, prints and is not too deep (FR5)."""
    one, other = data.draw(stored(sizes=SMALL)), data.draw(stored(sizes=SMALL))
    assignment = data.draw(assignments(one, partial_only=True))
    field = update_row({"j": one}, (assignment,), Columns(("j",)), log_diffs=True).columns["j"].encoded
    after, error = outcome(apply_field, other, field)
    assert number(error) in (0, 3648, 3157)
    if error is None:
        decode_strict(after)
        format_text(decode(after))


# --- a document's life -----------------------------------------------------------------------------------------------


class DocumentLife(RuleBasedStateMachine):
    """One column under random statements, followed by a replica that starts from the same bytes and a plain value."""

    @initialize(document=stored(sizes=SMALL))
    def begin(self, document: bytes) -> None:
        self.source = document
        self.replica = document

    @rule(data=st.data(), whole=st.booleans())
    def statement(self, data: st.DataObject, *, whole: bool) -> None:
        assignment = data.draw(assignments(self.source, partial_only=not whole))
        change, error = outcome(update_row, {"j": self.source}, (assignment,), Columns(("j",)), log_diffs=True)
        assert number(error) in (0, 3157)
        if error is not None:
            return
        after = change.after["j"]
        if not change.logged or after is None:
            return
        assert isinstance(after, bytes)
        decision = decide(self.source, after, change.columns["j"], partial_json=True)
        assert decision.data is not None
        if decision.partial:
            applied = apply_field(self.replica, decision.data, ACCEPTING)
            assert applied is not None
            self.replica = applied
        else:
            self.replica = decision.data
        self.source = after
        assume(len(self.source) < 20_000)

    @rule()
    def rebuild(self) -> None:
        """The source writes the document anew; the replica keeps its holes."""
        self.source = encode(decode(self.source))

    @invariant()
    def documents_are_equal(self) -> None:
        if hasattr(self, "source"):
            assert same(decode(self.source), decode(self.replica))
            assert format_text(decode(self.source)) == format_text(decode(self.replica))
            assert equal_stored(self.source, self.replica)

    @invariant()
    def layouts_are_whole(self) -> None:
        for data in (getattr(self, "source", b""), getattr(self, "replica", b"")):
            assert encode_stored(decode_stored(data)) == (data or encode(None))
            assert storage_free(data) >= 0


TestDocumentLife = DocumentLife.TestCase
TestDocumentLife.settings = settings(
    max_examples=max(20, settings().max_examples // 5), stateful_step_count=12, deadline=None
)


def test_strict_errors_of_documents_are_never_mysql_errors_but_for_depth() -> None:
    for data in (b"\x0d", b"\x02\x01\x00\x04\x00", b"\x05\x01\x00\x00"):
        with pytest.raises(DecodeError):
            decode_strict(data)
