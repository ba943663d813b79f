"""A replica gets the documents of its source and logs them by its own settings (FR2, FR4, FR6, A7)."""
