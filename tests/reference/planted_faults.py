"""Planted faults of the reference: how many the vectors kill (fuzzing sheet, section 7).

``python -m tests.reference.planted_faults`` (from the repository's root) prints one line per fault, with the vector
that killed it, and ``killed/planted`` at the end; exit status 1 if one lives. Each fault breaks one clause of the
jsonb or partial-update sheet. Left out because they change nothing that a server can store: the first two steps of the
space test (3.1), which the later ones contain, and the encoder's shortcut for large children (2.1).
"""

from __future__ import annotations

import sys
from typing import Final

from tests.reference.kit import Fault, original, planted
from tests.reference.vectors import vectors

FAULTS: Final = [
    # --- jsonb.encode
    Fault(
        "int16-upper-bound",
        "jsonb.encode",
        "if -0x8000 <= value < 0x8000:",
        "if -0x8000 <= value <= 0x8000:",
        "narrowest integer",
    ),
    Fault(
        "int16-lower-bound",
        "jsonb.encode",
        "if -0x8000 <= value < 0x8000:",
        "if -0x8000 < value < 0x8000:",
        "narrowest integer",
    ),
    Fault(
        "int32-as-int64",
        "jsonb.encode",
        "if -0x80000000 <= value < 0x80000000:",
        "if -0x800000 <= value < 0x800000:",
        "narrowest integer",
    ),
    Fault("uint16-bound", "jsonb.encode", "if 0 <= value <= 0xFFFF:", "if 0 <= value < 0xFFFF:", "narrowest integer"),
    Fault(
        "uint32-bound",
        "jsonb.encode",
        "if 0 <= value <= 0xFFFFFFFF:",
        "if 0 <= value < 0xFFFFFFFF:",
        "narrowest integer",
    ),
    Fault(
        "true-is-2",
        "jsonb.encode",
        "return _TRUE if value else _FALSE",
        "return _FALSE if value else _TRUE",
        "literal bytes",
    ),
    Fault("varlen-one-byte", "jsonb.encode", "if length < 0x80:", "if length <= 0x80:", "minimal length"),
    Fault("varlen-two-bytes", "jsonb.encode", "if length < 0x4000:", "if length <= 0x4000:", "minimal length"),
    Fault("varlen-loop", "jsonb.encode", "while length > 0x7F:", "while length > 0x80:", "minimal length"),
    Fault(
        "small-limit",
        "jsonb.encode",
        "SMALL_LIMIT: Final = 0xFFFF\n",
        "SMALL_LIMIT: Final = 0xFFFE\n",
        "small up to a size of 65535",
    ),
    Fault(
        "large-too-late",
        "jsonb.encode",
        "large = large or size > SMALL_LIMIT",
        "large = large or size > SMALL_LIMIT + 1",
        "small up to a size of 65535",
    ),
    Fault(
        "key-order-bytes-first",
        "jsonb.encode",
        "return row[0], row[1]\n",
        "return row[1], row[0]\n",
        "keys by length first",
    ),
    Fault(
        "int32-not-inlined-in-large",
        "jsonb.encode",
        "INLINED_LARGE: Final = frozenset((LITERAL, INT16, UINT16, INT32, UINT32))",
        "INLINED_LARGE: Final = frozenset((LITERAL, INT16, UINT16, UINT32))",
        "int32 inlined in large",
    ),
    Fault(
        "int32-inlined-in-small",
        "jsonb.encode",
        "INLINED_SMALL: Final = frozenset((LITERAL, INT16, UINT16))",
        "INLINED_SMALL: Final = frozenset((LITERAL, INT16, UINT16, INT32))",
        "int32 not inlined in small",
    ),
    Fault(
        "no-sign-extension",
        "jsonb.encode",
        'b"\\xff\\xff" if data[1] & 0x80 else b"\\x00\\x00"',
        'b"\\x00\\x00"',
        "inlined int16 is sign-extended",
    ),
    Fault(
        "first-key-offset",
        "jsonb.encode",
        "offset = 4 + count * (7 if is_object else 3)\n",
        "offset = 4 + count * 7\n",
        "offsets count from the element count",
    ),
    Fault(
        "large-key-entry",
        "jsonb.encode",
        '_pack_large_key = Struct("<IH").pack',
        '_pack_large_key = Struct("<II").pack',
        "key lengths have two bytes in both formats",
    ),
    Fault(
        "arrays-101-deep",
        "jsonb.encode",
        "def _array(items: list[JsonValue], level: int) -> tuple[int, bytes]:\n    if level >= MAX_DEPTH:",
        "def _array(items: list[JsonValue], level: int) -> tuple[int, bytes]:\n    if level > MAX_DEPTH:",
        "100 containers",
    ),
    # --- jsonb.decode
    Fault(
        "inlined-int16-unsigned",
        "jsonb.decode",
        "append((offset & 0xFFFF ^ 0x8000) - 0x8000)",
        "append(offset & 0xFFFF)",
        "inlined int16 is signed",
    ),
    Fault(
        "inlined-int16-four-bytes",
        "jsonb.decode",
        "append((offset & 0xFFFF ^ 0x8000) - 0x8000)",
        "append((offset ^ 0x8000) - 0x8000)",
        "readers look at two bytes",
    ),
    Fault(
        "inlined-uint16-signedness-lost",
        "jsonb.decode",
        "append(UInt(offset & 0xFFFF))",
        "append(offset & 0xFFFF)",
        "unsigned is another type",
    ),
    Fault(
        "inlined-int32-unsigned",
        "jsonb.decode",
        "append((offset ^ 0x80000000) - 0x80000000)",
        "append(offset)",
        "inlined int32 is signed",
    ),
    Fault(
        "inlined-literal-whole-field",
        "jsonb.decode",
        "append(_literal(offset & 0xFF, values",
        "append(_literal(offset, values",
        "an inlined literal is one byte",
    ),
    Fault(
        "int32-inlined-when-read-small",
        "jsonb.decode",
        "elif large and entry_kind == INT32:",
        "elif entry_kind == INT32:",
        "int32 not inlined in small",
    ),
    Fault(
        "no-lower-bound-of-offsets",
        "jsonb.decode",
        "if at < values_end or at > end:",
        "if at > end:",
        "a value lies after its entries",
    ),
    Fault(
        "no-upper-bound-of-offsets",
        "jsonb.decode",
        "if at < values_end or at > end:",
        "if at < values_end:",
        "a value lies inside its container",
    ),
    Fault(
        "no-lower-bound-of-keys",
        "jsonb.decode",
        "if at < values_end or stop > end:",
        "if stop > end:",
        "a key lies after the entries",
    ),
    Fault(
        "no-upper-bound-of-keys",
        "jsonb.decode",
        "if at < values_end or stop > end:",
        "if at < values_end:",
        "a key lies inside its object",
    ),
    Fault(
        "size-not-checked", "jsonb.decode", "if size > left:", "if size > left + 1:", "size within the bytes there are"
    ),
    Fault(
        "count-not-checked",
        "jsonb.decode",
        "if values_end > start + size:",
        "if values_end > end:",
        "entries within the size",
    ),
    Fault(
        "reader-depth-101",
        "jsonb.decode",
        "    if level >= MAX_DEPTH:\n",
        "    if level > MAX_DEPTH:\n",
        "100 containers",
    ),
    Fault("no-budget", "jsonb.decode", "if budget[0] < 0:", "if budget[0] < -1000000:", "bounded work"),
    Fault(
        "six-byte-length",
        "jsonb.decode",
        "while pos < end and shift < 35:",
        "while pos < end and shift < 42:",
        "a length has five bytes at most",
    ),
    Fault(
        "length-over-32-bits",
        "jsonb.decode",
        "            if length > 0xFFFFFFFF:\n                break\n",
        "",
        "a length is below 2^32",
    ),
    Fault("literal-3", "jsonb.decode", "if byte > 2:", "if byte > 3:", "literal byte 0 to 2"),
    Fault(
        "first-duplicate-wins",
        "jsonb.decode",
        "        members.pop(key, None)\n        members[key] = value\n",
        "        members.setdefault(key, value)\n",
        "the last duplicate wins",
    ),
    Fault(
        "zero-bytes-refused", "jsonb.decode", "    if not data:\n        return None\n", "", "no bytes are JSON null"
    ),
    Fault(
        "int64-signedness",
        "jsonb.decode",
        '_int64 = Struct("<q").unpack_from',
        '_int64 = Struct("<Q").unpack_from',
        "int64 is signed",
    ),
    Fault(
        "short-string-over-the-end",
        "jsonb.decode",
        "if length < 0x80 and stop <= end:",
        "if length < 0x80:",
        "a string lies inside its container",
    ),
    Fault(
        "short-string-in-front-of-the-values",
        "jsonb.decode",
        "if values_end <= at < end:",
        "if at < end:",
        "a value lies after its entries",
    ),
    Fault(
        "keys-known-by-their-entries-alone",
        "jsonb.decode",
        "known = kind, key_entries, data[values_end:last]",
        "known = kind, key_entries, b''",
        "equal key entries do not mean equal keys",
    ),
    Fault(
        "keys-known-without-the-bytes-behind",
        "jsonb.decode",
        "if furthest == last and size",
        "if size",
        "keys may lie in any order",
    ),
    # --- jsonb.layout (strict reading, free space)
    Fault("trailing-bytes-accepted", "jsonb.layout", "if end != len(data):", "if end > len(data):", "exact cover"),
    Fault(
        "unsorted-keys-accepted",
        "jsonb.layout",
        "if last is not None and (length, key) <= last:",
        "if last is not None and (length, key) == last:",
        "sorted keys",
    ),
    Fault(
        "duplicate-keys-accepted",
        "jsonb.layout",
        "if last is not None and (length, key) <= last:",
        "if last is not None and (length, key) < last:",
        "unique keys",
    ),
    Fault("overlap-accepted", "jsonb.layout", "if position < covered:", "if position < covered - 2:", "no overlap"),
    Fault("infinity-accepted", "jsonb.layout", "if not isfinite(value):", "if value != value:", "finite doubles"),
    Fault(
        "temporal-length-not-checked",
        "jsonb.layout",
        "and len(payload) != 8:",
        "and len(payload) > 8:",
        "eight bytes of date and time",
    ),
    Fault(
        "large-in-small-accepted",
        "jsonb.layout",
        "if child.is_large and not view.is_large:",
        "if child.is_large and view.is_large:",
        "a child of small is small",
    ),
    # --- jsonb.view
    Fault(
        "view-search-by-bytes",
        "jsonb.view",
        "            if here < wanted:\n",
        "            if here[1] < wanted[1]:\n",
        "binary search in stored order",
    ),
    Fault(
        "view-large-entry-size",
        "jsonb.view",
        "position = self.values + 5 * index",
        "position = self.values + 4 * index",
        "value entries of five bytes",
    ),
    Fault(
        "view-large-key-start",
        "jsonb.view",
        "self.keys = start + (8 if kind & 1 else 4)",
        "self.keys = start + 4",
        "the large header has eight bytes",
    ),
    # --- inplace
    Fault(
        "room-not-to-the-next",
        "inplace",
        "if old is not None and limit - old[0] >= need:",
        "if old is not None and limit - old[0] > need + 65536:",
        "the hole behind the value is used",
    ),
    Fault(
        "room-gap-exact",
        "inplace",
        "return start if limit - start >= need else None",
        "return start if limit - start > need else None",
        "a gap of the exact size is used",
    ),
    Fault(
        "room-over-keys",
        "inplace",
        "start_of_data = position + length",
        "start_of_data = position",
        "data starts after the last key",
    ),
    Fault(
        "entry-size-in-large",
        "inplace",
        "entry_size = 5 if parent.is_large else 3",
        "entry_size = 3",
        "whole entries are written",
    ),
    Fault(
        "inlined-set-of-small",
        "inplace",
        "if kind in (INLINED_LARGE if parent.is_large else INLINED_SMALL):",
        "if kind in INLINED_SMALL:",
        "int32 inlined in large",
    ),
    Fault(
        "same-bytes-count-as-change",
        "inplace",
        "if document[position : position + len(data)] != data:",
        "if True:",
        "changed only if a byte differs",
    ),
    Fault(
        "range-of-data-lost",
        "inplace",
        "ranges.append((position, len(data)))",
        "ranges.append((position, 1))",
        "the range is the whole value",
    ),
    Fault(
        "remove-keeps-count",
        "inplace",
        "(parent.count - 1).to_bytes(offset_size",
        "(parent.count).to_bytes(offset_size",
        "removal lowers the count",
    ),
    Fault(
        "remove-does-not-shift-values", "inplace", "        target -= key_size\n", "", "values follow the keys' shift"
    ),
    Fault(
        "ranges-that-touch-stay-apart",
        "inplace",
        "offset <= merged[-1][0] + merged[-1][1]:",
        "offset < merged[-1][0] + merged[-1][1]:",
        "ranges that touch are merged",
    ),
    # --- document
    Fault("strip-nothing", "document", "and not is_array(node):", "and node is None:", "[0] of a scalar is dropped"),
    Fault(
        "strip-from-arrays",
        "document",
        "and leg.finds_scalar and not is_array(node):",
        "and leg.finds_scalar:",
        "[0] of an array stays",
    ),
    Fault(
        "ranges-kept-on-the-tree",
        "document",
        "return merge_ranges(self._ranges) if self.in_place else None",
        "return merge_ranges(self._ranges)",
        "no ranges after the fall to the tree",
    ),
    # --- update
    Fault(
        "missing-parent-to-tree",
        "update",
        '            rule("in-place/parent-missing")\n            return True\n',
        '            rule("in-place/parent-missing")\n            return False\n',
        "a missing parent is handled in place",
    ),
    Fault(
        "same-value-logged-in-place",
        "update",
        "        if changed:\n            self.log(Operation.REPLACE, legs, value)",
        "        if changed is not None:\n            self.log(Operation.REPLACE, legs, value)",
        "no diff when no byte changes in place",
    ),
    Fault(
        "root-replace-logged",
        "update",
        'rule("tree/replace-root")\n                self.logical_off()',
        'rule("tree/replace-root")',
        "replacing the root discards the diffs",
    ),
    Fault(
        "auto-wrap-order",
        "update",
        "[value, parent] if front else [parent, value]",
        "[parent, value] if front else [value, parent]",
        "order of an auto-wrapped array",
    ),
    Fault(
        "auto-wrap-keeps-last",
        "update",
        "where = absolute(document, legs[:-1])",
        "where = legs[:-1]",
        "the wrapped parent is named with plain indexes",
    ),
    Fault(
        "auto-wrap-root-logged",
        "update",
        'rule("tree/auto-wrap-root")\n                self.logical_off()',
        'rule("tree/auto-wrap-root")',
        "wrapping the root discards the diffs",
    ),
    Fault("remove-not-logged", "update", "        self.log(Operation.REMOVE, legs)\n", "", "REMOVE is logged"),
    Fault(
        "border-partial",
        "update",
        "if 4 + len(change.encoded) < len(after):",
        "if 4 + len(change.encoded) <= len(after):",
        "E = L is full",
    ),
    Fault(
        "length-prefix-forgotten",
        "update",
        "if 4 + len(change.encoded) < len(after):",
        "if len(change.encoded) < len(after):",
        "the four length bytes count",
    ),
    Fault(
        "same-bytes-keep-diffs",
        "update",
        'return Decision(True, b"", "same-bytes")',
        'return Decision(True, change.encoded, "same-bytes")',
        "diffs that lead back are not written",
    ),
    Fault(
        "second-assignment-starts-anew",
        "update",
        "            if chain is None:\n",
        "            if True:\n",
        "two assignments share the diffs",
    ),
    Fault(
        "remove-dollar-accepted",
        "update",
        "if not all(path.legs for path in paths):",
        "if False:",
        "JSON_REMOVE of $ is 3153",
    ),
    Fault(
        "holes-not-copied",
        "update",
        "return decode(value), value or encode(None)",
        "return decode(value), encode(decode(value))",
        "a column's value is copied with its holes",
    ),
    Fault(
        "one-bad-assignment-forgiven",
        "update",
        "            candidates.discard(assignment.column)\n",
        "            pass\n",
        "one bad assignment makes the column ineligible",
    ),
    # --- apply
    Fault(
        "unchanging-replace-accepted",
        "apply",
        "if not changed and dialect.behaviour.refuse_unchanging_replace else",
        "if False else",
        "an unchanging REPLACE in place is refused",
    ),
    Fault(
        "insert-over-member",
        "apply",
        'elif child(parent, leg) is not MISSING:\n            return "the member exists"',
        'elif False:\n            return "the member exists"',
        "INSERT of a member that exists is refused",
    ),
    Fault(
        "null-stays-null",
        "apply",
        "return encode(None) if stored is None and",
        "return stored if stored is None and",
        "an empty vector turns NULL into JSON null",
    ),
    Fault(
        "root-accepted",
        "apply",
        "    if not legs:\n",
        "    if diff.operation is Operation.INSERT and not legs:\n",
        "no diff of the root",
    ),
    Fault(
        "insert-shifted",
        "apply",
        "parent.insert(leg.position(len(parent))[0], copy(diff.value))",
        "parent.insert(leg.position(len(parent))[0] + 1, copy(diff.value))",
        "INSERT is before the position",
    ),
    Fault("wrong-number", "apply", "raise corrupted_diff(", "raise could_not_apply_diff(", "unreadable diffs are 3649"),
    # --- diffs and cursor
    Fault("operation-3-accepted", "diffs", "if code > _REMOVE:", "if code > _REMOVE + 1:", "operations 0 to 2"),
    Fault(
        "short-path-with-long-first-byte",
        "diffs",
        "stop <= end and data[start - 1] < _LONG:",
        "stop <= end:",
        "fc to ff begin longer lengths, or none",
    ),
    Fault(
        "value-over-the-end",
        "diffs",
        "            if last <= end:\n",
        "            if True:\n",
        "lengths are checked",
    ),
    Fault(
        "remove-over-the-end",
        "diffs",
        "if code == _REMOVE and stop <= end",
        "if code == _REMOVE and start <= end",
        "lengths are checked",
    ),
    Fault(
        "remove-with-data",
        "diffs",
        "None if code == _REMOVE else",
        "None if code > _REMOVE else",
        "REMOVE has no value",
    ),
    Fault("packed-250", "cursor", "    if 0 <= value < 251:\n", "    if 0 <= value < 250:\n", "one byte up to 250"),
    Fault("packed-251", "cursor", "    if 0 <= value < 251:\n", "    if 0 <= value < 252:\n", "three bytes from 251"),
    Fault(
        "packed-65535",
        "cursor",
        '    if value < 1 << 16:\n        return b"\\xfc"',
        '    if value < 0xFFFF:\n        return b"\\xfc"',
        "three bytes up to 65535",
    ),
    Fault("packed-fb", "cursor", "        if first < 251:\n", "        if first < 252:\n", "fb is no length"),
    Fault(
        "short-take",
        "cursor",
        "        if count < 0 or count > self.end - pos:\n            raise self._short(count, field)\n"
        "        self.pos = pos + count\n        return self.data[pos : pos + count]",
        "        self.pos = pos + count\n        return self.data[pos : pos + count]",
        "lengths are checked",
    ),
    # --- paths
    Fault("identifier-by-code-point", "paths", "low = point & 0xFF", "low = point", "low eight bits decide"),
    Fault("identifier-ff", "paths", "0x80 <= low <= 0xFE", "0x80 <= low <= 0xFF", "ff is no letter"),
    Fault("digit-first", "paths", "not first and (0x30 <=", "(0x30 <=", "a name does not begin with a digit"),
    Fault(
        "index-limit",
        "paths",
        "MAX_INDEX: Final = (1 << 32) - 1",
        "MAX_INDEX: Final = (1 << 31) - 1",
        "indexes up to 2^32-1",
    ),
    Fault(
        "last-resolved-short",
        "paths",
        "return (count - 1 - self.index, True) if self.index < count",
        "return (count - 1 - self.index, True) if self.index <= count",
        "last-k beyond the front",
    ),
    Fault(
        "past-the-end",
        "paths",
        "if self.index < count else (count, False)",
        "if self.index <= count else (count, False)",
        "index n is out of bounds",
    ),
    Fault(
        "last-zero-printed",
        "paths",
        'return f"last-{cell.index}" if cell.index else "last"',
        'return f"last-{cell.index}"',
        "last-0 is written last",
    ),
    Fault(
        "names-always-quoted",
        "paths",
        "(leg.name if is_identifier(leg.name) else quote(leg.name))",
        "quote(leg.name)",
        "identifiers are written bare",
    ),
    Fault(
        "double-asterisk-at-the-end",
        "paths",
        'if legs and legs[-1] == Wildcard("**"):',
        "if False:",
        "a path does not end with **",
    ),
]


def killer(fault: Fault) -> str | None:
    """The vector that fails on the faulty copy first; ``None`` if the fault lives."""
    try:
        with planted(fault) as kit:
            for vector in vectors():
                try:
                    vector.run(kit)
                except Exception as error:  # noqa: BLE001 - whatever a faulty copy raises kills it
                    return f"{vector.id} ({type(error).__name__})"
    except ImportError as error:
        return f"import ({error})"
    return None


def main() -> int:
    """Print what kills what."""
    kit = original()
    for vector in vectors():
        vector.run(kit)
    lives = 0
    for fault in FAULTS:
        try:
            found = killer(fault)
        except AssertionError as error:  # the code has moved away from the fault
            sys.stdout.write(f"{error}\n")
            lives += 1
            continue
        lives += found is None
        verdict = "LIVES" if found is None else f"killed by {found}"
        sys.stdout.write(f"{fault.id:32} {fault.module:14} {verdict}\n")
    sys.stdout.write(f"{len(FAULTS) - lives}/{len(FAULTS)} killed/planted by {len(vectors())} vectors\n")
    return int(lives > 0)


if __name__ == "__main__":
    sys.exit(main())
