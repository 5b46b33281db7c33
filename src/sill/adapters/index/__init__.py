"""The search index of a vault: one SQLite file that can be thrown away and made again."""
