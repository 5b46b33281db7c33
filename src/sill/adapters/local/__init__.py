"""The local model: its weights, the server that runs them, and who is using it."""
