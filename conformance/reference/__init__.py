"""What MySQL's bytes mean, and which bytes it writes: values in, bytes out, and back. Only bytes and values belong in
it: no files, no servers, and of packages the standard library alone."""
