"""OpenAI's API over Sill: any client that can be pointed at an address gets prompts that fit."""

from .routes import router

__all__ = ["router"]
