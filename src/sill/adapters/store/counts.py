"""Tokens of texts, by tokenizer: counted once, ever."""

from collections.abc import Mapping, Sequence

from ...core.messages import Fingerprint
from . import codec
from .contents import places
from .database import Transaction


async def known(
    transaction: Transaction, tokenizer: str, fingerprints: Sequence[Fingerprint]
) -> dict[Fingerprint, int]:
    row = await _tokenizer(transaction, tokenizer)
    found: dict[Fingerprint, int] = {}
    for start in range(0, len(fingerprints) if row else 0, 500):
        some = fingerprints[start : start + 500]
        for hash, tokens in await transaction.rows(
            "SELECT hash, tokens FROM counts"
            f" WHERE owner = ? AND tokenizer = ? AND hash IN ({places(some)})",
            transaction.owner,
            row,
            *map(codec.digest, some),
        ):
            found[codec.named(hash)] = tokens
    return found


async def remember(
    transaction: Transaction, tokenizer: str, counts: Mapping[Fingerprint, int]
) -> None:
    await transaction.run(
        "INSERT INTO tokenizers (owner, id) VALUES (?, ?) ON CONFLICT DO NOTHING",
        transaction.owner,
        tokenizer,
    )
    key = await _tokenizer(transaction, tokenizer)
    await transaction.many(
        "INSERT INTO counts (tokenizer, hash, owner, tokens) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (tokenizer, hash) DO UPDATE SET tokens = excluded.tokens",
        [
            (key, codec.digest(fingerprint), transaction.owner, tokens)
            for fingerprint, tokens in sorted(counts.items())
        ],
    )


async def _tokenizer(transaction: Transaction, tokenizer: str) -> int | None:
    row = await transaction.row(
        "SELECT key FROM tokenizers WHERE owner = ? AND id = ?", transaction.owner, tokenizer
    )
    return row[0] if row else None
