"""What a profile's settings say about requests: its numbers and its system prompt."""

from dataclasses import replace

from .. import prompts
from ..core.budget import PROFILES, Profile
from ..core.prompts import compose
from ..paths import config_dir
from ..settings import Settings


def system_prompt(settings: Settings, profile: str) -> str:
    """The profile's prompt; an unknown template is an error here, before the first message."""
    id = settings.of_profile(profile, "template", str) or profile
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
