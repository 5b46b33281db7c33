from tests.store.places import place
from tests.store.servers import new_postgres

__all__ = ["new_postgres", "place"]
