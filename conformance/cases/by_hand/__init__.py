"""Cases that no statement makes: events, transactions and logs written by hand, sound and damaged."""
