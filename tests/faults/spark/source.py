"""Faults of a source: diffs that are lost, or longer than they must be, and the choice between diffs and document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

from conformance.cases import predict
from conformance.reference.cursor import encode_packed
from conformance.reference.partial import decision, diffs, evaluation, update
from conformance.reference.partial.decision import Decision
from conformance.reference.partial.expression import Call, Function
from tests.faults.fault import Fault, Plant

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from conformance.reference.partial.diffs import Operation
    from conformance.reference.partial.expression import Expression
    from conformance.reference.partial.paths import Path


def _without_a_list(lost: Callable[[Expression, Any], bool]) -> Plant:
    """No diffs are collected where ``lost`` says so: the document is logged whole."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        run = evaluation.Chain.run

        def forgetful(self: evaluation.Chain, expression: Expression, row: Any, columns: Any) -> None:
            run(self, expression, row, columns)
            if lost(expression, row):
                self.logical_off()

        patch.setattr(evaluation.Chain, "run", forgetful)

    return plant


def _most(_: Expression, row: Any) -> bool:
    return crc32(repr(row).encode()) % 100 < 95


def _is_set(expression: Expression, _: Any) -> bool:
    return isinstance(expression, Call) and expression.function is Function.JSON_SET


def _last_lost(patch: pytest.MonkeyPatch) -> None:
    run = evaluation.Chain.run

    def forgetful(self: evaluation.Chain, expression: Expression, row: Any, columns: Any) -> None:
        run(self, expression, row, columns)
        if self.diffs:
            self.diffs.pop()
            self.encoded.pop()

    patch.setattr(evaluation.Chain, "run", forgetful)


def _written(change: Callable[[Operation, bytes, bytes | None], bytes]) -> Plant:
    """Diffs are written in another way: ``change`` gets operation, path and value."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        def encode(operation: Operation, path: Path, data: bytes | None) -> bytes:
            return change(operation, str(path).encode(), data)

        patch.setattr(evaluation, "encode_diff", encode)
        patch.setattr(diffs, "encode_diff", encode)

    return plant


def _diff(operation: Operation, path: bytes, data: bytes | None, length: Callable[[int], bytes]) -> bytes:
    head = bytes((operation,)) + length(len(path)) + path
    return head if data is None else head + length(len(data)) + data


def _longer(extra: int) -> Plant:
    """Bytes behind the value, which every reader skips; behind the last leg of a path where there is no value."""
    return _written(
        lambda operation, path, data: _diff(
            operation,
            path + b" " * extra * (data is None),
            None if data is None else data + bytes(extra),
            encode_packed,
        )
    )


def _quoted(path: bytes) -> bytes:
    return path.replace(b"$.", b'$."') + b'"' if path.startswith(b"$.") and b'"' not in path else path


def _decided(smaller: Callable[[int, int], bool]) -> Plant:
    return lambda patch: patch.setattr(decision, "diffs_pay", smaller)


def _other_decision(change: Callable[[Any, Any, Any, Decision], Decision]) -> Plant:
    """Only with the option on: the event with the option off stays as it is."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        decide = predict.__dict__["decide"]

        def decided(before: Any, after: Any, changed: Any, *, partial_json: bool) -> Decision:
            found: Decision = decide(before, after, changed, partial_json=partial_json)
            return change(before, after, changed, found) if partial_json else found

        patch.setattr(predict, "decide", decided)

    return plant


def _untouched_whole(_: Any, after: Any, changed: Any, found: Decision) -> Decision:
    return Decision(False, after, "planted") if changed is None and found.partial else found


def _all_empty_whole(_: Any, after: Any, __: Any, found: Decision) -> Decision:
    return Decision(False, after, "planted") if found.partial and not found.data else found


def _objects_whole(_: Any, after: Any, changed: Any, found: Decision) -> Decision:
    small = changed is None and found.partial and after[:1] == b"\0"
    return Decision(False, after, "planted") if small else found


def _null_as(data: bytes, *, partial: bool) -> Plant:
    def change(_: Any, after: Any, __: Any, found: Decision) -> Decision:
        return Decision(partial, data, "planted") if after is None else found

    return _other_decision(change)


def _no_diffs_for_a_replica(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("scenarios.engines.safety.encode_diffs", lambda _: b"")


def _no_removal(patch: pytest.MonkeyPatch) -> None:
    eligible = update.eligible_columns

    def fewer(assignments: Any, *rest: Any, **options: Any) -> set[str]:
        assignments = tuple(assignments)
        removing = {
            item.column
            for item in assignments
            if isinstance(item.expression, Call) and item.expression.function is Function.JSON_REMOVE
        }
        return set(eligible(assignments, *rest, **options)) - removing

    patch.setattr(update, "eligible_columns", fewer)


SOURCE_FAULTS = (
    Fault("diffs/95-of-100-lost", "", "It loses the diffs of 95 rows in 100.", _without_a_list(_most)),
    Fault("diffs/none", "", "It collects no diffs.", _without_a_list(lambda *_: True)),
    Fault("diffs/none-for-json-set", "", "It collects no diffs for JSON_SET.", _without_a_list(_is_set)),
    Fault("diffs/last-lost", "", "It loses the last diff of each column.", _last_lost),
    Fault("diffs/none-to-send", "", "It sends events without their diffs.", _no_diffs_for_a_replica),
    Fault("diffs/none-for-json-remove", "", "It does not take JSON_REMOVE as eligible.", _no_removal),
    Fault("diffs/3-bytes-longer", "", "It writes 3 bytes too many in each diff.", _longer(3)),
    Fault("diffs/16-bytes-longer", "", "It writes 16 bytes too many in each diff.", _longer(16)),
    Fault("diffs/paths-quoted", "", "It writes every name of a path in quotes.",
          _written(lambda operation, path, data: _diff(operation, _quoted(path), data, encode_packed))),
    Fault("diffs/lengths-of-3-bytes", "", "It writes lengths in diffs in three bytes.",
          _written(
              lambda operation, path, data: _diff(
                  operation,
                  path,
                  data,
                  lambda length: (
                      b"\xfc" + length.to_bytes(2, "little") if length < 1 << 16 else encode_packed(length)
                  ),
              )
          )),
    Fault("decision/never", "", "It never logs diffs.", _decided(lambda _, __: False)),
    Fault("decision/always", "", "It logs diffs wherever there are any.", _decided(lambda _, __: True)),
    Fault("decision/length-not-counted", "", "It does not count the length bytes.", _decided(lambda d, f: d < f)),
    Fault("decision/one-byte-late", "", "It wants one byte more of saving.", _decided(lambda d, f: 5 + d < f)),
    Fault("decision/at-the-border-too", "", "It logs diffs at the border too.", _decided(lambda d, f: 4 + d <= f)),
    Fault("decision/half", "", "It wants the diffs to be half as long.", _decided(lambda d, f: 2 * (4 + d) < f)),
    Fault("empty/untouched-whole", "", "It logs untouched columns whole.", _other_decision(_untouched_whole)),
    Fault("empty/all-whole", "", "It logs columns without a diff whole.", _other_decision(_all_empty_whole)),
    Fault("empty/objects-whole", "", "It logs untouched objects whole.", _other_decision(_objects_whole)),
    Fault("null/as-empty-diffs", "", "It logs NULL as an empty list of diffs.", _null_as(b"", partial=True)),
    Fault("null/as-json-null", "", "It logs NULL as a JSON null.", _null_as(b"\4\0", partial=False)),
)  # fmt: skip
"""Faults of evaluation, diffs and decision (partial-update 1, 2, 4, 5)."""
