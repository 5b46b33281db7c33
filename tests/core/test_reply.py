import json

import pytest

from sill.core.constrain import SMALL, grammar, reply_schema
from sill.core.edits import Rejected, Scope
from sill.core.ops import (
    Anchor,
    AtCursor,
    Delete,
    HunkTrouble,
    Insert,
    Patch,
    Problem,
    Replace,
    Selected,
    Span,
    Whole,
    op_body,
)
from sill.core.proposal import preview
from sill.core.reply import Reply, explain, instructions, proposal_from, read_reply, repair_message

SCOPE = Scope(
    {"a.md": "one\ntwo\nthree\n", "sub/b.md": "Title\n=======\ntext\n", "new.md": None},
    active="a.md",
    selection=Span(0, 3),
    cursor=4,
)
OP = {"op": "delete", "target_file": "a.md", "target": "document"}
GOOD = json.dumps({"assistant_message": "Done.", "ops": [OP]})
REPLY = Reply("Done.", (Delete("a.md", Whole()),))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(GOOD, id="raw"),
        pytest.param(f"\n  {GOOD}\n", id="white space around"),
        pytest.param(f"Sure!\n```json\n{GOOD}\n```\nAnything else?", id="fenced"),
        pytest.param(f"~~~\n{GOOD}\n~~~", id="tildes"),
        pytest.param(f"Here it is: {GOOD} as you asked", id="in the middle of talk"),
    ],
)
def test_json_is_found_in_what_surrounds_it(text):
    assert read_reply("json", text, SCOPE) == REPLY


def test_raw_newlines_in_strings_are_taken_as_they_are():
    text = GOOD.replace("Done.", "Do\nne.")

    assert read_reply("json", text, SCOPE) == Reply("Do\nne.", REPLY.ops)


def test_a_constrained_reply_has_nothing_around_it():
    assert read_reply("schema", GOOD, SCOPE) == REPLY
    assert isinstance(read_reply("schema", f"Sure: {GOOD}", SCOPE), Rejected)


@pytest.mark.parametrize(
    "text, problem",
    [
        pytest.param("[]", Problem(None, "", "not an object"), id="a list"),
        pytest.param("{}", Problem(None, "", "field missing", "ops"), id="no ops"),
        pytest.param('{"ops":{}}', Problem(None, "", "wrong type", "ops"), id="ops is an object"),
        pytest.param(
            '{"ops":[],"assistant_message":1}',
            Problem(None, "", "wrong type", "assistant_message"),
            id="message is a number",
        ),
        pytest.param('{"ops":[],"x":1}', Problem(None, "", "unknown field", "x"), id="unknown"),
        pytest.param('{"ops":[1]}', Problem(0, "", "not an object"), id="an op is a number"),
        pytest.param(
            '{"ops":[],"ops":[]}',
            Problem(None, "", "reply unreadable", "a field is given twice"),
            id="a field twice",
        ),
    ],
)
def test_a_wrong_reply_is_named(text, problem):
    assert read_reply("json", text, SCOPE) == Rejected((problem,))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("I cannot do that.", id="talk"),
        pytest.param(GOOD[:-5], id="cut off"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param('{"ops":' + "9" * 5000 + "}", id="a number too long to read"),
        pytest.param("\ud800", id="a lone surrogate"),
    ],
)
def test_what_is_not_json_is_unreadable(text):
    result = read_reply("json", text, SCOPE)

    assert isinstance(result, Rejected)
    assert [problem.reason for problem in result.problems] in (["reply unreadable"], ["wrong type"])


def test_every_problem_is_listed():
    text = json.dumps({"ops": [{"op": "delete"}, OP, {**OP, "x": 1}]})

    assert read_reply("json", text, SCOPE) == Rejected(
        (Problem(0, "", "field missing", "target_file"), Problem(2, "a.md", "unknown field", "x"))
    )


