"""The SQL of Cases and table definitions: tokens, literals, expressions, formatting, quoting."""
