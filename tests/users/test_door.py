"""Logging in, tokens, roles, limits, and being sent away."""

import asyncio
import time

import httpx
import pytest

from sill.app.accounts import accounts_of, digest, hash_password, is_password
from sill.app.build import Ground
from sill.app.service import open_service
from sill.core.access import Rate
from sill.errors import UsageError
from sill.settings import load
from sill.web.server import Address, bind
from sill.web.shared import Public, check_accounts, open_shared_site
from sill.web.watch import STOP_EVERY, PerUser
from tests.engine.workspace import says
from tests.models.fault_provider import FaultProvider, Hang, head, said

from .shared import HTTPS, NAME, PASSWORD, run, shared

PEOPLE = {"ann": "admin", "bob": "contributor", "vic": "viewer"}
FLAGS = {
    "probe": False,
    "tokenizer": "o200k_base",
    "model": "first",
    "window": 4096,
    "embedder": "none",
}
QUESTION = {"model": "sill", "messages": [{"role": "user", "content": "hello"}]}
PAGE = {"origin": HTTPS, "sec-fetch-site": "same-origin", "x-requested-by": "sill"}


def over(provider):
    return {**FLAGS, "base_url": provider.url + "/v1"}


async def logged_in(place, name="bob", password=PASSWORD):
    """A browser after the form: its answer, and the client with the cookie."""
    client = place.client()
    form = {"name": name, "password": password}
    return await client.post("/login", data=form, headers={"origin": HTTPS}), client


def test_name_and_password_give_a_cookie_that_opens(tmp_path):
    async def check():
        async with shared(tmp_path, PEOPLE, FLAGS) as place:
            answer, client = await logged_in(place)
            session = await client.get("/api/v1/session")
            return answer, session.json(), place.users["bob"].id

    answer, session, bob = run(check())

    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-sill=")
    for part in ("HttpOnly", "Secure", "SameSite=strict", "Path=/"):
        assert part.lower() in cookie.lower()
    assert (session["owner"], session["role"], session["multi_user"]) == (bob, "contributor", True)


def test_a_person_who_is_not_logged_in_is_sent_to_the_form_and_a_program_is_told(tmp_path):
    async def check():
        async with shared(tmp_path, PEOPLE, FLAGS) as place, place.client() as client:
            person = await client.get("/", headers={"accept": "text/html"})
            program = await client.get("/api/v1/chats")
            form = await client.get("/login")
            return person, program.status_code, form

    person, program, form = run(check())

    assert (person.status_code, person.headers["location"]) == (303, "/login")
    assert program == 401
    assert 'type="password"' in form.text
    # Else browsers send the form with `Origin: null`, which is nobody's.
    assert '<meta name="referrer" content="same-origin">' in form.text


@pytest.mark.parametrize(
    "name, password",
    [
        pytest.param("bob", "wrong password", id="wrong password"),
        pytest.param("nobody", PASSWORD, id="unknown name"),
        pytest.param("", "", id="nothing"),
        pytest.param("bob", "", id="no password"),
        pytest.param("b\x00b", PASSWORD, id="not a name"),
    ],
)
def test_what_does_not_go_together_gives_nothing(tmp_path, name, password):
    async def check():
        async with shared(tmp_path, PEOPLE, FLAGS) as place:
            answer, _ = await logged_in(place, name, password)
            return answer

    answer = run(check())

    assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)


def test_a_user_without_a_password_cannot_log_in(tmp_path):
    async def check():
        async with shared(tmp_path, PEOPLE, FLAGS) as place:
            await place.accounts.add_user("tok", "viewer")
            return [(await logged_in(place, "tok", word))[0].status_code for word in ("", "x" * 12)]

    assert run(check()) == [401, 401]


def test_guessing_is_slowed_down_for_the_account_and_the_address(tmp_path):
    async def check():
        async with shared(tmp_path, PEOPLE, FLAGS) as place:
            tries = [
                (await logged_in(place, "bob", "guess guess"))[0].status_code for _ in range(7)
            ]
            return tries, (await logged_in(place, "ann"))[0].status_code

    tries, other = run(check())

    assert tries == [401] * 5 + [429] * 2
    assert other == 429  # from the same address


