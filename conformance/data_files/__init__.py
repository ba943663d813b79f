"""InnoDB data files, read and printed: dictionary information, and large values with their versions."""
