"""Settings: one table of what can be set, and where each value came from.

Later wins: default, the user's file, the project's file, environment, flag. Three things come in any
number, in files only: prices by model, fallback endpoints by profile, servers of tools. They are replaced whole,
never mixed.
"""

from .read import FILE_NAME, find_project_file, load
from .table import FALLBACK, MCP_SERVER, PRICE, PROFILES, TABLE, Scalar, Spec, spec_of
from .values import Settings, Value

__all__ = [
    "FALLBACK",
    "FILE_NAME",
    "MCP_SERVER",
    "PRICE",
    "PROFILES",
    "TABLE",
    "Scalar",
    "Settings",
    "Spec",
    "Value",
    "find_project_file",
    "load",
    "spec_of",
]
