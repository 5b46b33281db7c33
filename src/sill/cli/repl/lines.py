"""From typed lines to messages: ``\"\"\"`` holds several lines together."""

from collections.abc import Iterable, Iterator

QUOTES = '"""'


def is_open(text: str) -> bool:
    """A message that began with three quotes and has not ended yet."""
    body = text.lstrip()
    return body.startswith(QUOTES) and not (
        len(body) >= 2 * len(QUOTES) and body.rstrip().endswith(QUOTES)
    )


def unquoted(text: str) -> str:
    """The message without the quotes that held it together."""
    body = text.strip()
    is_quoted = body.startswith(QUOTES) and body.endswith(QUOTES) and len(body) >= 2 * len(QUOTES)
    return body[len(QUOTES) : -len(QUOTES)].strip("\n") if is_quoted else text


def messages(lines: Iterable[str]) -> Iterator[str]:
    """Each line is a message, and so is what stands between quotes, even if they are never closed."""
    held: list[str] = []
    for line in lines:
        held.append(line.rstrip("\n"))
        text = "\n".join(held)
        if not is_open(text):
            held = []
            yield unquoted(text)
    if held:
        yield "\n".join(held).strip().removeprefix(QUOTES).strip("\n")
