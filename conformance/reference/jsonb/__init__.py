"""The binary form of JSON documents: values, decoder, encoder, lazy views, text, comparison (jsonb sheet)."""
