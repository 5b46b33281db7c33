"""Long pastes: kept aside under a short name, so that the prompt stays a prompt."""

import re
from dataclasses import dataclass, field

LONG = 2_000  # characters
MANY = 30  # lines
_NAME = re.compile(r"⟦paste (\d+): [\d,]+ characters⟧")


@dataclass(slots=True)
class Pastes:
    """Every long paste of this run, by its number."""

    texts: list[str] = field(default_factory=list)

    def shown(self, text: str) -> str:
        """What stands in the prompt for a pasted text: itself, or its name if it is long."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if len(text) <= LONG and text.count("\n") <= MANY:
            return text
        self.texts.append(text)
        return f"⟦paste {len(self.texts)}: {len(text):,} characters⟧"

    def whole(self, typed: str) -> str:
        """What was typed, with every paste in its place."""
        return _NAME.sub(self._text, typed)

    def _text(self, found: re.Match[str]) -> str:
        number = int(found[1])
        return self.texts[number - 1] if 0 < number <= len(self.texts) else found[0]
