"""Who finds by meaning, as the settings want it."""

from urllib.parse import urlsplit

from ..adapters.embed.choice import embedder_for
from ..ports import Embedder
from ..settings import Settings

_OPENAI = "api.openai.com"


def embedder_of(settings: Settings) -> Embedder | None:
    """The embedder of ``embedder`` and ``embed_model``; the bundled one is loaded when it is first asked.

    The key of the model's endpoint is given to no other host than its own.
    """
    wanted = settings.get("embedder", str) or "auto"
    model = settings.get("embed_model", str) or ""
    return embedder_for(wanted, model=model, key=_key(settings, wanted))


def _key(settings: Settings, wanted: str) -> str | None:
    own = settings.get("embed_api_key", str)
    if own is not None or not wanted.startswith(("http://", "https://")):
        return own
    endpoint = settings.get("base_url", str)
    host = urlsplit(endpoint).hostname if endpoint else _OPENAI
    return settings.get("api_key", str) if urlsplit(wanted).hostname == host else None
