"""Which embedder is used: the bundled one if it is there, an endpoint if one is named, or none."""

from pathlib import Path

from ...errors import SettingsError
from ...ports import Embedder
from . import fetch


def embedder_for(
    wanted: str = "auto", *, model: str = "", key: str | None = None, folder: Path | None = None
) -> Embedder | None:
    """``auto``, ``none``, ``bundled``, or the address of an OpenAI-compatible endpoint."""
    if wanted == "none":
        return None
    if wanted in ("auto", "bundled"):
        if wanted == "auto" and not fetch.is_ready(folder):
            return None
        from .minilm import MiniLM

        return MiniLM(fetch.make(folder))
    if not wanted.startswith(("http://", "https://")):
        raise SettingsError(
            f"“{wanted}” is not an embedder", hint="auto, none, bundled, or an http:// address"
        )
    if not model:
        raise SettingsError(
            "which embedding model? None is named",
            hint="name it with `embed_model` or --embed-model",
        )
    from .endpoint import EndpointEmbedder

    return EndpointEmbedder(wanted, model, key)
