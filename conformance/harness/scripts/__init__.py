"""Cases as scripts for bug reports, whose own output shows the expected result beside the server's."""
