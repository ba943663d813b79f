"""Diffs: the bytes of a partial update, applied to a stored document."""

from conformance import Diff, Operation, apply_diffs, decode, decode_diffs, encode, encode_diffs, parse_path

stored = encode({"id": 7, "tags": ["a", "b"]})
diffs = [
    Diff(Operation.REPLACE, parse_path("$.tags[1]"), "c"),
    Diff(Operation.INSERT, parse_path("$.n"), 1),
]
logged = encode_diffs(diffs)
print(logged.hex())
after = apply_diffs(stored, decode_diffs(logged))
assert after is not None, "a diff that does not fit"
print(decode(after))