BLOCK = "<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\n"
PATCH = (Patch("a.md", ("@@", "-two", "+2")),)


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param(f"a.md\n{BLOCK}", Reply("", PATCH), id="named"),
        pytest.param(
            f"I change it.\n\na.md\n{BLOCK}Done.", Reply("I change it.\n\nDone.", PATCH), id="talk"
        ),
        pytest.param(f"### `a.md`:\n```md\n{BLOCK}```\n", Reply("", PATCH), id="fence inside"),
        pytest.param(f"```\na.md\n{BLOCK}```\n", Reply("", PATCH), id="fence outside"),
        pytest.param(f"File: a.md\n\n{BLOCK}", Reply("", PATCH), id="labelled"),
        pytest.param(BLOCK, Reply("", PATCH), id="the active file is meant"),
        pytest.param(
            f"a.md\n{BLOCK}\n{BLOCK.replace('two', 'one')}",
            Reply("", (*PATCH, Patch("a.md", ("@@", "-one", "+2")))),
            id="the same file again",
        ),
        pytest.param(
            "a.md\n<<<<<<< SEARCH\none\ntwo\n=======\none\nnew\ntwo\n>>>>>>> REPLACE",
            Reply("", (Patch("a.md", ("@@", " one", "+new", " two")),)),
            id="equal lines are context",
        ),
        pytest.param(
            "a.md\n<<<<<<< SEARCH\nhre\n=======\nHRE\n>>>>>>> REPLACE",
            Reply("", (Replace("a.md", Anchor("hre"), "HRE"),)),
            id="less than a line",
        ),
        pytest.param(
            "sub/b.md\n<<<<<<< SEARCH\nTitle\n=======\n=======\nName\n=======\n>>>>>>> REPLACE",
            Rejected(
                (
                    Problem(
                        0,
                        "sub/b.md",
                        "reply unreadable",
                        "several ======= lines could divide the block",
                    ),
                )
            ),
            id="a heading could be underlined either way",
        ),
        pytest.param(
            "sub/b.md\n<<<<<<< SEARCH\ntext\n=======\nName\n=======\n>>>>>>> REPLACE",
            Reply("", (Patch("sub/b.md", ("@@", "-text", "+Name", "+=======")),)),
            id="only one divider fits the file",
        ),
        pytest.param(
            "new.md\n<<<<<<< SEARCH\n=======\nhello\n>>>>>>> REPLACE",
            Reply("", (Replace("new.md", Whole(), "hello\n"),)),
            id="new file",
        ),
        pytest.param(
            "a.md\n<<<<<<< DELETE\n>>>>>>> DELETE",
            Reply("", (Delete("a.md", Whole()),)),
            id="file removed",
        ),
        pytest.param(
            "a.md\n<<<<<<< SEARCH\n\n=======\nx\n>>>>>>> REPLACE",
            Rejected((Problem(0, "a.md", "field missing", "the SEARCH part is empty"),)),
            id="nothing to search",
        ),
        pytest.param(
            "a.md\n<<<<<<< SEARCH\ntwo\n=======\n2\n",
            Rejected((Problem(0, "a.md", "reply cut off", "the block has no end"),)),
            id="cut off",
        ),
        pytest.param("Nothing to do.", Reply("Nothing to do.", ()), id="no block"),
    ],
)
def test_blocks(text, expected):
    assert read_reply("blocks", text, SCOPE) == expected


def test_the_three_formats_give_the_same_file():
    scope = Scope({"a.md": "one\r\ntwo\r\n"})
    anchor = {
        "op": "replace",
        "target_file": "a.md",
        "target": "anchor",
        "anchor": "two",
        "content": "2",
    }
    body = json.dumps({"assistant_message": "", "ops": [anchor]})
    results = [
        proposal_from("schema", body, scope),
        proposal_from("json", f"Well:\n{body}", scope),
        proposal_from("blocks", f"a.md\n{BLOCK}", scope),
    ]
    assert [preview(one).files[0].change.after for one in results] == ["one\r\n2\r\n"] * 3


