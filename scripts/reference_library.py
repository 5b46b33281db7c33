"""The page of the library: every public name with its signature, fields and docstrings."""

import dataclasses
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any, get_args

from reference_events import dataclass_section
from reference_shapes import prose

PAGE = """\
# Library

Names listed here are the public ones; everything else may change without notice.

```python
import sill

with sill.open("notes") as workspace:
    chat = workspace.chat(files=["plan.md"])
    print(chat.plan("What is due this week?").tokens)  # counted, not sent
    answer = chat.ask("What is due this week?")
    print(answer.text, answer.certificate, answer.cost)
    proposal = workspace.edit("Move the deadline to Friday.", ["plan.md"])
    print(proposal.diff)
    proposal.apply()
    workspace.undo()
```

Methods block and may be called from any thread, also inside a notebook. Settings come from files and environment as for
the commands; `settings=` of `sill.open` goes over them. Nothing is printed. Three programs that use all of this are in
`examples/`: a notebook, an editor's backend, a tokenizer of one's own.

## `sill`

{library}

### `__version__`

The release, or in a checkout how far past the last one it is.

## `sill.testing`

Working fakes for tests of your own.

{testing}
"""
# In the order in which a program meets them; whatever is not here follows by name.
ORDER = ("open", "Workspace", "Chat", "Answer", "Window", "Item", "Proposal", "Change", "Hit", "Spent", "Certificate",
         "Reference", "Event")  # fmt: skip


def library_page() -> str:
    import sill
    import sill.testing

    return PAGE.format(
        library="\n\n".join(sections(sill, without={"__version__"})),
        testing="\n\n".join(sections(sill.testing, brief=True)),
    )


def sections(module: ModuleType, without: Any = (), *, brief: bool = False) -> Iterator[str]:
    names = sorted(set(module.__all__) - set(without))
    first = [name for name in ORDER if name in names]
    for name in [*first, *(name for name in names if name not in first)]:
        yield section(name, getattr(module, name), brief=brief)


def section(name: str, value: Any, *, brief: bool) -> str:
    """A function with its signature, a class with its fields and methods, a union with its members."""
    from sill.engine.events import Event

    if inspect.isfunction(value):
        return f"### `{name}`\n\n```text\n{signature(name, value)}\n```\n\n{told(value)}"
    if not inspect.isclass(value):
        members = ", ".join(f"`{member.__name__}`" for member in get_args(value))
        return f"### `{name}`\n\nOne of {members}. See [Events](events.md)."
    if brief:
        return f"### `{name}`\n\n{told(value)}"
    if value in get_args(Event):
        return f"### `{name}`\n\n{told(value)} See [Events](events.md#{name.lower()}).".replace(
            "\n\n ", "\n\n"
        )
    parts = [f"### `{name}`", told(value), fields(value), *methods(value)]
    return "\n\n".join(part for part in parts if part)


def fields(kind: type) -> str:
    """The table of a dataclass's public fields and properties."""
    rows = []
    if dataclasses.is_dataclass(kind):
        table = dataclass_section(kind)
        rows = [line for line in table.splitlines() if re.match(r"\| `[^_]", line)]
    for name, value in vars(kind).items():
        if isinstance(value, property) and not name.startswith("_"):
            rows.append(f"| `{name}` | `{returned(value.fget)}` | {told(value)} |")
    return "| field | type | |\n|---|---|---|\n" + "\n".join(rows) if rows else ""


def methods(kind: type) -> Iterator[str]:
    for name, value in vars(kind).items():
        if inspect.isfunction(value) and not name.startswith("_"):
            yield f"```text\n{signature(name, value)}\n```\n\n{told(value)}".rstrip()


def told(thing: Any) -> str:
    """Its own docstring; a dataclass without one shows its signature there, which says nothing new."""
    own = inspect.getdoc(thing) or ""
    return "" if own.startswith(f"{getattr(thing, '__name__', '')}(") else prose(own)


def signature(name: str, function: Any) -> str:
    """As it is called: without ``self``, names of modules left out; one parameter a line where it is long."""
    found = inspect.signature(function)
    given = [p for p in found.parameters.values() if p.name != "self"]
    plain = str(found.replace(parameters=given))
    line = ("async " if inspect.iscoroutinefunction(function) else "") + name + _short(plain)
    if len(line) <= 110:
        return line
    head, _, rest = line.partition("(")
    inside, _, result = rest.rpartition(")")
    return f"{head}(\n    " + re.sub(r", (?=\w+: |\*)", ",\n    ", inside) + f"\n){result}"


def returned(function: Any) -> str:
    shown = inspect.formatannotation(inspect.signature(function).return_annotation)
    return _short(shown).replace("|", r"\|")


def _short(shown: str) -> str:
    """Without the names of modules, and without the quotes of a class that is defined further down."""
    return re.sub(r"-> '(\w+)'", r"-> \1", re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", shown))
