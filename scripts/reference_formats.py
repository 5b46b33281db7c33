"""The page of envelope formats: each example is what the engine itself writes."""

from typing import get_args

from sill.core import deltas, envelopes
from sill.core.messages import (
    FileStamp,
    Hidden,
    Message,
    Remembered,
    Summary,
    fingerprint,
)

PAGE = """\
# Envelope formats

What goes along with a question for the model alone: minified JSON, one object for each thing, keys in this order. The
examples are written by the engine itself. See [What the model sees](../context.md) for when each is sent and how
control tokens in them are made harmless, and [HTTP routes](routes.md) for how editors hand files in.

{sections}

## What holds for all of them

* `schema_version` is 1. A change in the meaning of a key raises it.
* `fingerprint` is `sha256:` and the hash of the text's exact UTF-8 bytes. Reading an envelope gives that text back
  exactly, line ends and all.
* They are stored with their turn as messages of role `assistant` and are never shown as chat. In a request they stand
  before the turn's question inside one user message (layout `folded`), or as assistant messages of their own
  (`separate`).
"""

OLD, NEW = "# Beds\n\nLettuce.\nBeans.\n", "# Beds\n\nLettuce.\nPeas.\n"
THERE, NOW = FileStamp("Beds.md", fingerprint(OLD)), FileStamp("Beds.md", fingerprint(NEW))
TURN = "0192f0c1"


def examples() -> list[tuple[str, str, Message]]:
    """Heading, what it tells, and the message itself."""
    diff = deltas.make(OLD, NEW)
    return [
        ("A file", "Its whole text in its present state.", envelopes.state(THERE, OLD)),
        (
            "A change of a file",
            "A unified diff with one line of context against a state that is in the request already. Lines end at "
            "`\\n` only. Sent where it costs under half of the whole text.",
            envelopes.delta(NOW, THERE.fingerprint, diff),
        ),
        (
            "A file that is gone",
            "Told once, if the model holds the file.",
            envelopes.deleted("Beds.md"),
        ),
        (
            "A file with another name",
            "Told once, if the model holds the file.",
            envelopes.renamed("Beds.md", "Garden/Beds.md"),
        ),
        (
            "A file that does not fit",
            "Its text is not in the request, and earlier copies are out of date. `outline` is there where one is "
            "known.",
            envelopes.omitted(NOW, "Beds"),
        ),
        (
            "A file as it was before",
            "The earlier copy with this fingerprint is current again.",
            envelopes.restored(THERE),
        ),
        (
            "Recalled turns",
            "Quotations from turns that left the window; `content` has one line for each.",
            envelopes.recall((TURN,), "4 user: Which bed gets sun?"),
        ),
        (
            "Earlier turns",
            "Stands for the first so many turns of the chat; parts with nothing to say are left out.",
            envelopes.summary(
                Summary(TURN, 48),
                {
                    "last_request": "Which bed gets sun?",
                    "files": "Beds.md: shown",
                    "decisions": "Peas, not beans.",
                    "summary": "Beds were planned.",
                },
            ),
        ),
        (
            "A pinned turn",
            "A turn that the user wants to stay, shown again after it left.",
            envelopes.pinned(TURN, "4 user: Which bed gets sun?"),
        ),
        (
            "News of proposals",
            "What became of edits that the model proposed.",
            envelopes.news("The edit of Beds.md was applied."),
        ),
        (
            "Remembered facts",
            "What the folder's memory holds that bears on the question; `no_longer_true` is there where something was "
            "withdrawn.",
            envelopes.remembered(
                Remembered(("a",), ("b",)), ["The frost ends in May."], ["It ends in April."]
            ),
        ),
    ]


def formats_page() -> str:
    missing = set(get_args(Hidden)) - {type(message.carries) for _, _, message in examples()}
    assert not missing, f"no example for {missing}"
    sections = [
        f"## {title}\n\n{told}\n\n```json\n{message.text}\n```"
        for title, told, message in examples()
    ]
    return PAGE.format(sections="\n\n".join(sections))
