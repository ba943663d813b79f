"""Cases that no statement makes: hand-made events, transactions and logs, sound and damaged."""
