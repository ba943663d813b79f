"""Generated updates on a pair of servers: run, followed, both tables compared, failing Cases made smaller."""
