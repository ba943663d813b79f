"""Events for people: what mysqlbinlog prints, JSON lines, annotated hex."""
