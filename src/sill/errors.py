"""What can go wrong, as one tree. Every error says what happened and what to do.

    SillError
    ├── UsageError             the caller asked for something that cannot be; exit code 2
    │   ├── SettingsError      a settings file, variable or flag is wrong
    │   │   └── TokenizerRefused   the configured tokenizer is not there, or is none
    │   └── FileRefused        a file cannot be used as text; names it and says why
    ├── ProviderError          the model's side failed; exit code 1
    │   ├── Unreachable        nobody answers there
    │   ├── TimedOut           somebody took the call and stayed silent
    │   ├── KeyRefused         401 or 403
    │   ├── ModelMissing       the endpoint does not have that model
    │   ├── Overflow           the endpoint says that the prompt is too long
    │   ├── RateLimited        429, may be tried later
    │   ├── QuotaExhausted     429 or 402, will not get better by waiting
    │   ├── Unsupported        the endpoint cannot do what was asked: a reply format, embeddings, infill
    │   └── BadAnswer          anything else that is not an answer
    ├── LimitReached           the call could cost more than may be spent; it was not made
    ├── TurnInProgress         another turn of this chat is in flight
    ├── Fenced                 this turn was closed by somebody else meanwhile
    ├── NoPlace                a directory for chats, settings or caches cannot be made
    ├── StoreError             the database cannot be used; nothing was written
    ├── VaultError             files cannot be written; says whether any was changed
    │   └── VaultBusy          another program of ours is writing to this workspace
    └── LocalModelError        the bundled model cannot be fetched or started

Expected outcomes (over budget, rejected edits) are values, not errors.
"""


class SillError(Exception):
    """``message`` is one line for people; ``hint`` says what to do about it."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class UsageError(SillError):
    exit_code = 2


class SettingsError(UsageError):
    pass


class TokenizerRefused(SettingsError):
    pass


class FileRefused(UsageError):
    def __init__(self, path: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"{path}: {reason}", hint=hint)
        self.path = path
        self.reason = reason


class ProviderError(SillError):
    """``endpoint`` never holds a key; ``status`` is the HTTP status if there was one."""

    def __init__(
        self, message: str, *, endpoint: str = "", status: int | None = None, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.endpoint = endpoint
        self.status = status


class Unreachable(ProviderError):
    pass


class TimedOut(ProviderError):
    pass


class KeyRefused(ProviderError):
    pass


class ModelMissing(ProviderError):
    pass


class Overflow(ProviderError):
    """``window`` and ``prompt`` are the endpoint's own numbers where it gave them."""

    def __init__(
        self,
        message: str,
        *,
        endpoint: str = "",
        status: int | None = None,
        window: int | None = None,
        prompt: int | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, endpoint=endpoint, status=status, hint=hint)
        self.window = window
        self.prompt = prompt


class RateLimited(ProviderError):
    """``retry_after`` in seconds, if the endpoint said so."""

    def __init__(
        self,
        message: str,
        *,
        endpoint: str = "",
        status: int | None = None,
        retry_after: float | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, endpoint=endpoint, status=status, hint=hint)
        self.retry_after = retry_after


class QuotaExhausted(ProviderError):
    pass


class Unsupported(ProviderError):
    """A request without that wish may still work."""


class BadAnswer(ProviderError):
    pass


class LimitReached(SillError):
    """Amounts are billionths of a dollar; ``wanted`` is None where the price is not known."""

    def __init__(
        self, message: str, *, limit: int, spent: int, wanted: int | None, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.limit = limit
        self.spent = spent
        self.wanted = wanted


class TurnInProgress(SillError):
    pass


class Fenced(SillError):
    pass


class NoPlace(SillError):
    pass


class StoreError(SillError):
    pass


class VaultError(SillError):
    pass


class VaultBusy(VaultError):
    pass


class LocalModelError(SillError):
    pass
