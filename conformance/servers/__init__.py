"""Real MySQL servers: where they come from, how they run, what they say on the wire, the roles they play."""
