"""What accounts promise: in memory, on SQLite and on a real PostgreSQL server."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from sill.adapters.store import open_store
from sill.adapters.store.accounts import DatabaseAccounts
from sill.core.access import Rate
from sill.errors import UsageError
from sill.ports import Accounts
from sill.testing import MemoryAccounts
from tests.store.servers import new_postgres  # noqa: F401

Check = Callable[[Accounts], Coroutine[Any, Any, None]]
KINDS = [
    pytest.param("memory", id="memory"),
    pytest.param("sqlite", id="sqlite"),
    pytest.param("postgres", id="postgres", marks=pytest.mark.slow),
]


@pytest.fixture(params=KINDS)
def keep(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Check], None]:
    """Runs a check against new accounts."""

    async def body(check: Check) -> None:
        if request.param == "memory":
            await check(MemoryAccounts())
            return
        place = (
            tmp_path / "sill.db"
            if request.param == "sqlite"
            else request.getfixturevalue("new_postgres")()
        )
        store = await open_store(place)
        try:
            await check(DatabaseAccounts(store.database))
        finally:
            await store.close()

    def run(check: Check) -> None:
        if request.param == "postgres":
            request.getfixturevalue("new_postgres")
        asyncio.run(body(check))

    return run


def later(milliseconds):
    return time.time_ns() // 1_000_000 + milliseconds


def test_users_come_back_by_name_and_by_id(keep):
    async def check(accounts):
        bob = await accounts.add_user("bob", "viewer")
        ann = await accounts.add_user("ann", "admin", "hash")

        assert [user.name for user in await accounts.users()] == ["ann", "bob"]
        assert await accounts.user(bob.id) == bob
        assert await accounts.named("ann") == (ann, "hash")
        assert (ann.has_password, bob.has_password) == (True, False)
        assert await accounts.user("nobody") is None
        assert await accounts.named("nobody") is None

    keep(check)


def test_a_name_is_given_once(keep):
    async def check(accounts):
        await accounts.add_user("ann", "admin")
        with pytest.raises(UsageError, match="ann"):
            await accounts.add_user("ann", "viewer")

        assert [user.role for user in await accounts.users()] == ["admin"]

    keep(check)


def test_a_token_opens_for_its_user_until_it_is_taken_back(keep):
    async def check(accounts):
        ann = await accounts.add_user("ann", "contributor")
        bob = await accounts.add_user("bob", "viewer")
        token = await accounts.add_token(ann.id, "hash-a", "laptop")
        await accounts.add_token(bob.id, "hash-b", "phone")
        await accounts.add_token(ann.id, "hash-old", "old", later(-1))

        assert await accounts.bearer("hash-a") == ann
        assert await accounts.bearer("hash-b") == bob
        assert await accounts.bearer("hash-old") is None
        assert await accounts.bearer("hash-c") is None
        assert [one.label for one in await accounts.tokens(bob.id)] == ["phone"]
        assert (await accounts.tokens(bob.id))[0].used_ms is not None

        assert await accounts.remove_token(token.id)
        assert not await accounts.remove_token(token.id)
        assert await accounts.bearer("hash-a") is None

    keep(check)


def test_sessions_end_with_time_with_a_new_password_and_with_the_user(keep):
    async def check(accounts):
        ann = await accounts.add_user("ann", "contributor", "old")
        bob = await accounts.add_user("bob", "contributor", "old")
        for user, name in ((ann, "a"), (ann, "b"), (bob, "c")):
            await accounts.add_session(user.id, name, later(60_000))
        await accounts.add_session(ann.id, "past", later(-1))

        assert await accounts.session("a") == ann
        assert await accounts.session("past") is None
        await accounts.end_session("a")
        assert (await accounts.session("a"), await accounts.session("b")) == (None, ann)
        await accounts.change_user(ann.id, password="new")
        assert await accounts.session("b") is None
        assert await accounts.session("c") == bob
        await accounts.add_token(bob.id, "t", "")
        await accounts.remove_user(bob.id)
        assert await accounts.session("c") is None
        assert await accounts.bearer("t") is None
        assert [user.name for user in await accounts.users()] == ["ann"]

    keep(check)


def test_a_changed_role_holds_at_once(keep):
    async def check(accounts):
        ann = await accounts.add_user("ann", "admin")
        await accounts.add_session(ann.id, "a", later(60_000))
        await accounts.change_user(ann.id, role="viewer")

        assert (await accounts.session("a")).role == "viewer"

    keep(check)


def test_a_rate_grants_its_burst_and_then_says_how_long_to_wait(keep):
    async def check(accounts):
        ann = await accounts.add_user("ann", "contributor")
        rate = Rate(per_minute=1, burst=3)
        waits = [await accounts.take(ann.id, "turns", rate) for _ in range(5)]

        assert waits[:3] == [0, 0, 0]
        assert all(50_000 < wait <= 60_001 for wait in waits[3:])
        assert await accounts.take(ann.id, "logins", rate) == 0

    keep(check)


def test_only_so_many_are_in_at_once(keep):
    async def check(accounts):
        ann = await accounts.add_user("ann", "contributor")
        entered = await asyncio.gather(
            *(accounts.enter(ann.id, "streams", 3, 60_000) for _ in range(8))
        )
        places = [place for place in entered if place is not None]

        assert len(places) == 3
        await accounts.leave(places[0])
        assert await accounts.enter(ann.id, "streams", 3, 60_000) is not None
        assert await accounts.enter(ann.id, "streams", 3, 60_000) is None

    keep(check)


def test_what_somebody_holds_a_place_of_is_known(keep):
    async def check(accounts):
        ann = await accounts.add_user("ann", "contributor")
        await accounts.enter(ann.id, "stop:1", 1, 60_000)
        await accounts.enter(ann.id, "stop:2", 1, -1)

        assert await accounts.taken(["stop:1", "stop:2", "stop:3"]) == {"stop:1"}
        assert await accounts.taken([]) == set()

    keep(check)


def test_a_place_that_is_not_renewed_is_free_again(keep):
    async def check(accounts):
        ann = await accounts.add_user("ann", "contributor")
        gone = await accounts.enter(ann.id, "streams", 2, -1)
        held = await accounts.enter(ann.id, "streams", 2, -1)
        assert gone is not None and held is not None
        await accounts.renew(held, 60_000)

        assert await accounts.enter(ann.id, "streams", 2, 60_000) is not None

    keep(check)
