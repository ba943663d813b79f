"""The needs that each check has of a server: the list, and the questions that the server is asked."""
