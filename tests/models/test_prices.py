import pytest

from sill.adapters.models.endpoints import parse_endpoint
from sill.adapters.models.prices import find_price
from sill.core.certificate import Usage
from sill.core.cost import FREE, Price, Rates, cost_of, rate
from sill.errors import SettingsError

OPENAI = parse_endpoint("https://api.openai.com/v1")
OWN = {"m": {"prompt": 1, "completion": "2.5", "cached": 0.1}}


def test_ones_own_price_goes_before_everything():
    assert find_price("m", OPENAI, OWN) == Price(
        Rates(rate(1), rate("2.5"), rate("0.1")), "your settings"
    )


def test_a_model_on_this_machine_is_free_whatever_its_name():
    assert find_price("gpt-4o-mini", parse_endpoint("http://127.0.0.1:8080")) == FREE


@pytest.mark.parametrize(
    "told",
    [
        pytest.param({"prompt": 1}, id="half a price"),
        pytest.param({"prompt": 1, "completion": 1, "input": 1}, id="an unknown field"),
        pytest.param({"prompt": -1, "completion": 1}, id="below nothing"),
        pytest.param({"prompt": "cheap", "completion": 1}, id="a word"),
    ],
)
def test_a_price_that_cannot_be_read_is_refused(told):
    with pytest.raises(SettingsError):
        find_price("m", OPENAI, {"m": told})


def test_an_unknown_price_is_not_nothing():
    unknown = parse_endpoint("https://models.example.com/v1")

    assert (find_price("gpt-4o-mini", unknown), find_price("no-such-model", OPENAI)) == (None, None)


def test_the_package_knows_common_models():
    prices = pytest.importorskip("genai_prices", reason="the package of prices is not installed")
    price = find_price("gpt-4o-mini", OPENAI)
    gemini = find_price(
        "gemini-2.5-pro", parse_endpoint("https://generativelanguage.googleapis.com/v1beta/openai")
    )

    assert price is not None
    assert gemini is not None
    assert price.source == f"genai-prices {prices.__version__} (openai)"
    for usage in (Usage(1000, 100), Usage(1000, 100, cached=500), Usage(300_000, 100)):
        for name, ours in (("gpt-4o-mini", price), ("gemini-2.5-pro", gemini)):
            theirs = prices.calc_price(
                prices.Usage(
                    input_tokens=usage.prompt,
                    output_tokens=usage.completion,
                    cache_read_tokens=usage.cached or 0,
                ),
                name,
            )
            assert cost_of(usage, ours) == int(theirs.total_price * 10**9)
