"""What a profile's settings say about requests: its numbers and its system prompt."""

from dataclasses import replace

from .. import prompts
from ..core.budget import PROFILES, Profile
from ..core.prompts import compose
from ..paths import config_dir
from ..settings import Settings

SMALL = "small"


def system_prompt(settings: Settings, profile: str, *, is_tiny: bool = False) -> str:
    """The profile's prompt; an unknown template is an error here, before the first message.

    A tiny model is led astray by a long prompt: in a chat it gets one sentence, unless a template is set.
    """
    usual = SMALL if is_tiny and profile == "chat" else profile
    id = settings.of_profile(profile, "template", str) or usual
    text = prompts.template(id, prompts.load(config_dir() / "prompts"))
    return compose(text, {"INSTRUCTIONS": settings.get("instructions", str) or ""})


def profile_numbers(settings: Settings, profile: str) -> Profile:
    """The profile's own numbers where the settings have them, the shipped ones elsewhere."""
    shipped = PROFILES[profile]
    temperature = settings.of_profile(profile, "temperature", float)
    return replace(
        shipped,
        reply=settings.of_profile(profile, "reply", int) or shipped.reply,
        system_cap=settings.of_profile(profile, "system_cap", int) or shipped.system_cap,
        high=settings.of_profile(profile, "high_water", float) or shipped.high,
        low=settings.of_profile(profile, "low_water", float) or shipped.low,
        temperature=shipped.temperature if temperature is None else temperature,
    )
