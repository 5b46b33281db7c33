"""The index of a vault in a PostgreSQL database, where several servers share it."""