def test_another_sites_form_cannot_log_anybody_in(tmp_path):
    async def check():
        async with shared(tmp_path, PEOPLE, FLAGS) as place, place.client() as client:
            form = {"name": "bob", "password": PASSWORD}
            foreign = {"origin": "https://evil.test", "sec-fetch-site": "cross-site"}
            return await client.post("/login", data=form, headers=foreign)

    assert run(check()).status_code == 403


@pytest.mark.parametrize(
    "headers, status",
    [
        pytest.param({**PAGE, "content-type": "application/json"}, 201, id="our page"),
        pytest.param({"content-type": "application/json"}, 403, id="without any sign of our page"),
        pytest.param({**PAGE, "content-type": "text/plain"}, 403, id="a simple form"),
        pytest.param({**PAGE, "x-requested-by": "else", "content-type": "application/json"}, 403, id="no header"),
    ],
)  # fmt: skip
def test_a_write_with_a_cookie_must_come_from_our_page(tmp_path, headers, status):
    async def check():
        async with shared(tmp_path, PEOPLE, FLAGS) as place:
            _, client = await logged_in(place)
            return (await client.post("/api/v1/chats", content=b"{}", headers=headers)).status_code

    assert run(check()) == status


def test_logging_out_ends_the_session(tmp_path):
    async def check():
        async with shared(tmp_path, PEOPLE, FLAGS) as place:
            _, client = await logged_in(place)
            json = {**PAGE, "content-type": "application/json"}
            before = (await client.get("/api/v1/session")).status_code
            await client.post("/api/v1/logout", content=b"{}", headers=json)
            return before, (await client.get("/api/v1/session")).status_code

    assert run(check()) == (200, 401)


def test_roles_hold_on_every_door(tmp_path):
    async def check(provider):
        async with shared(tmp_path, PEOPLE, over(provider)) as place:
            found = {}
            for name in PEOPLE:
                async with place.client(name) as client:
                    found[name] = [
                        (await client.get("/api/v1/chats")).status_code,
                        (await client.post("/api/v1/chats", json={})).status_code,
                        (await client.post("/v1/chat/completions", json=QUESTION)).status_code,
                        (await client.post("/v1/embeddings", json={"input": "hi"})).status_code,
                        (await client.get("/api/v1/settings")).status_code,
                    ]
            return found

    with FaultProvider(says("hi")) as provider:
        assert run(check(provider)) == {
            "ann": [200, 201, 200, 404, 200],
            "bob": [200, 201, 200, 404, 403],
            "vic": [200, 403, 403, 403, 403],
        }


def test_a_token_that_was_taken_back_opens_nothing(tmp_path):
    async def check():
        async with shared(tmp_path, PEOPLE, FLAGS) as place, place.client("bob") as client:
            before = (await client.get("/api/v1/chats")).status_code
            token = (await place.accounts.tokens(place.users["bob"].id))[0]
            await place.accounts.remove_token(token.id)
            return before, (await client.get("/api/v1/chats")).status_code

    assert run(check()) == (200, 401)


# --- Limits --------------------------------------------------------------------------------------


def test_questions_have_a_rate_and_others_are_not_slowed(tmp_path):
    per_user = PerUser(turns=Rate(per_minute=1, burst=2))

    async def check(provider):
        people = {**PEOPLE, "eve": "contributor"}
        async with (
            shared(tmp_path, people, over(provider), per_user) as place,
            place.client("bob") as bob,
            place.client("eve") as eve,
        ):
            answers = [await bob.post("/v1/chat/completions", json=QUESTION) for _ in range(3)]
            other = await eve.post("/v1/chat/completions", json=QUESTION)
            looking = await bob.get("/api/v1/chats")
        return answers, other.status_code, looking.status_code

    with FaultProvider(says("hi")) as provider:
        answers, other, looking = run(check(provider))

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
    assert (other, looking) == (200, 200)


