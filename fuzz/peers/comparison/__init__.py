"""What the targets against peers share: what a peer read against what is in a log, and where a peer raised."""
