"""What services bill for open models: the models' own chat templates, written as sums.

Where a model runs on a server that counts for itself, that server is asked instead. These sums are
for services that do not say: they follow the published templates and recorded bills.
"""

import json

from .chat import IMAGE_TOKENS, Chat, ChatMessage, Measure, quoted

OSS_SYSTEM = (
    "You are ChatGPT, a large language model trained by OpenAI.\nKnowledge cutoff: 2024-06\n"
    "Current date: 2026-01-01\n\nReasoning: medium\n\n"
    "# Valid channels: analysis, commentary, final. Channel must be included for every message."
)

MISTRAL_SMALL_EXTRA = 12  # billed on top by the small and the reasoning models
LLAMA4_TOOLS = 690  # the instructions that Llama 4 gets with tools
DEEPSEEK_TOOLS = 210
QWEN_TOOLS = 140
LLAMA3_TOOLS = 120


def mistral(chat: Chat, measure: Measure, *, extra: int = 0) -> int:
    """Tekken models: one token opens the prompt, two hold a question or an instruction, one ends an answer."""
    total = 1 + extra
    for message in chat.messages:
        total += _texts(message, measure)
        total += 1 if message.role == "assistant" and not message.calls else 2
        # A call and its result carry an id of nine characters; older models quote both as JSON.
        total += sum(19 + measure(call.name) + measure(call.arguments) for call in message.calls)
        total += 17 if message.answers is not None else 0
    if chat.tools:
        total += 2 + measure(quoted(chat.tools, spaced=True))
    return total + _reply(chat, measure)


def chatml(chat: Chat, measure: Measure) -> int:
    """Qwen and its kin: start, role, newline, end, newline around each text; an empty thought may open the answer."""
    total = 3 + 4
    for message in chat.messages:
        total += 5 + _texts(message, measure)
        total += sum(16 + measure(call.name) + measure(call.arguments) for call in message.calls)
        total += 6 if message.answers is not None else 0
    if chat.tools:
        total += QWEN_TOOLS + sum(2 + measure(quoted(tool, spaced=True)) for tool in chat.tools)
        total += 0 if chat.led else 5
    return total + _reply(chat, measure)


def deepseek(chat: Chat, measure: Measure) -> int:
    """DeepSeek: a token opens the prompt, one stands before each speaker, one ends an answer; a thought is opened."""
    total = 4
    for message in chat.messages:
        total += _texts(message, measure)
        total += {"user": 1, "assistant": 2}.get(message.role, 2)
        total += sum(20 + measure(call.name) + measure(call.arguments) for call in message.calls)
        total += 6 if message.answers is not None else 0
    if chat.tools:
        total += DEEPSEEK_TOOLS + measure(quoted(chat.tools, spaced=True))
    return total + _reply(chat, measure)


def llama3(chat: Chat, measure: Measure) -> int:
    """Llama 3: header, role, header end, two newlines and an end around each text; the date may be added."""
    total = 1 + 4 + 26
    for message in chat.messages:
        total += 5 + _texts(message, measure)
        total += sum(14 + measure(call.name) + measure(call.arguments) for call in message.calls)
    if chat.tools:
        indented = sum(measure(_indented(tool)) for tool in chat.tools)
        total += LLAMA3_TOOLS + indented
    return total + _reply(chat, measure)


def llama4(chat: Chat, measure: Measure) -> int:
    """Llama 4 as hosted: like Llama 3, and long instructions whenever there are tools."""
    total = 1 + 4
    for message in chat.messages:
        total += 5 + _texts(message, measure)
        total += sum(14 + measure(call.name) + measure(call.arguments) for call in message.calls)
    if chat.tools:
        total += LLAMA4_TOOLS + measure(quoted(chat.tools))
    return total + _reply(chat, measure)


def _texts(message: ChatMessage, measure: Measure) -> int:
    name = 1 + measure(message.name) if message.name else 0
    return measure(message.text) + name + IMAGE_TOKENS * message.images


def _reply(chat: Chat, measure: Measure) -> int:
    """Some services show the schema to the model, some only constrain it: count it as shown."""
    return 0 if chat.reply is None else 24 + measure(quoted(chat.reply.schema, spaced=True))


def _indented(value: object) -> str:
    try:
        return json.dumps(value, indent=4, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        return quoted(value)
