"""The HTTP server: a guard in front, an API behind it, streams that outlive their readers."""
