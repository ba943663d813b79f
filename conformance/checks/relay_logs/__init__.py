"""RL1: a replica reads relay logs of sound events in an order that no source writes, and lives."""
