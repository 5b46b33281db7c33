"""Chat templates as Hugging Face models carry them, rendered where they can do no harm."""

import contextlib
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any


class TemplateRefused(Exception):
    """The template itself says that it cannot render these messages."""


def compile_template(source: str, names: Mapping[str, str]) -> Callable[[Mapping[str, Any]], str]:
    """A function from a request's body to the prompt.

    ``names`` are the special tokens a template may use, ``bos_token`` and the like. Templates come
    from strangers: they run in a sandbox that cannot reach attributes or change what it is given.
    """
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    template = environment.from_string(source)

    def render(body: Mapping[str, Any]) -> str:
        try:
            return template.render(
                **names,
                messages=[_message(message) for message in body.get("messages") or ()],
                tools=body.get("tools") or None,
                documents=None,
                add_generation_prompt=True,
            )
        except (TemplateError, TypeError, ValueError, KeyError, RecursionError) as problem:
            raise TemplateRefused(str(problem)) from problem

    return render


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Templates expect arguments as objects and texts as texts."""
    shaped = dict(message)
    if shaped.get("content") is None:
        shaped["content"] = ""
    if calls := shaped.get("tool_calls"):
        shaped["tool_calls"] = [_call(call) for call in calls]
    return shaped


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = dict(call.get("function") or {})
    with contextlib.suppress(TypeError, ValueError):  # what is not JSON is shown as it is
        function["arguments"] = json.loads(function.get("arguments") or "{}")
    return {**call, "function": function}


def _tojson(value: object, indent: int | None = None, **_: object) -> str:
    # Jinja's own filter escapes HTML; models were trained on plain JSON.
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> None:
    raise TemplateRefused(message)
