"""Rows of the events that a BinLogStreamReader of python-mysql-replication gives."""

from pymysqlreplication.row_event import RowsEvent


class Nothing(str):
    """None, where the library says why."""

    def __repr__(self):
        return f"None, and none_sources says: {self}"


def image(values, sources):
    """None is SQL NULL. A column that the library says not to be in the image is left out."""
    found = {}
    for place, (name, value) in enumerate(values.items(), 1):
        key = f"@{place}" if str(name).startswith("UNKNOWN_COL") else name
        why = sources.get(name, "null")
        if value is not None or why == "null":
            found[key] = value
        elif why != "cols bitmap":
            found[key] = Nothing(why)
    return found


def rows_of(event):
    operation = {"Write": "insert", "Delete": "delete"}.get(type(event).__name__.removesuffix("RowsEvent"), "update")
    for row in event.rows:
        if "values" in row:
            values = image(row["values"], row.get("none_sources", {}))
            yield operation, *((None, values) if operation == "insert" else (values, None))
        else:
            before = image(row["before_values"], row.get("before_none_sources", {}))
            yield operation, before, image(row["after_values"], row.get("after_none_sources", {}))
