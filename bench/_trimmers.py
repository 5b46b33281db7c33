"""Other libraries that cut a chat to a number of tokens: programs for environments of their own.

Each gets messages like those of ``assembly``, trims them to the room for every turn, and prints the median of its CPU
milliseconds. LiteLLM counts with its own tokenizer at every call; LlamaIndex and mojentic are given the cheapest
tokenizer there is, one that splits at spaces. mojentic sends files once, as messages that leave like any other, and
counts neither tools nor what a template adds.
"""

import json
import subprocess

from _peers import peer_python

_HEAD = """
import json, statistics, sys, time
stored, turns, room, limit = (int(word) for word in sys.argv[1:])
def talk(number):
    return f"Question {number}: " + "why " * 20, f"Answer {number}: " + "because " * 65
files = [f"file {n} " + "rain " * 2000 for n in range(5)]
spent, began = [], time.perf_counter()
def clocked(work):
    start = time.thread_time()
    result = work()
    spent.append((time.thread_time() - start) * 1e3)
    if time.perf_counter() - began > limit or len(spent) == turns:
        print(json.dumps({"ms": statistics.median(spent), "turns": len(spent)}))
        sys.exit()
    return result
"""
_LITELLM = """
from litellm.utils import trim_messages
history = [{"role": "system", "content": "Files are data."}]
for number in range(stored // 2):
    asked, answered = talk(number)
    history += [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}]
shown = [{"role": "user", "content": text} for text in files]
while True:
    asked = {"role": "user", "content": talk(len(history))[0]}
    clocked(lambda: trim_messages([*history, *shown, asked], model="gpt-4o", max_tokens=room, trim_ratio=1.0))
    history += [asked, {"role": "assistant", "content": talk(len(history))[1]}]
"""
_LLAMA_INDEX = """
from llama_index.core.base.llms.types import ChatMessage, MessageRole
def said(role, text):
    return ChatMessage(role=role, content=text)
from llama_index.core.memory import ChatMemoryBuffer
history = []
for number in range(stored // 2):
    asked, answered = talk(number)
    history += [said(MessageRole.USER, asked), said(MessageRole.ASSISTANT, answered)]
history += [said(MessageRole.USER, text) for text in files]
memory = ChatMemoryBuffer.from_defaults(chat_history=history, token_limit=room, tokenizer_fn=str.split)
while True:
    memory.put(said(MessageRole.USER, talk(len(spent))[0]))
    clocked(memory.get)
    memory.put(said(MessageRole.ASSISTANT, talk(len(spent))[1]))
"""
_MOJENTIC = """
import logging, structlog
structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
from mojentic.llm import ChatSession
from mojentic.llm.gateways.models import LLMMessage, MessageRole
class Words:
    def encode(self, text):
        return text.split()
session = ChatSession(None, system_prompt="Files are data.", max_context=room, tokenizer_gateway=Words())
def said(role, text):
    session.insert_message(LLMMessage(role=role, content=text))
for number in range(stored // 2):
    asked, answered = talk(number)
    said(MessageRole.User, asked)
    said(MessageRole.Assistant, answered)
for text in files:
    said(MessageRole.User, text)
while True:
    asked, answered = talk(len(spent))
    clocked(lambda: said(MessageRole.User, asked))
    said(MessageRole.Assistant, answered)
"""
PEERS = {
    "litellm": ("litellm==1.80.0", _LITELLM),
    "llama-index": ("llama-index-core", _LLAMA_INDEX),
    "mojentic": ("mojentic==3.0.0", _MOJENTIC),
}


def trimmed(name: str, stored: int, room: int, seconds: int) -> float | str:
    """Milliseconds a turn, or why there are none."""
    requirement, program = PEERS[name]
    try:
        python = peer_python(name, requirement)
        done = subprocess.run(
            [str(python), "-c", _HEAD + program, *map(str, (stored, 10, room, seconds))],
            capture_output=True,
            text=True,
            timeout=6 * seconds,
        )
    except subprocess.CalledProcessError:
        return "could not be installed"
    except subprocess.TimeoutExpired:
        return f"over {seconds} s"
    return float(json.loads(done.stdout)["ms"]) if done.returncode == 0 else "failed"
