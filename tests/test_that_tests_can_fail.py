"""No test passes whatever the program does: each has something that can go wrong in it, and says what."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
FILES = sorted(HERE.rglob("*.py"))
# Waiting for something to show on a page, and programs whose exit code is checked, fail by themselves.
CHECKS_BY_THEMSELVES = {"raises", "fail", "wait_for", "wait_for_function", "to_have_screenshot"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def vain(tree: ast.AST) -> Iterator[str]:
    """The asserts and expectations in ``tree`` that nothing can break."""
    for node in ast.walk(tree):
        match node:
            case ast.Assert(test=ast.Constant(value=value)) if value:
                yield f"{node.lineno}: asserts a constant"
            case ast.Assert(test=ast.Tuple(elts=elements)) if elements:
                yield f"{node.lineno}: asserts a tuple, which is always true"
            case ast.Assert(test=ast.Compare(left=left, comparators=[right])) if ast.dump(
                left
            ) == ast.dump(right):
                yield f"{node.lineno}: compares a thing with itself"
            case ast.Assert(test=ast.BoolOp(op=ast.Or(), values=values)) if any(
                isinstance(value, ast.Constant) and value.value for value in values
            ):
                yield f"{node.lineno}: asserts `… or` a constant"
            case ast.Call(func=ast.Attribute(attr="raises"), args=[ast.Name(id=name), *_]) if (
                name in ("Exception", "BaseException") and not node.keywords
            ):
                yield f"{node.lineno}: any exception at all will do"
            case ast.Try(body=body, handlers=handlers) if any(
                isinstance(inner, ast.Assert) for line in body for inner in ast.walk(line)
            ):
                yield from (
                    f"{handler.lineno}: swallows its own assertion"
                    for handler in handlers
                    if handler.type is None
                    or ast.unparse(handler.type) in ("Exception", "AssertionError", "BaseException")
                )


@pytest.mark.parametrize(
    ("code", "found"),
    [
        pytest.param("assert True", ["1: asserts a constant"], id="a constant"),
        pytest.param("assert (a, 'why')", ["1: asserts a tuple, which is always true"], id="a tuple"),
        pytest.param("assert a.b == a.b", ["1: compares a thing with itself"], id="itself"),
        pytest.param("assert a or True", ["1: asserts `… or` a constant"], id="or true"),
        pytest.param("with pytest.raises(Exception): f()", ["1: any exception at all will do"], id="raises"),
        pytest.param("try:\n  assert a\nexcept Exception:\n  pass", ["3: swallows its own assertion"], id="swallowed"),
        pytest.param("assert a == b\nassert a or b\nassert a != 3", [], id="these can fail"),
        pytest.param("with pytest.raises(Exception, match='why'): f()", [], id="with a reason"),
        pytest.param("try:\n  f()\nexcept OSError:\n  pass", [], id="nothing asserted"),
    ],
)  # fmt: skip
def test_what_cannot_fail_is_seen(code, found):
    assert list(vain(ast.parse(code))) == found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(HERE)))
def test_nothing_is_asserted_in_vain(file):
    assert list(vain(ast.parse(file.read_text()))) == []


def called(function: Function) -> set[str]:
    """The last names of everything it calls."""
    return {
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
    }


def functions(tree: ast.AST) -> list[Function]:
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def test_every_test_looks_at_something():
    trees = {file: ast.parse(file.read_text()) for file in FILES}
    everything = [function for tree in trees.values() for function in functions(tree)]
    looking = CHECKS_BY_THEMSELVES | {
        function.name
        for function in everything
        if any(isinstance(node, ast.Assert | ast.Raise) for node in ast.walk(function))
    }
    while more := {f.name for f in everything if called(f) & looking} - looking:
        looking |= more
    tests = [f.name for f in everything if f.name.startswith("test_")]

    assert len(tests) > 1_000
    assert [name for name in tests if name not in looking] == []
