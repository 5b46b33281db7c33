"""Write the reference pages that follow from the code. `make test` fails where they are out of date."""

from pathlib import Path

from sill.settings import FALLBACK, PRICE, PROFILES, TABLE, Spec

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"

SETTINGS = """\
# Settings

Later wins: the default, the user's file (`$XDG_CONFIG_HOME/sill/sill.toml`, usually `~/.config/sill/sill.toml`), the
project's file (`sill.toml` in the folder or above it), environment variables, flags. `sill doctor` shows each value
that is set and where it came from. Unknown names are errors, so that a slip of the pen does not go unnoticed.

```toml
# sill.toml
base_url = "http://127.0.0.1:8080/v1"
model = "qwen3-8b"

[profile.chat]
reply = 2000
temperature = 0.3
```

A project's file may name a remote `base_url`, an `api_key`, a `database` or a `local_model`, allow a remote fallback,
or touch limits and prices only after one `sill trust` in that folder: such a file can come with somebody else's notes,
and it decides where your text goes and what may be spent. The trust holds for the file exactly as it was; a change
asks again. Loopback addresses need no trust.

## General

{general}

`base_url = "local"` chooses the bundled model. Without any `base_url`, Sill looks for a model server on the standard
ports of this machine (8080, 11434, 1234, 8000) and takes the bundled model if there is none.

## Profiles

One profile for each thing a model is used for: {profiles}. A profile's own value goes before the general one of the
same name. In a file they stand under `[profile.NAME]`; in the environment they are `LLM_NAME_SETTING`, for example
`LLM_CHAT_OPS_MODEL`.

{profile}

## Fallbacks

Endpoints that are asked, in their order, when a profile's own does not answer; see [Costs](../costs.md). In a file
only, any number of them; a project's list replaces the user's.

```toml
[[profile.chat.fallback]]
base_url = "https://openrouter.ai/api/v1"
model = "qwen/qwen3-8b"
api_key_env = "OPENROUTER_API_KEY"
```

{fallback}

## Prices

In dollars per million tokens, by the model's name at its endpoint; they go before the prices Sill knows.

```toml
[prices."qwen/qwen3-8b"]
prompt = 0.05
completion = 0.4
```

{price}
"""


def settings_page() -> str:
    general = {key: spec for key, spec in TABLE.items() if not key.startswith("profile.")}
    chat = "profile.chat."
    profile = {k.removeprefix(chat): s for k, s in TABLE.items() if k.startswith(chat)}
    return SETTINGS.format(
        general=table(general, with_env=True),
        profiles=", ".join(f"`{name}`" for name in PROFILES),
        profile=table(profile, with_env=False),
        fallback=table(FALLBACK, with_env=False),
        price=table(PRICE, with_env=False),
    )


def table(specs: dict[str, Spec], *, with_env: bool) -> str:
    names = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    head = "| setting | value | what it is |" + (" environment |" if with_env else "")
    lines = [head, "|---|---|---|" + ("---|" if with_env else "")]
    for key, spec in specs.items():
        kind = " or ".join(f"`{c}`" for c in spec.choices) or names[spec.kind]
        if spec.default is not None:
            kind += f", default `{str(spec.default).lower()}`"
        env = " " + ", ".join(f"`{name}`" for name in spec.env) + " |" if with_env else ""
        lines.append(f"| `{key}` | {kind} | {spec.help} |{env}")
    return "\n".join(lines)


PAGES = {"settings.md": settings_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page())
