"""Predictions: the log and the stored bytes of an update, without a server."""

from conformance import dialect, predict

for version in ("9.7.4", "8.0.45"):
    updates = predict(
        '{"n": 1, "text": "abcdefghij"}', "JSON_SET(j, '$.n', 2)", "JSON_ARRAY(j)", dialect=dialect(version)
    )
    for update in updates:
        assert update.change is not None, update.error
        assert update.stored is not None
        form = "diffs" if update.why_whole is None else f"whole: {update.why_whole.code}"
        print(version, update.sql, len(update.stored), "bytes,", form)