def test_a_reply_that_cannot_be_applied_is_no_proposal():
    text = GOOD.replace("a.md", "elsewhere.md")

    assert proposal_from("json", text, SCOPE) == Rejected(
        (Problem(0, "elsewhere.md", "not a file of the request"),)
    )


def test_the_schema_names_the_files_of_the_request():
    variants = reply_schema(SCOPE)["properties"]["ops"]["items"]["anyOf"]
    shapes = [
        (one["properties"]["op"]["enum"], one["properties"]["target_file"]["enum"])
        for one in variants
    ]

    assert shapes == [
        (["replace"], ["a.md", "sub/b.md"]),
        (["insert"], ["a.md", "sub/b.md"]),
        (["delete"], ["a.md", "sub/b.md"]),
        (["patch"], ["a.md", "sub/b.md"]),
        (["delete"], ["a.md", "sub/b.md"]),
        (["insert", "replace"], ["a.md"]),
        (["insert"], ["a.md"]),
        (["delete"], ["a.md"]),
        (["insert", "replace"], ["a.md", "sub/b.md", "new.md"]),
    ]


@pytest.mark.parametrize(
    "op",
    [
        Replace("a.md", Anchor("two"), "2"),
        Insert("a.md", AtCursor(), "x"),
        Replace("a.md", Selected(), "x"),
        Patch("a.md", ("@@", "-two", "+2")),
    ],
    ids=lambda op: type(op).__name__,
)
def test_what_the_schema_offers_is_what_the_reader_reads(op):
    body = op_body(op)
    offered = [
        variant
        for variant in reply_schema(SCOPE, SMALL)["properties"]["ops"]["items"]["anyOf"]
        if set(variant["required"]) == set(body)
        and all(
            body[name] in field["enum"]
            for name, field in variant["properties"].items()
            if "enum" in field
        )
    ]

    assert len(offered) == 1


def test_the_grammar_of_a_small_request():
    scope = Scope({'q"uote.md': None})

    assert grammar(reply_schema(scope, SMALL)) == (
        'root-ops-item-0 ::= "{\\"op\\":" ("\\"insert\\"" | "\\"replace\\"") '
        '",\\"target_file\\":" ("\\"q\\\\\\"uote.md\\"") '
        '",\\"target\\":" ("\\"document\\"") '
        '",\\"content\\":" "\\"" char{0,1500} "\\"" "}"\n'
        "root-ops-item ::= root-ops-item-0\n"
        'root ::= "{\\"assistant_message\\":" "\\"" char{0,300} "\\"" '
        '",\\"ops\\":" "[" (root-ops-item ("," root-ops-item){0,3})? "]" "}"\n'
        'char ::= [^"\\\\\\x00-\\x1F\\x7F] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4})\n'
    )


def test_the_model_is_told_the_files_and_what_is_selected():
    text = instructions("json", SCOPE)

    assert text.endswith('Files you may edit: ["a.md", "sub/b.md", "new.md"]')
    assert "selection" in text
    assert "cursor" in text
    assert "selection" not in instructions("blocks", SCOPE)


def test_the_model_is_told_what_to_repair():
    trouble = HunkTrouble(0, "@@ -1 +1 @@", "two", "three")
    problems = (
        Problem(0, "a.md", "patch does not fit", "hunk 1", trouble),
        Problem(None, "", "reply unreadable"),
    )

    assert repair_message(problems) == (
        "None of the edits was applied, because:\n"
        "- op 1 (a.md): patch does not fit: hunk 1\n"
        "  it expects:\n"
        "  | two\n"
        "  the file has there:\n"
        "  | three\n"
        "- reply: reply unreadable\n"
        "Answer again with all the edits, in the same format, with these mistakes corrected."
    )
    assert explain(problems) == (
        "The reply could not be used, so nothing was changed: "
        "op 1 (a.md): patch does not fit: hunk 1; reply: reply unreadable."
    )
