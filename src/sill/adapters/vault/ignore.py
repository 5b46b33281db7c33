"""Which files of a folder are left alone, by the rules of ``.gitignore``."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

_MOST_RULES = 2_000  # of one file
_LONGEST_RULE = 500


@dataclass(frozen=True)
class Rules:
    """The rules of one ignore file; paths are relative to the folder it lies in."""

    patterns: tuple[tuple[re.Pattern[str], bool], ...]  # and whether a match means "leave alone"

    @cached_property
    def _any(self) -> re.Pattern[str]:
        """Most paths match nothing: one look instead of one per rule."""
        sources = (f"(?:{pattern.pattern})" for pattern, _ in self.patterns)
        return re.compile("|".join(sources), re.DOTALL)

    def verdict(self, path: str, *, folder: bool = False) -> bool | None:
        """True: leave alone; False: take it after all; None: nothing is said about it."""
        name = path + "/" if folder else path
        if not self.patterns or not self._any.match(name):
            return None
        for pattern, ignored in reversed(self.patterns):
            if pattern.match(name):
                return ignored
        return None


NO_RULES = Rules(())


def parse_rules(lines: Iterable[str]) -> Rules:
    """Lines of a ``.gitignore``; what is not a rule is skipped."""
    patterns = []
    for line in lines:
        rule = _trimmed(line)
        if not rule or rule.startswith("#") or len(rule) > _LONGEST_RULE:
            continue
        negated = rule.startswith("!")
        rule = rule[1:] if negated else rule
        rule = rule[1:] if rule.startswith(("\\#", "\\!")) else rule
        try:
            patterns.append((re.compile(_translated(rule), re.DOTALL), not negated))
        except re.error:
            continue
        if len(patterns) >= _MOST_RULES:
            break
    return Rules(tuple(patterns))


def is_ignored(path: str, folder: bool, rules: Sequence[tuple[str, Rules]]) -> bool:
    """Whether the nearest ignore file that says something about the path says to leave it alone.

    ``rules`` come from the root downwards, each with the folder it lies in.
    """
    for base, own in reversed(rules):
        relative = path[len(base) + 1 :] if base else path
        verdict = own.verdict(relative, folder=folder)
        if verdict is not None:
            return verdict
    return False


def _trimmed(line: str) -> str:
    line = line.rstrip("\r\n")
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    return line


def _translated(rule: str) -> str:
    """A regular expression over ``path`` for files and ``path/`` for folders."""
    only_folders = rule.endswith("/")
    rule = rule.rstrip("/") if only_folders else rule
    anchored = "/" in rule
    rule = rule.lstrip("/")
    if not rule:
        return r"(?!)"
    body = _glob(rule)
    start = "" if anchored else r"(?:.*/)?"
    return f"{start}{body}{'/' if only_folders else '/?'}\\Z"


def _glob(rule: str) -> str:
    pieces: list[str] = []
    at = 0
    while at < len(rule):
        if rule.startswith("**/", at) and (at == 0 or rule[at - 1] == "/"):
            pieces.append(r"(?:[^/]+/)*")
            at += 3
        elif rule.startswith("/**", at) and at + 3 == len(rule):
            pieces.append(r"/.+")
            at += 3
        elif rule[at] == "*":
            while at < len(rule) and rule[at] == "*":
                at += 1
            pieces.append(r"[^/]*")
        elif rule[at] == "?":
            pieces.append(r"[^/]")
            at += 1
        elif rule[at] == "[":
            piece, at = _character_class(rule, at)
            pieces.append(piece)
        elif rule[at] == "\\" and at + 1 < len(rule):
            pieces.append(re.escape(rule[at + 1]))
            at += 2
        else:
            pieces.append(re.escape(rule[at]))
            at += 1
    return "".join(pieces)


def _character_class(rule: str, at: int) -> tuple[str, int]:
    end = at + 1
    if end < len(rule) and rule[end] in "!^":
        end += 1
    if end < len(rule) and rule[end] == "]":
        end += 1
    while end < len(rule) and rule[end] != "]":
        end += 2 if rule[end] == "\\" else 1
    if end >= len(rule):
        return r"(?!)", len(rule)  # never closed: matches nothing
    inside = rule[at + 1 : end]
    negated = inside.startswith(("!", "^"))
    inside = inside[1:] if negated else inside
    inside = re.sub(r"\\(.)|([\[\]&~|^])", lambda m: "\\" + (m[1] or m[2]), inside)
    return f"(?!/)[{'^' if negated else ''}{inside}]", end + 1
