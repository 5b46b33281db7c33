"""Text to vectors: the bundled model, or an endpoint."""
