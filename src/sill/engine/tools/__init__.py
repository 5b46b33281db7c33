"""Sill's own tools."""
