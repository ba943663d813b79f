"""Binary logs as plain tuples, for programs that make tables of them: which rows and columns, and in which form."""