def test_only_so_many_answers_at_once(tmp_path):
    async def check(provider):
        async with (
            shared(tmp_path, PEOPLE, over(provider), PerUser(streams=2)) as place,
            place.client("bob") as client,
        ):
            going = [
                asyncio.create_task(client.post("/v1/chat/completions", json=QUESTION))
                for _ in range(2)
            ]
            await asyncio.to_thread(_until, lambda: len(provider.seen) == 2)
            refused = await client.post("/v1/chat/completions", json=QUESTION)
            for task in going:
                task.cancel()
            await asyncio.gather(*going, return_exceptions=True)
            return refused

    with FaultProvider([head(), said("slow"), Hang()]) as provider:
        refused = run(check(provider))

    assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")


def test_starts_at_the_same_moment_do_not_share_a_place(tmp_path):
    """A question's place is held until its answer ends, not until its request does."""

    async def check(provider):
        flags = {**over(provider), "profile.chat.tools": "false"}
        async with (
            shared(tmp_path, PEOPLE, flags, PerUser(streams=3)) as place,
            place.client("bob") as bob,
        ):

            async def ask():
                return await bob.post("/api/v1/turns", json={"text": "hello"})

            first = await ask()
            many = await asyncio.gather(*(ask() for _ in range(6)))
            turns = [one.json()["turn"] for one in (first, *many) if one.status_code == 202]
            for turn in turns:
                await bob.post(f"/api/v1/turns/{turn}/stop")
            again = await asyncio.gather(*(ask() for _ in range(4)))
            return [[one.status_code for one in some] for some in ([first], many, again)]

    with FaultProvider([head(), said("slow"), Hang()]) as provider:
        first, many, again = run(check(provider))

    assert (first, sorted(many)) == ([202], [202, 202, 429, 429, 429, 429])
    assert sorted(again) == [202, 202, 202, 429]


def _until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_only_its_owner_can_stop_a_turn(tmp_path):
    async def check(provider):
        people = {**PEOPLE, "eve": "admin"}
        flags = {**over(provider), "profile.chat.tools": "false"}
        async with (
            shared(tmp_path, people, flags) as place,
            place.client("bob") as bob,
            place.client("eve") as eve,
        ):
            turn = (await bob.post("/api/v1/turns", json={"text": "hello"})).json()["turn"]
            foreign = (await eve.post(f"/api/v1/turns/{turn}/stop")).status_code
            await asyncio.sleep(3 * STOP_EVERY)
            running = [one.stop.is_set() for one in place.service.turns.running]
            own = (await bob.post(f"/api/v1/turns/{turn}/stop")).json()
            return foreign, running, own

    with FaultProvider([head(), said("slow"), Hang()]) as provider:
        assert run(check(provider)) == (404, [False], {"stopped": True, "state": "stopped"})


def test_each_user_has_a_day_of_their_own(tmp_path):
    """The price of one call is more than half of the day's limit: a second one does not fit."""
    toml = {"prices.first.prompt": 0.0, "prices.first.completion": 100.0, "limits.day": 0.15}
    question = {**QUESTION, "max_tokens": 1000}

    async def check(provider):
        people = {**PEOPLE, "eve": "contributor"}
        async with (
            shared(tmp_path, people, {**over(provider), **toml}) as place,
            place.client("bob") as bob,
            place.client("eve") as eve,
        ):
            return [
                (await client.post("/v1/chat/completions", json=question)).status_code
                for client in (bob, bob, eve)
            ]

    with FaultProvider(says("hi", prompt=1, completion=1000)) as provider:
        assert run(check(provider)) == [200, 402, 200]


@pytest.mark.parametrize("how", ["removed", "demoted"])
def test_answers_end_whose_owner_was_sent_away_while_nobody_reads(tmp_path, how):
    async def check(provider):
        flags = {**over(provider), "profile.chat.tools": "false"}
        async with shared(tmp_path, PEOPLE, flags) as place, place.client("bob") as bob:
            await bob.post("/api/v1/turns", json={"text": "hello"})
            id = place.users["bob"].id
            if how == "removed":
                await place.accounts.remove_user(id)
            else:
                await place.accounts.change_user(id, role="viewer")
            return await asyncio.to_thread(provider.hung_up.wait, 60)

    with FaultProvider([head(), said("slow"), Hang()]) as provider:
        assert run(check(provider))


