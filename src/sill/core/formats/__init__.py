"""How services turn a chat into the prompt they bill, as sums over a measure of plain text.

Each format is a function from a ``Chat`` and a ``Measure`` to tokens. The numbers come from public
recordings of billed prompts; where a form is not known, the sum lies above every one of them.
"""

from .chat import Chat, ChatMessage, Measure, chat_of
from .table import Billed, Format, billed, message_overhead

__all__ = [
    "Billed",
    "Chat",
    "ChatMessage",
    "Format",
    "Measure",
    "billed",
    "chat_of",
    "message_overhead",
]
