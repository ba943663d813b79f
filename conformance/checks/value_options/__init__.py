"""NFR1: the number ``value_options`` of a row event, in all its forms and with undefined bits."""
