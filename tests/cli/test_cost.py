"""``sill cost`` and ``:cost`` through their real doors, over scripted and real servers."""

import asyncio
import json
import re
from dataclasses import replace
from datetime import datetime

import pytest

from sill.adapters.store import open_store
from sill.cli.cost import as_object, as_text, moment
from sill.core.certificate import Usage
from sill.core.cost import DOLLAR, Price, Rates
from sill.core.request import ChatRequest, WireMessage
from sill.engine.costs import Compared, Sums, add, compare, report
from sill.errors import UsageError
from sill.records import Attempt, Settlement, StoredAttempt
from tests.engine.workspace import Workspace, endpoint
from tests.models.fault_provider import FaultProvider, Reset, ok

NOON = round(datetime(2026, 3, 1, 12).timestamp() * 1000)
DAY = 86_400_000


def call(
    predicted=100,
    billed=100,
    cost=DOLLAR,
    *,
    day=0,
    model="m",
    category="main",
    reserved=5 * DOLLAR,
    outcome="complete",
) -> StoredAttempt:
    attempt = Attempt(category, model, "e", "c", "t", predicted, reserved)
    usage = None if billed is None else Usage(billed, 7, cached=20)
    settlement = None if outcome is None else Settlement(outcome, 200, usage, cost)
    return StoredAttempt("id", attempt, NOON + day * DAY, NOON, settlement)


@pytest.mark.parametrize(
    "row, expected, is_wrong",
    [
        pytest.param(call(100, 100), Compared(100, 100), False, id="exact"),
        pytest.param(call(90, 100), Compared(90, 100), False, id="a tenth off is not wrong"),
        pytest.param(call(89, 100), Compared(89, 100), True, id="more than that is: too low"),
        pytest.param(call(111, 100), Compared(111, 100), True, id="too high"),
        pytest.param(call(100, None), None, None, id="no bill, nothing to compare"),
        pytest.param(call(None, 100), None, None, id="no prediction"),
        pytest.param(call(outcome=None), None, None, id="still open"),
    ],
)
def test_only_the_same_request_is_compared(row, expected, is_wrong):
    found = compare(row)

    assert (found, found and found.is_wrong) == (expected, is_wrong)


def test_sums_keep_known_open_and_unknown_apart():
    rows = [
        call(),
        call(50, 100, 2 * DOLLAR),
        call(billed=None, cost=None, outcome="partial"),
        call(outcome=None, reserved=3 * DOLLAR),
        call(cost=None, reserved=None),
    ]

    assert add(rows) == Sums(
        calls=5,
        prompt=300,
        cached=60,
        completion=21,
        cost=3 * DOLLAR,
        open=8 * DOLLAR,
        unknown=2,
        priceless=1,
        compared=3,
        wrong=1,
    )


