"""What a profile's settings say about requests: its numbers and its system prompt."""

from dataclasses import fields, replace
from typing import TypeVar

from .. import prompts
from ..core.budget import PROFILES, Profile, Shares
from ..core.prompts import compose
from ..paths import config_dir
from ..settings import Settings

SMALL = "small"
Number = TypeVar("Number", int, float)


def system_prompt(settings: Settings, profile: str, *, is_tiny: bool = False) -> str:
    """The profile's prompt; an unknown template is an error here, before the first message.

    A tiny model is led astray by a long prompt: in a chat it gets one sentence, unless a template is set.
    """
    usual = SMALL if is_tiny and profile == "chat" else profile
    id = settings.of_profile(profile, "template", str) or usual
    text = prompts.template(id, prompts.load(config_dir() / "prompts"))
    return compose(text, {"INSTRUCTIONS": settings.get("instructions", str) or ""})


def shares_asked_for(settings: Settings, profile: str) -> tuple[tuple[str, float], ...]:
    """Shares that were given with the command, not by settings: a chat keeps them."""
    found = ((f.name, settings.value(f"profile.{profile}.share_{f.name}")) for f in fields(Shares))
    return tuple(
        (name, one.value)
        for name, one in found
        if one.origin == "flag" and isinstance(one.value, float)
    )


def profile_numbers(settings: Settings, profile: str) -> Profile:
    """The profile's own numbers where the settings have them, the shipped ones elsewhere."""
    shipped = PROFILES[profile]

    def own(key: str, usual: Number) -> Number:
        found = settings.of_profile(profile, key, type(usual))
        return usual if found is None else found

    # A reserve that somebody set is kept as it was set.
    asked = settings.of_profile(profile, "reply", int)
    least = settings.of_profile(profile, "reply_least", int)
    return replace(
        shipped,
        reply=own("reply", shipped.reply),
        reply_least=shipped.reply_least if asked is None and least is None else least,
        margin=own("margin", shipped.margin),
        system_cap=own("system_cap", shipped.system_cap),
        high=own("high_water", shipped.high),
        low=own("low_water", shipped.low),
        shares=Shares(
            **{
                f.name: own(f"share_{f.name}", getattr(shipped.shares, f.name))
                for f in fields(Shares)
            }
        ),
        temperature=own("temperature", shipped.temperature),
    )
