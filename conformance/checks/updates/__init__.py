"""Generated updates on one server, predicted and compared byte for byte (FR1, FR2, D2 to D7, F3, IP1, IP2)."""
