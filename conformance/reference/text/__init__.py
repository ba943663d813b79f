"""Events as text for people: the output of mysqlbinlog, JSON lines, annotated hex."""
