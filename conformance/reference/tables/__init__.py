"""Tables as a binary log knows them: column types and their values, character sets, definitions, TABLE_MAP with its
metadata (WL#4618)."""
