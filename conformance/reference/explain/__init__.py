"""Which bytes of an event mean what: a list of spans that together are the whole event."""
