"""What each check needs of a server: the list, and the questions that the server is asked."""
