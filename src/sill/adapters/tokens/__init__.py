"""Counting tokens the way each model does."""

from ._http import Endpoint
from .choose import Chosen, counter_for
from .probe import Probes

__all__ = ["Chosen", "Endpoint", "Probes", "counter_for"]
