"""Sill keeps what matters at a model's context window."""

__version__ = "0.1.0"

__all__ = ["__version__"]
