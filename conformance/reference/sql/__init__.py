"""The SQL that Cases and definitions are written in: tokens, literals, expressions, formatting, quoting."""
