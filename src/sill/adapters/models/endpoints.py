"""Where a model lives: base URLs as people write them, made one form."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from ...core.request import LimitName
from ...errors import SettingsError

_VERSION = re.compile(r"v\d+\w*")
# Whole request paths that people paste where the base belongs.
_TAILS = (
    "/chat/completions",
    "/completions",
    "/embeddings",
    "/models",
    "/api/chat",
    "/api/generate",
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """``root`` is the server, ``api`` the prefix of its OpenAI routes; neither holds a key."""

    root: str
    api: str

    @property
    def host(self) -> str:
        return urlsplit(self.root).hostname or ""

    @property
    def is_local(self) -> bool:
        """On this machine or a private network by address; any other name counts as remote."""
        return is_local_host(self.host)

    @property
    def limit_name(self) -> LimitName:
        """What a request's reply limit is called there: OpenAI itself takes the newer name for every model."""
        is_openai = self.host == "api.openai.com" or self.host.endswith(".openai.azure.com")
        return "max_completion_tokens" if is_openai else "max_tokens"

    def __str__(self) -> str:
        return self.api


def parse_endpoint(base_url: str) -> Endpoint:
    """The endpoint meant by ``http://host:1``, ``…/v1``, ``…/v1/`` or a pasted request URL."""
    text = base_url.strip()
    if "://" not in text:
        text = "http://" + text
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _refused("the port or host cannot be read") from None
    if parts.scheme not in ("http", "https"):
        raise _refused("it does not begin with http:// or https://")
    if not parts.hostname:
        raise _refused("it names no host")
    if parts.username or parts.password:
        raise _refused("it holds a user name or password; give the key by itself")
    if parts.query or parts.fragment:
        raise _refused("it holds a query; give only the address")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    server = f"{parts.scheme}://{host}" + (f":{port}" if port is not None else "")
    path = re.sub(r"/+", "/", parts.path).rstrip("/")
    for tail in _TAILS:
        path = path.removesuffix(tail)
    last = path.rsplit("/", 1)[-1]
    if _VERSION.fullmatch(last):
        return Endpoint(server + path.removesuffix("/" + last), server + path)
    if last == "openai":  # Gemini's route ends so and has its version before it
        return Endpoint(server + path, server + path)
    return Endpoint(server + path, server + path + "/v1")


def is_local_host(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.split("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_private or address.is_link_local


def _refused(reason: str) -> SettingsError:
    # The URL itself is not repeated: people paste keys into it.
    return SettingsError(
        f"the base URL cannot be used: {reason}", hint="for example http://127.0.0.1:8080/v1"
    )
