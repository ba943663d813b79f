"""The parts that a server plays in a check: pair, applier, receiver, target of injected events, printer of logs."""
