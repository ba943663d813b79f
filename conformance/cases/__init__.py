"""Cases: scenarios as data, their files and ids, and what the reference predicts for them."""
