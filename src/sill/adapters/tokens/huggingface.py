"""Models whose tokenizer is a Hugging Face ``tokenizer.json``: from a path, or from the hub's cache on disk."""

import asyncio
import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...core.certificate import Counts, Kind, Tokenizer, weakest
from ...core.cuts import blocks
from ...core.request import ChatRequest
from ...errors import TokenizerRefused
from ...ports import Overhead
from ._template import TemplateRefused, compile_template
from ._vocabularies import Encode
from ._wire import sound, sound_body
from .estimate import Estimate
from .overhead import measure_overhead

Template = tuple[str, Mapping[str, str]]  # its source, and the special tokens it may name

SECONDS = 2.0
UNBROKEN = 100_000  # characters without a safe cut; some tokenizers need quadratic time for them


def find_tokenizer(name: str, cache: Path | None = None) -> Path | None:
    """``tokenizer.json`` for a path, a folder or a model like ``org/name`` in the hub's cache; no download."""
    path = Path(name).expanduser()
    if path.is_dir():
        path = path / "tokenizer.json"
    if path.is_file():
        return path
    if name.count("/") != 1:
        return None
    snapshots = (cache or _hub_cache()) / f"models--{name.replace('/', '--')}" / "snapshots"
    found = sorted(snapshots.glob("*/tokenizer.json"), key=lambda file: file.stat().st_mtime)
    return found[-1] if found else None


def load(path: Path) -> "HuggingFace":
    """The counter of a ``tokenizer.json``; ``TokenizerRefused`` if it cannot be used."""
    try:
        from tokenizers import Tokenizer as Library
    except ImportError:
        raise TokenizerRefused(
            f"{path}: reading this needs the package `tokenizers`",
            hint="install sill with the extra `hf`",
        ) from None
    try:
        source = path.read_text(encoding="utf-8")
        plain, parsing = Library.from_str(source), Library.from_str(source)
    except Exception as problem:  # the library raises bare Exceptions
        raise TokenizerRefused(
            f"{path}: not a tokenizer.json ({problem})",
            hint="`tokenizer` is a file as the Hugging Face hub has it, or the name of a vocabulary",
        ) from problem
    for library in (plain, parsing):
        library.no_truncation()
        library.no_padding()
    plain.encode_special_tokens = True  # a special token spelled out is text
    return HuggingFace(plain, parsing, _digest(source), _template_beside(path))


class HuggingFace:
    """Counts with the `tokenizers` library and the model's own chat template."""

    def __init__(self, plain: Any, parsing: Any, digest: str, template: "Template | None") -> None:
        self._plain, self._parsing = _ids(plain), _ids(parsing)
        self._render = None if template is None else _compiled(*template)
        self.tokenizer = Tokenizer(
            id=f"hf:{digest}",
            kind="exact",
            template=_digest(template[0]) if template and self._render else None,
        )
        self.cuts = _cuts_add_up(lambda text: len(self._plain(text)))
        self._guess = Estimate()
        self._overhead: Overhead | None = None

    async def count(self, texts: Sequence[str]) -> Counts:
        def work() -> Counts:
            until = time.monotonic() + SECONDS
            counted = [self._count(sound(text), self._plain, until) for text in texts]
            kind = weakest(*(kind for _, kind in counted))
            return Counts(tuple(tokens for tokens, _ in counted), kind)

        return await asyncio.to_thread(work)

    async def count_request(self, request: ChatRequest) -> Counts:
        return await self.count_body(request.body())

    async def count_body(self, body: Mapping[str, Any]) -> Counts:
        """The rendered request; specials in it are what servers take them for. Without a template: a bound."""
        tokens = await asyncio.to_thread(self._count_body, sound_body(body))
        if tokens is None:
            return Counts((self._guess.body_tokens(body),), "estimate")
        return Counts((tokens[0],), tokens[1])

    async def overhead(self) -> Overhead:
        if self._overhead is None and self._render is not None:

            async def total(messages: list[dict[str, Any]]) -> int | None:
                counted = self._count_body({"messages": messages})
                return None if counted is None else counted[0]

            word = len(self._plain("word"))
            self._overhead = await measure_overhead(total, word)
        return self._overhead or await self._guess.overhead()

    def _count_body(self, body: Mapping[str, Any]) -> tuple[int, Kind] | None:
        if self._render is None:
            return None
        try:
            prompt = self._render(body)
        except TemplateRefused:
            return None
        return self._count(prompt, self._parsing, time.monotonic() + SECONDS)

    def _count(self, text: str, encode: Encode, until: float) -> tuple[int, Kind]:
        pieces = blocks(text, UNBROKEN // 4) if self.cuts and len(text) > UNBROKEN else [text]
        total, kinds = 0, set[Kind]()
        for piece in pieces:
            if len(piece) <= UNBROKEN and time.monotonic() < until:
                total += len(encode(piece))
            else:
                total += len(piece.encode()) + 1
                kinds.add("bound")
        return total, weakest(*kinds)


def _ids(library: Any) -> Encode:
    def encode(text: str) -> list[int]:
        ids: list[int] = library.encode(text, add_special_tokens=False).ids
        return ids

    return encode


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _cuts_add_up(count: Callable[[str], int]) -> bool:
    """Whether this tokenizer keeps to the cuts that all known ones keep to."""
    sample = "One two, three. def f(x):\n    return x + 1\n\nHé! 12 345 東京 タワー 👍 end\n  - item\t(a) b"
    return sum(map(count, blocks(sample, 1))) == count(sample)


def _compiled(template: str, names: Mapping[str, str]) -> Callable[[Mapping[str, Any]], str] | None:
    from jinja2 import TemplateError

    try:
        return compile_template(template, names)
    except TemplateError:
        return None


def _template_beside(path: Path) -> Template | None:
    """The chat template next to a ``tokenizer.json``, in either of the places where models keep it."""
    config = _read_object(path.with_name("tokenizer_config.json"))
    names: dict[str, str] = {}
    for key in ("bos_token", "eos_token", "unk_token", "pad_token"):
        match config.get(key):
            case str(text) | {"content": str(text)}:
                names[key] = text
    alone = path.with_name("chat_template.jinja")
    if alone.is_file():
        return alone.read_text(encoding="utf-8"), names
    match config.get("chat_template"):
        case str(template):
            return template, names
        case [*several]:
            named = {one.get("name"): one.get("template") for one in several}
            return (named["default"], names) if named.get("default") else None
        case _:
            return None


def _read_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _hub_cache() -> Path:
    if folder := os.environ.get("HF_HUB_CACHE"):
        return Path(folder)
    home = os.environ.get("HF_HOME") or "~/.cache/huggingface"
    return Path(home).expanduser() / "hub"
