"""RL1: relay logs of sound events in an order that no source writes: the replica that reads them lives."""
