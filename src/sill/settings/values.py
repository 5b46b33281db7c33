"""Checked values, and where each came from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from .table import MCP_SERVERS, TABLE, Scalar, group_of, has_general, spec_of

T = TypeVar("T", bound=Scalar)
Origin = Literal["default", "user file", "project file", "environment", "flag"]


@dataclass(frozen=True, slots=True)
class Value:
    value: Scalar | None
    origin: Origin
    where: str = ""  # the file, variable or flag

    @property
    def source(self) -> str:
        return f"{self.origin} {self.where}".strip()


@dataclass(frozen=True, slots=True)
class Settings:
    """Checked values by dotted name; ask with ``get`` or ``of_profile``."""

    values: Mapping[str, Value] = field(default_factory=dict)

    def value(self, key: str) -> Value:
        spec = spec_of(key)
        return self.values.get(key) or Value(spec.default if spec else None, "default")

    def get(self, key: str, kind: type[T]) -> T | None:
        found = self.value(key).value
        return found if isinstance(found, kind) else None

    def of_profile(self, profile: str, key: str, kind: type[T]) -> T | None:
        """The profile's own value, else the general one of the same name, else None."""
        own = self.get(f"profile.{profile}.{key}", kind)
        return self.get(key, kind) if own is None and has_general(key) else own

    def source(self, profile: str, key: str) -> Value:
        own = self.value(f"profile.{profile}.{key}")
        return self.value(key) if own.value is None and has_general(key) else own

    def prices(self) -> dict[str, dict[str, float]]:
        """The user's own prices by model, in dollars per million tokens."""
        own: dict[str, dict[str, float]] = {}
        for key in self.values:
            if key.startswith("prices."):
                model, name = key.removeprefix("prices.").rsplit(".", 1)
                own.setdefault(model, {})[name] = self.get(key, float) or 0.0
        return own

    def fallbacks(self, profile: str) -> tuple[str, ...]:
        """The names of the profile's fallbacks in their order; ``get(f"{name}.base_url", str)`` and so on."""
        names = (group_of(key) for key in self.values)
        return tuple(
            dict.fromkeys(n for n in names if n and n.startswith(f"profile.{profile}.fallback."))
        )

    def mcp_servers(self) -> dict[str, dict[str, Scalar]]:
        """What is set of every server of tools, by name; ``env.NAME`` and ``args.N`` one by one."""
        found: dict[str, dict[str, Scalar]] = {}
        for key, value in self.values.items():
            if key.startswith(f"{MCP_SERVERS}.") and value.value is not None:
                _, name, field = key.split(".", 2)
                found.setdefault(name, {})[field] = value.value
        return found

    def shown(self) -> Iterator[tuple[str, str, str]]:
        """Name, value and source of everything that is set; secrets are only said to be there."""
        for key in dict.fromkeys([*TABLE, *self.values]):
            found, spec = self.value(key), spec_of(key)
            if found.value is not None and spec is not None:
                text = "(set)" if spec.secret else str(found.value)
                yield key, text, found.source
