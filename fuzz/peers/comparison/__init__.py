"""Comparisons that the targets against peers share: what a peer read with what is in a log, and where a peer raised."""
