"""Wiring: settings become a store, a model, a counter and a chat, in one place."""

from .build import App, open_app, open_storage
from .connect import Connection

__all__ = ["App", "Connection", "open_app", "open_storage"]
