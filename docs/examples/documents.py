"""Documents: JSON text to the bytes that MySQL stores, and back."""

from conformance import decode, encode, format_text, parse_text

stored = encode(parse_text('{"id": 7, "tags": ["a", "b"]}'))
print(len(stored), "bytes:", stored.hex())
print(decode(stored))
print(format_text(decode(stored)))
