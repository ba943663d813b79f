"""The dictionary information in the forms of others: the text of ibd2sdi, and the facts of INFORMATION_SCHEMA."""
