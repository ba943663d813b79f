"""Cases as scripts for bug reports, whose own output shows what is expected beside what the server did."""
