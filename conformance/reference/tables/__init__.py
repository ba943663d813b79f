"""Tables as a binary log describes them: column types and their values, character sets, definitions, TABLE_MAP with its
metadata (WL#4618).
"""
