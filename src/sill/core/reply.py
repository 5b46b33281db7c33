"""Model text into operations: constrained JSON, JSON wrapped in talk, or search and replace blocks.

Nothing here raises and nothing is half used: a reply gives all its operations or a list of problems.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from .blocks import read_blocks
from .edits import Rejected, Scope
from .ops import Op, Problem, Reason, read_op
from .proposal import Proposal, propose

Format = Literal["schema", "json", "blocks"]

_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^\n`]*\n(.*?)\n[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Reply:
    explanation: str
    ops: tuple[Op, ...]


def read_reply(format: Format, text: str, scope: Scope) -> Reply | Rejected:
    """What the model proposes, in whichever of the formats it was asked to use."""
    match format:
        case "schema":
            return _read_json([text])
        case "json":
            return _read_json(_candidates(text))
        case "blocks":
            found = read_blocks(text, scope)
            return found if isinstance(found, Rejected) else Reply(found.explanation, found.ops)
        case _:
            assert_never(format)


def proposal_from(format: Format, text: str, scope: Scope) -> Proposal | Rejected:
    """A proposal that can be applied as it stands, or everything that is wrong with the reply."""
    reply = read_reply(format, text, scope)
    if isinstance(reply, Rejected):
        return reply
    return propose(reply.explanation, reply.ops, scope)


def _candidates(text: str) -> Iterator[str]:
    """The whole reply, its first fenced block, and what stands between its first and last brace."""
    yield text
    fenced = _FENCE.search(text)
    if fenced:
        yield fenced[2]
    first, last = text.find("{"), text.rfind("}")
    if 0 <= first < last:
        yield text[first : last + 1]


def _read_json(candidates: Iterator[str] | Sequence[str]) -> Reply | Rejected:
    trouble = ""
    for candidate in candidates:
        try:
            body = json.loads(candidate, strict=False, object_pairs_hook=_without_doubles)
        except (ValueError, RecursionError) as error:
            # The first complaint is about the reply itself; the later ones are about our guesses.
            trouble = trouble or str(error)
            continue
        return _read_body(body)
    return Rejected((Problem(None, "", "reply unreadable", trouble[:200]),))


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    body = dict(pairs)
    if len(body) != len(pairs):
        raise ValueError("a field is given twice")
    return body


def _read_body(body: object) -> Reply | Rejected:
    if not isinstance(body, dict):
        return Rejected((Problem(None, "", "not an object"),))
    unknown = sorted(body.keys() - {"assistant_message", "ops"})
    if unknown:
        return Rejected((Problem(None, "", "unknown field", ", ".join(unknown)[:200]),))
    message, bodies = body.get("assistant_message", ""), body.get("ops")
    if not isinstance(message, str):
        return Rejected((Problem(None, "", "wrong type", "assistant_message"),))
    if not isinstance(bodies, list):
        reason: Reason = "wrong type" if "ops" in body else "field missing"
        return Rejected((Problem(None, "", reason, "ops"),))
    read = [read_op(one, number) for number, one in enumerate(bodies)]
    problems = tuple(one for one in read if isinstance(one, Problem))
    if problems:
        return Rejected(problems)
    explanation = message.encode(errors="replace").decode()
    return Reply(explanation, tuple(one for one in read if not isinstance(one, Problem)))


_EXPLAINED: dict[Format, str] = {
    "schema": """Answer with one JSON object: "assistant_message" says in a sentence what you changed, \
"ops" lists the edits. Prefer "replace" on an "anchor": a snippet copied exactly from the file that \
occurs in it once. If nothing is to be changed, "ops" is [].""",
    "json": """Answer with one JSON object and nothing else:
{"assistant_message": "what you changed, in a sentence", "ops": [...]}
Each op is one of
{"op":"replace","target_file":F,"target":"anchor","anchor":"text copied exactly, occurring once","content":"new text"}
{"op":"insert","target_file":F,"target":"anchor","anchor":"...","place":"before" or "after","content":"new text"}
{"op":"delete","target_file":F,"target":"anchor","anchor":"..."}
{"op":"replace" or "insert","target_file":F,"target":"document","content":"..."} (insert adds at the end)
{"op":"delete","target_file":F,"target":"document"} (removes the file)
{"op":"patch","target_file":F,"patch_lines":["@@ -1,2 +1,2 @@"," kept","-old","+new"]}
If nothing is to be changed, "ops" is [].""",
    "blocks": """For each edit write the file's name on a line of its own, then a block:
<<<<<<< SEARCH
lines copied exactly from the file, occurring in it once
=======
the lines to put in their place
>>>>>>> REPLACE
An empty SEARCH part fills a new or empty file. A block <<<<<<< DELETE directly followed by >>>>>>> DELETE
removes the file. Outside the blocks say in a sentence what you changed.""",
}


def instructions(format: Format, scope: Scope) -> str:
    """How to answer, for the system prompt; the files that may be edited are named."""
    extra = ""
    if format != "blocks" and scope.active and scope.selection is not None:
        extra += (
            '\nThe user selected a part of the active file: "target":"selection" means that part.'
        )
    if format != "blocks" and scope.active and scope.cursor is not None:
        extra += '\n"op":"insert" with "target":"cursor" puts text where the user\'s cursor is.'
    names = json.dumps(list(scope.documents), ensure_ascii=False)
    return f"{_EXPLAINED[format]}{extra}\nFiles you may edit: {names}"


def repair_message(problems: Sequence[Problem]) -> str:
    """What to tell the model so that it can try once more."""
    listed = "\n".join(f"- {problem}{_shown(problem)}" for problem in problems[:10])
    return (
        "None of the edits was applied, because:\n"
        f"{listed}\n"
        "Answer again with all the edits, in the same format, with these mistakes corrected."
    )


def _shown(problem: Problem) -> str:
    if problem.hunk is None:
        return ""
    found = f"\n  the file has there:\n{_quoted(problem.hunk.found)}" if problem.hunk.found else ""
    return f"\n  it expects:\n{_quoted(problem.hunk.expected)}{found}"


def _quoted(text: str) -> str:
    return "\n".join(f"  | {line}" for line in text.split("\n"))


def explain(problems: Sequence[Problem]) -> str:
    """Why there is nothing to apply, for people."""
    first = "; ".join(str(problem) for problem in problems[:3])
    more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
    return f"The reply could not be used, so nothing was changed: {first}{more}."
