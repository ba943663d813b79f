"""RL1: relay logs of sound events in an order that no source writes, and what becomes of the replica that reads them."""
