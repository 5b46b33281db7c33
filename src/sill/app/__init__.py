"""Wiring: settings become a store, a model, a counter and a chat, in one place."""

from .build import App, open_app, open_storage
from .connect import Connection
from .models import ModelRow, list_models

__all__ = ["App", "Connection", "ModelRow", "list_models", "open_app", "open_storage"]