def test_groups_are_by_day_model_and_category():
    rows = [call(day=1), call(), call(model="n"), call(category="probe"), call()]

    keys = [key for key, _ in report(rows, lambda ms: str((ms - NOON) // DAY)).groups]
    assert keys == [("0", "m", "main"), ("0", "m", "probe"), ("0", "n", "main"), ("1", "m", "main")]


def test_the_table_can_be_read():
    rows = [
        call(),
        call(50, 100),
        call(cost=None, billed=None),
        call(cost=None, reserved=None, model="n"),
    ]

    assert as_text(rows, detail=False).splitlines() == [
        "day         model  category  calls  prompt  cached  reply                        cost",
        "2026-03-01  m      main          3     200      40     14              $2.00 to $7.00",
        "2026-03-01  n      main          1     100      20      7                     unknown",
        "total                            4     300      60     21  $2.00 to $7.00 and unknown",
        "predictions: 2 of 3 requests within 10 % of the bill, 1 further off",
        "cut off before they were billed: 1, at most $5.00",
        "to models whose price is not known: 1; set it under [prices] in the settings",
    ]
    assert as_text(rows, detail=True).splitlines()[:4] == [
        "time                 model  category  outcome   predicted  billed        reply         cost  price",
        "2026-03-01 12:00:00  m      main      complete        100     100            7        $1.00      ?",
        "2026-03-01 12:00:00  m      main      complete         50     100  +50%      7        $1.00      ?",
        "2026-03-01 12:00:00  m      main      complete        100       ?            ?  up to $5.00      ?",
    ]


def test_detail_tells_the_prices_that_were_applied():
    cheap = Price(Rates(DOLLAR // 2, 2 * DOLLAR, cached=DOLLAR // 4), "genai-prices")
    dear = Price(
        Rates(DOLLAR, 3 * DOLLAR), "the settings", ((200_000, Rates(2 * DOLLAR, 4 * DOLLAR)),)
    )
    rows = [priced(call(), cheap), priced(call(day=1), dear), priced(call(day=1), cheap), call()]

    lines = as_text(rows, detail=True).splitlines()
    assert [line.split()[-1] for line in lines[:5]] == ["price", "[1]", "[2]", "[1]", "?"]
    assert lines[5:7] == [
        "[1] m at e: prompt $0.50, cached $0.25, reply $2.00 per million tokens (genai-prices);"
        " applied since 2026-03-01",
        "[2] m at e: prompt $1.00, reply $3.00 per million tokens; above 200,000 prompt tokens"
        " prompt $2.00, reply $4.00 (the settings); applied since 2026-03-01",
    ]
    assert [shown["price"] for shown in as_object(rows, detail=True)["calls"]][1:] == [
        {
            "prompt": 1.0,
            "completion": 3.0,
            "cached": None,
            "cache_write": None,
            "tiers": [
                {
                    "above": 200_000,
                    "prompt": 2.0,
                    "completion": 4.0,
                    "cached": None,
                    "cache_write": None,
                }
            ],
            "source": "the settings",
            "since_ms": NOON,
        },
        {
            "prompt": 0.5,
            "completion": 2.0,
            "cached": 0.25,
            "cache_write": None,
            "tiers": [],
            "source": "genai-prices",
            "since_ms": NOON,
        },
        None,
    ]


def priced(row: StoredAttempt, price: Price) -> StoredAttempt:
    return replace(row, attempt=replace(row.attempt, price=price), price_since_ms=NOON)


@pytest.mark.parametrize(
    "since, expected",
    [
        pytest.param("2026-03-01", datetime(2026, 3, 1), id="a day"),
        pytest.param("24h", datetime(2026, 3, 9, 8), id="hours"),
        pytest.param("7d", datetime(2026, 3, 3, 8), id="days"),
        pytest.param("2w", datetime(2026, 2, 24, 8), id="weeks"),
    ],
)
def test_since(since, expected):
    assert moment(since, datetime(2026, 3, 10, 8)) == round(expected.timestamp() * 1000)


@pytest.mark.parametrize("since", ["yesterday", "3", "2026-13-01", ""])
def test_since_when(since):
    with pytest.raises(UsageError, match="neither a day nor a span"):
        moment(since, datetime(2026, 3, 10))


# --- Through the door ------------------------------------------------------------------------------

PRICES = '[prices."m"]\nprompt = 1000\ncompletion = 2000\n'


def settings(home, url: str, more: str = "") -> None:
    folder = home.folder.parent / "home" / ".config" / "sill"
    folder.mkdir(parents=True, exist_ok=True)
    general = f'base_url = "{url}/v1"\nmodel = "m"\nprobe = false\n'
    (folder / "sill.toml").write_text(general + more)


@pytest.mark.slow
def test_cost_over_all_chats_is_what_was_billed(home):
    with FaultProvider(ok("Hello"), [Reset()], ok("Hello")) as provider:
        settings(home, provider.url, PRICES)
        asked = [json.loads(home.sill("ask", "--json", "hi").stdout) for _ in range(3)]
        shown = json.loads(home.sill("cost", "--json", "--detail").stdout)
        text = home.sill("cost").stdout

        assert len(provider.seen) == len(shown["calls"]) == shown["total"]["calls"] == 3
    # 5 tokens of the prompt and 2 of the reply, in thousandths of a dollar
    assert [report["cost"] for report in asked] == [0.009, None, 0.009]
    assert shown["total"]["cost"] == 0.018
    assert (shown["total"]["unknown"], shown["total"]["open"] > 0) == (1, True)
    assert (shown["total"]["compared"], shown["total"]["wrong"]) == (2, 2)
    assert [call["outcome"] for call in shown["calls"]] == ["complete", "broken", "complete"]
    assert re.search(r"^total .* \$0.018 to ", text, re.MULTILINE)


@pytest.mark.slow
def test_a_question_that_could_cost_too_much_is_refused_and_leaves_no_trace(home):
    with FaultProvider(ok("Hello")) as provider:
        settings(home, provider.url, "limits.request = 0.01\n" + PRICES)
        done = home.sill("ask", "--json", "hi")
        after = home.sill("cost"), home.sill("explain")

        assert provider.seen == []
    report = json.loads(done.stdout)
    assert (done.returncode, report["outcome"], report["chat"]) == (1, "refused", None)
    assert "could cost $" in done.stderr and "$0.01" in done.stderr
    assert after[0].stdout == "nothing was sent yet\n"
    assert "no request was sent yet" in after[1].stderr


@pytest.mark.slow
def test_the_local_server_costs_nothing_and_cost_can_be_asked_in_the_chat(chosen):
    done = chosen.sill("chat", stdin="hello\n:cost\n:cost detail\n:quit\n")
    asked = json.loads(chosen.sill("ask", "--json", "again").stdout)
    total = json.loads(chosen.sill("cost", "--json").stdout)["total"]

    assert asked["cost"] == 0
    assert (total["cost"], total["calls"], total["wrong"]) == (0, 2, 0)
    assert re.search(r"^total +1 .*\$0.00$", done.stdout, re.MULTILINE)
    assert "predicted" in done.stdout


@pytest.mark.slow
def test_doctors_own_question_is_in_the_books(chosen):
    done = chosen.sill("doctor", "--json")
    checks = {check["what"]: check["text"] for check in json.loads(done.stdout)}

    async def ledger():
        place = chosen.folder.parent / "home" / ".local" / "share" / "sill" / "sill.db"
        store = await open_store(place)
        rows = await store.attempts()
        await store.close()
        return [(row.attempt.category, row.settlement.cost) for row in rows]

    assert "runs on this machine" in checks["price"]
    assert asyncio.run(ledger()) == [("probe", 0), ("probe", 0)]


@pytest.mark.slow
def test_doctor_lists_the_fallbacks_and_says_why_one_is_not_asked(home):
    with FaultProvider(ok("Hello")) as provider:
        far = '[[profile.chat.fallback]]\nbase_url = "https://far.example/v1"\nmodel = "f"\n'
        near = f'[[profile.chat.fallback]]\nbase_url = "{provider.url}/v1"\nmodel = "n"\n'
        settings(home, provider.url, far + near)
        done = home.sill("doctor", "--json")

        shown = [c["text"] for c in json.loads(done.stdout) if c["what"] == "fallback"]
        assert shown[1] == f"n at {provider.url}/v1"
    assert shown[0].startswith("f at https://far.example/v1: not asked, it is not on this machine")


CATEGORIES = ("main", "tool", "summarize", "recall", "title", "probe", "edit", "completion")


def test_every_category_can_be_booked_and_is_shown(tmp_path):
    workspace = Workspace(tmp_path)
    request = ChatRequest("first", (WireMessage("user", "hi"),), max_tokens=9)

    async def run(provider):
        async with workspace.open(endpoint(provider)) as app:
            for category in CATEGORIES:
                model = await app.booked(request, category, "some chat")
                _ = [event async for event in model.stream(request)]
            return await app.store.attempts(chat="some chat")

    with FaultProvider(ok("Hello")) as provider:
        rows = asyncio.run(run(provider))

    shown = as_text(rows, detail=False)
    assert [(row.attempt.category, row.settlement.usage.prompt) for row in rows] == [
        (category, 5) for category in CATEGORIES
    ]
    assert [line.split()[2] for line in shown.splitlines()[1:9]] == sorted(CATEGORIES)
