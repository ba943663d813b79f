"""MySQL's protocol and the binary log that comes over it: connections, captures, the lab as a source."""
