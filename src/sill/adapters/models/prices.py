"""What models cost, as the `genai-prices` package knows it. Its data is in the package: nothing is fetched."""

from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any

from ...core.cost import FREE, Price, Rates, rate
from ...errors import SettingsError
from .endpoints import Endpoint

_FIELDS = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok")
_OWN = ("prompt", "completion", "cached", "cache_write")


def load_package() -> None:
    """Import the package, which takes half a second: to be done in a thread while something else is awaited."""
    with suppress(ImportError):
        import genai_prices  # noqa: F401


def find_price(
    model: str, endpoint: Endpoint, own: Mapping[str, Mapping[str, object]] | None = None
) -> Price | None:
    """The price of ``model`` at ``endpoint``, or None if nobody knows it.

    ``own`` are the user's prices by model, in dollars per million tokens; they go before everything. A model on
    this machine is free whatever its name; at an endpoint the package does not know, the price is unknown.
    """
    if own and model in own:
        return own_price(model, own[model])
    if endpoint.is_local:
        return FREE
    return _from_package(model, endpoint.api)


def own_price(model: str, told: Mapping[str, object]) -> Price:
    """A price from the settings: ``{prompt = 0.15, completion = 0.6, cached = 0.075}``."""
    if unknown := set(told) - set(_OWN):
        raise SettingsError(
            f"the price of {model!r} has an unknown field {sorted(unknown)[0]!r}",
            hint=f"known are {', '.join(_OWN)}, in dollars per million tokens",
        )
    if missing := {"prompt", "completion"} - set(told):
        raise SettingsError(f"the price of {model!r} lacks {sorted(missing)[0]!r}")
    try:
        rates = {name: rate(value) for name, value in told.items()}
    except ValueError as error:
        raise SettingsError(f"the price of {model!r} cannot be read: {error}") from None
    return Price(Rates(**rates), "your settings")


def _from_package(model: str, url: str) -> Price | None:
    try:
        # Heavy to import, and needed only where money is.
        import genai_prices
    except ImportError:
        return None
    try:
        found = genai_prices.calc_price(
            genai_prices.Usage(input_tokens=1, output_tokens=1), model, provider_api_url=url
        )
    except (LookupError, ValueError):
        return None
    values = {name: getattr(found.model_price, name, None) for name in _FIELDS}
    if values["input_mtok"] is None or values["output_mtok"] is None:
        return None
    starts = sorted({start for value in values.values() for start in _starts(value)})
    return Price(
        _rates(values, 0),
        f"genai-prices {genai_prices.__version__} ({found.provider.id})",
        tuple((start, _rates(values, start + 1)) for start in starts),
    )


def _starts(value: Any) -> list[int]:
    return [tier.start for tier in getattr(value, "tiers", [])]


def _rates(values: Mapping[str, Any], prompt: int) -> Rates:
    prompt_rate, completion, cached, written = (_rate_at(values[name], prompt) for name in _FIELDS)
    assert prompt_rate is not None
    assert completion is not None
    return Rates(prompt_rate, completion, cached, written)


def _rate_at(value: Any, prompt: int) -> int | None:
    if value is None or isinstance(value, Decimal):
        return None if value is None else rate(value)
    price = value.base
    for tier in value.tiers:
        if prompt > tier.start:
            price = tier.price
    return rate(price)
