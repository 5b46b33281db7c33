"""A whole application over scripted endpoints, made from settings as a user writes them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sill.app import App, open_app
from sill.engine.events import Event
from sill.engine.prepare import Question
from sill.settings import Settings, load
from tests.models.fault_provider import DONE, FaultProvider, Step, event, finished, head, said

GENERAL = 'probe = false\ntokenizer = "o200k_base"\nmodel = "first"\nwindow = 4096\n'


def endpoint(provider: FaultProvider) -> str:
    return f'base_url = "{provider.url}/v1"\n'


def fallback(url: str, model: str, more: str = "") -> str:
    return (
        f'[[profile.chat.fallback]]\nbase_url = "{url}"\nmodel = "{model}"\n'
        f'tokenizer = "o200k_base"\nwindow = 4096\n{more}\n'
    )


class Workspace:
    """``told`` is what was said while it was opened."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "sill.db"
        self.told: list[str] = []
        self.settings: Settings | None = None

    @asynccontextmanager
    async def open(
        self, toml: str, profile: str = "chat", **environment: str
    ) -> AsyncIterator[App]:
        file = self.folder / "user.toml"
        file.write_text(GENERAL + toml)
        variables = {"SILL_DATABASE_URL": str(self.database), **environment}
        self.settings = load(user_file=file, project_file=None, environment=variables)
        async with open_app(self.settings, self.folder, self.told.append, profile) as app:
            yield app


def says(*texts: str, prompt: int | None = None, completion: int = 2) -> list[Step]:
    """A whole answer; ``prompt`` tokens are billed, or nothing is said about that."""
    usage = {"prompt_tokens": prompt, "completion_tokens": completion}
    billed = b"" if prompt is None else event({"choices": [], "usage": usage})
    return [head(), *(said(text) for text in texts), finished() + billed + DONE]


async def ask(app: App, text: str, chat: str | None = None) -> list[Event]:
    return [event async for event in app.ask(chat, Question(text))]
