"""The binary form of JSON documents: values, decoder, encoder, lazy views, text, comparison (docs/spec/jsonb.md)."""
