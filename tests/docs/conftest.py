from tests.store.servers import new_postgres

__all__ = ["new_postgres"]
