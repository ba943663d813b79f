import os
import re
import signal
import sys

ABSENT = type("Absent", (), {"__repr__": lambda _: "nothing"})()


def read(log):
    """The rows that come, and the error that ends them or None."""
    found = []
    try:
        for row in rows(log):
            found.append(row)
    except Exception as error:
        return found, error
    return found, None


def told(value):
    """Whether the library says itself that it does not give a value."""
    return type(value).__name__ == "Nothing" and value.startswith("out of ")


def alike(error, words, numbers, names):
    """Whether an error says this, in which numbers are N and names X."""
    text = " ".join(re.sub(numbers, "N", re.sub(names, "X", str(error))).split())[:60]
    return bool(text) and (text in words or words[:60] in text)


def inside(value, steps):
    """A value inside of a document."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step, value.get(str(step).encode(), ABSENT))
        else:
            value = value[step] if isinstance(value, (list, tuple)) and step < len(value) else ABSENT
    return value


def shown(value):
    """A value, and its Python type."""
    text = f"{type(value).__name__} {vars(value)}" if getattr(value, "__dict__", None) else repr(value)
    return f"{text}, a {type(value).__name__}"


def same(got, form):
    """Whether the library's value has this form."""
    if isinstance(form, type):
        return isinstance(got, form)
    if isinstance(got, bool) or isinstance(form, bool):
        return got is form
    if isinstance(got, float) and isinstance(form, float):
        return repr(got) == repr(form)
    if not isinstance(form, (int, str, bytes)) and form == 0:  # of floats and Decimals: zeros have signs
        return got == form and str(got).startswith("-") == str(form).startswith("-")
    return got == form and (type(got) is type(form) or not isinstance(got, (str, bytes)))


def end(expected, got, verdict):
    """Exit status: 1 the fault shows, 0 the program is right, 3 nobody can tell from this log."""
    print("expected:", expected)
    print("got:     ", got)
    if missing := globals().get("NOT_RECORDED"):  # the library asked the played server for something else
        print("not recorded:", missing)
        verdict = "undecided"
    print(verdict)
    sys.stdout.flush()
    os._exit({"FAULT": 1, "as expected": 0}.get(verdict, 3))  # a library's own threads may go on
