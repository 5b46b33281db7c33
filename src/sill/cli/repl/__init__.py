"""The chat in the terminal: a prompt, a table of commands, answers as they come."""
