"""``python -m sill``."""

from .cli.main import main

main()