# --- Being sent away -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("how", ["removed", "token", "demoted"])
def test_who_is_sent_away_loses_an_open_stream(tmp_path, how):
    """On a real socket: the stream ends by itself while the model would still speak for ever."""

    async def check(provider):
        settings = load(
            user_file=tmp_path / "none.toml",
            project_file=None,
            environment={},
            flags={**over(provider), "database": str(tmp_path / "sill.db")},
        )
        async with open_service(Ground(settings, tmp_path, lambda _: None)) as service:
            accounts = accounts_of(service.store)
            bob = await accounts.add_user("bob", "contributor")
            token = await accounts.add_token(bob.id, digest("secret"), "")
            listening = bind(Address(0))
            port = listening.getsockname()[1]
            public = Public((f"127.0.0.1:{port}",), behind_proxy=True)
            site = open_shared_site(service, public, listening, grace=0)
            up = asyncio.Event()
            serving = asyncio.create_task(site.serve(up.set))
            await up.wait()
            try:
                return await _stream(f"http://127.0.0.1:{port}", accounts, bob, token)
            finally:
                site.stop()
                await serving

    async def _stream(url, accounts, bob, token):
        headers = {"authorization": "Bearer secret"}
        body = {**QUESTION, "stream": True}
        async with (
            httpx.AsyncClient(trust_env=False, headers=headers, timeout=120) as client,
            client.stream("POST", url + "/v1/chat/completions", json=body) as answer,
        ):
            assert answer.status_code == 200
            lines = answer.aiter_lines()
            await anext(lines)
            match how:
                case "removed":
                    await accounts.remove_user(bob.id)
                case "token":
                    await accounts.remove_token(token.id)
                case _:
                    await accounts.change_user(bob.id, role="viewer")
            async with asyncio.timeout(60):
                return [line async for line in lines]

    with FaultProvider([head(), said("never ending"), Hang()]) as provider:
        lines = run(check(provider))
        assert provider.hung_up.wait(60)

    assert "data: [DONE]" not in lines


# --- Before it starts ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "public, problem",
    [
        pytest.param(Public(()), "under which name", id="no name"),
        pytest.param(Public((NAME,)), "TLS", id="no TLS"),
        pytest.param(Public((NAME,), behind_proxy=True), None, id="behind a proxy"),
    ],
)
def test_a_server_that_would_send_passwords_in_the_clear_does_not_start(public, problem):
    if problem is None:
        public.check()
        return
    with pytest.raises(UsageError, match=problem):
        public.check()


def test_without_an_admin_who_can_log_in_it_does_not_start(tmp_path):
    async def check():
        async with shared(tmp_path, {"bob": "contributor"}, FLAGS) as place:
            await place.accounts.add_user("tok", "admin")
            with pytest.raises(UsageError, match="admin"):
                await check_accounts(place.accounts)
            await place.accounts.add_user("ann", "admin", "hash")
            await check_accounts(place.accounts)

    run(check())


def test_passwords_are_kept_as_argon2_and_nothing_else():
    async def check():
        hashed = await hash_password(PASSWORD)
        return (
            hashed,
            await is_password(hashed, PASSWORD),
            await is_password(hashed, PASSWORD + "x"),
        )

    hashed, right, wrong = run(check())

    assert hashed.startswith("$argon2id$")
    assert (right, wrong) == (True, False)
    assert run(is_password("", PASSWORD)) is False


def test_secrets_are_nowhere_in_the_database(tmp_path):
    async def check():
        async with shared(tmp_path, PEOPLE, FLAGS) as place:
            _, client = await logged_in(place)
            cookie = client.cookies["__Host-sill"]
            return [cookie, PASSWORD, *place.tokens.values()]

    secrets = run(check())
    kept = b"".join(file.read_bytes() for file in tmp_path.glob("sill.db*"))

    assert [secret for secret in secrets if secret.encode() in kept] == []


def test_the_port_can_be_part_of_the_name():
    rules = Public((NAME,), behind_proxy=True).rules(8437)

    assert rules.hosts == {NAME, f"{NAME}:8437"}
