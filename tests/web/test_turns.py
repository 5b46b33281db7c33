"""Turns over HTTP: they belong to the server, and readers come and go."""

import asyncio

import pytest

from sill.app.running import MOST_READERS
from tests.engine.test_rounds_app import calls
from tests.engine.workspace import says
from tests.models.fault_provider import DONE, Hang, Pause, finished, head, said
from tests.web.serving import parse, serving, until


def texts(events):
    return "".join(event.data["text"] for event in events if event.name == "delta")


def test_an_answer_comes_as_events_with_ids(tmp_path):
    async def check():
        async with serving(tmp_path, says("Hello there")) as served:
            asked, events = await served.said("hi")

            assert [event.name for event in events] == ["started", "delta", "finished"]
            assert [event.id for event in events] == ["0.1", "11.1", "11.2"]
            assert texts(events) == "Hello there" == events[-1].data["text"]
            assert events[0].data["turn"] == events[-1].data["turn"] == asked["turn"]
            assert {event.data["kind"] for event in events} == {"started", "delta", "finished"}

    asyncio.run(check())


@pytest.mark.parametrize(
    "after, expected",
    [
        pytest.param("", ["started", "delta", "finished"], id="from the beginning"),
        pytest.param(
            "0", ["started", "delta", "finished"], id="a plain number is a mark in the text"
        ),
        pytest.param("0.1", ["delta", "finished"], id="after the start"),
        pytest.param("4.1", ["delta", "finished"], id="in the middle of the text"),
        pytest.param("11.1", ["finished"], id="after all of the text"),
    ],
)
def test_a_reader_goes_on_where_it_was(tmp_path, after, expected):
    async def check():
        async with serving(tmp_path, says("Hello there")) as served:
            asked, _ = await served.said("hi")
            live = await served.events(asked["turn"], after)
            served.service.turns._by_id.clear()  # as after a restart
            stored = await served.events(asked["turn"], after)

            for event in (live[-1], stored[-1]):
                del event.data["reply_tokens"]  # counted here, not stored
            assert [event.name for event in live] == expected
            assert live == stored
            assert texts(live) == "Hello there"[int(after.partition(".")[0] or 0) :]

    asyncio.run(check())


def test_a_turn_can_be_read_after_the_server_was_started_again(tmp_path):
    async def check():
        async with serving(tmp_path, says("Hello there")) as served:
            asked, before = await served.said("hi")
        async with serving(tmp_path) as served:
            after = await served.events(asked["turn"])
            rest = await served.events(asked["turn"], after="6.1")

        for event in (before[-1], after[-1]):
            del event.data["reply_tokens"]  # counted here, not stored
        assert after == before
        assert [(event.id, event.name) for event in rest] == [
            ("11.1", "delta"),
            ("11.2", "finished"),
        ]
        assert texts(rest) == "there"

    asyncio.run(check())


def test_an_answer_is_finished_when_nobody_reads_it(tmp_path):
    async def check():
        slow = [head(), said("Hel"), Pause(0.3), said("lo"), finished() + DONE]
        async with serving(tmp_path, slow) as served:
            asked = await served.ask("hi")
            async with served.http.stream("GET", asked["events"]) as stream:
                async for _ in stream.aiter_bytes():
                    break  # the tab is closed after the first event
            events = await served.events(asked["turn"])

            assert events[-1].data["outcome"] == "complete"
            assert texts(events) == "Hello"

    asyncio.run(check())


def test_a_chat_of_an_editor_is_no_chat_of_the_page(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            await served.http.post("/api/v1/editor/tools/t1/chat", json={"message": "hi"})
            (info,) = await served.service.store.chats()
            body = {"text": "hi", "chat": info.id}
            asked = await served.http.post("/api/v1/turns", json=body)
            planned = await served.http.post("/api/v1/plan", json=body)

            assert (asked.status_code, planned.status_code) == (404, 404)

    asyncio.run(check())


def test_two_readers_see_the_same(tmp_path):
    async def check():
        slow = [
            head(),
            *(step for n in range(6) for step in (said(f"{n} "), Pause(0.04))),
            finished() + DONE,
        ]
        async with serving(tmp_path, slow) as served:
            asked = await served.ask("hi")
            both = await asyncio.gather(*(served.events(asked["turn"]) for _ in range(2)))

            assert [texts(events) for events in both] == ["0 1 2 3 4 5 "] * 2
            assert both[0][-1] == both[1][-1]

    asyncio.run(check())


def test_stop_closes_the_connection_to_the_model_and_keeps_what_came(tmp_path):
    async def check():
        async with serving(tmp_path, [head(), said("Half of"), Hang()]) as served:
            asked = await served.ask("hi")
            async with served.http.stream("GET", asked["events"]) as stream:
                body = ""
                async for piece in stream.aiter_text():
                    body += piece
                    if "Half of" in body and "stopped" not in body:
                        stopped = await served.http.post(
                            f"/api/v1/turns/{asked['turn']}/stop", json={}
                        )
                        assert stopped.json() == {"stopped": True, "state": "stopped"}
            events = parse(body)
            hung_up = await asyncio.to_thread(served.provider.hung_up.wait, 5)
            again = await served.http.post(f"/api/v1/turns/{asked['turn']}/stop", json={})
            turn = (await served.http.get(f"/api/v1/turns/{asked['turn']}")).json()

            assert (events[-1].data["outcome"], events[-1].data["text"]) == ("cancelled", "Half of")
            assert hung_up
            assert again.json() == {"stopped": False, "state": "ended"}
            assert (turn["status"], turn["answer"]) == ("cancelled", "Half of")

    asyncio.run(check())


def test_a_second_question_in_a_busy_chat_is_a_conflict(tmp_path):
    async def check():
        async with serving(tmp_path, [head(), said("Half"), Hang()]) as served:
            asked = await served.ask("hi")
            second = await served.http.post(
                "/api/v1/turns", json={"text": "and?", "chat": asked["chat"]}
            )
            chat = (await served.http.get(f"/api/v1/chats/{asked['chat']}")).json()
            removed = await served.http.delete(f"/api/v1/chats/{asked['chat']}")

            assert (second.status_code, second.json()["code"]) == (409, "busy")
            assert (removed.status_code, removed.json()["code"]) == (409, "busy")
            assert chat["busy"] is True
            await served.http.post(f"/api/v1/turns/{asked['turn']}/stop", json={})

    asyncio.run(check())


def test_chats_are_answered_side_by_side_and_stopped_one_by_one(tmp_path):
    async def check():
        async with serving(tmp_path, [head(), said("Half"), Hang()]) as served:
            first, second = [await served.ask("hi") for _ in range(2)]
            await served.http.post(f"/api/v1/turns/{first['turn']}/stop", json={})
            ended = await served.events(first["turn"])
            still = served.service.turns.find("local", second["turn"])

            assert ended[-1].data["outcome"] == "cancelled"
            assert still is not None and not still.is_ended
            await served.http.post(f"/api/v1/turns/{second['turn']}/stop", json={})
            assert (await served.events(second["turn"]))[-1].data["outcome"] == "cancelled"

    asyncio.run(check())


def test_a_question_that_cannot_fit_is_refused_and_leaves_nothing(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            answer = await served.http.post("/api/v1/turns", json={"text": "word " * 9000})
            body = answer.json()

            assert (answer.status_code, body["code"]) == (422, "over_budget")
            assert body["needed"] > body["available"] > 0
            assert (await served.http.get("/api/v1/chats")).json() == {"chats": []}
            assert served.provider.seen == []

    asyncio.run(check())


def test_too_many_answers_at_once_are_refused_with_a_time_to_come_back(tmp_path):
    async def check():
        async with serving(tmp_path, [head(), said("Half"), Hang()]) as served:
            served.service.turns.most = 2
            turns = [await served.ask("hi") for _ in range(2)]
            third = await served.http.post("/api/v1/turns", json={"text": "hi"})

            assert (third.status_code, third.json()["code"]) == (503, "too_many_streams")
            assert int(third.headers["retry-after"]) > 0
            for asked in turns:
                await served.http.post(f"/api/v1/turns/{asked['turn']}/stop", json={})
            ends = [(await served.events(asked["turn"]))[-1].name for asked in turns]
            assert ends == ["finished", "finished"]

    asyncio.run(check())


def test_text_comes_at_most_twenty_times_a_second_and_whole(tmp_path):
    pieces = [f"{number} " for number in range(400)]

    async def check():
        fast = [
            head(),
            *(said(piece) for piece in pieces),
            finished() + DONE,
        ]
        async with serving(tmp_path, fast) as served:
            _, events = await served.said("hi")
            took = events[-1].data["took_ms"] / 1000
            deltas = [event for event in events if event.name == "delta"]

            assert texts(events) == "".join(pieces)
            # A fast model is known as one after twenty pieces.
            assert len(deltas) <= min(20 * took + 21, len(pieces) / 2)

    asyncio.run(check())


def test_so_many_may_read_along_and_no_more(tmp_path):
    async def check():
        async with serving(tmp_path, [head(), said("Half of"), Hang()]) as served:
            asked = await served.ask("hi")
            running = served.service.turns.find("local", asked["turn"])
            running.readers += MOST_READERS
            refused = await served.http.get(asked["events"])
            running.readers -= 1
            async with served.http.stream("GET", asked["events"]) as stream:
                return refused.status_code, refused.headers["retry-after"], stream.status_code

    assert asyncio.run(check()) == (503, "5", 200)


def test_half_a_character_of_a_model_breaks_nothing(tmp_path):
    """Some servers cut characters beyond the first plane in two; alone, a half can be neither sent nor stored."""

    async def check():
        broken = says("thumbs \ud83d", "\udc4d and \udfff")
        async with serving(tmp_path, broken, says("fine")) as served:
            asked, events = await served.said("hi")
            _, more = await served.said("and now?", chat=asked["chat"])
            stored = await served.http.get(f"/api/v1/turns/{asked['turn']}")

            assert events[-1].data["text"] == "thumbs 👍 and \ufffd" == stored.json()["answer"]
            assert more[-1].data["text"] == "fine"

    asyncio.run(check())


def test_words_before_a_tool_are_read_the_same_live_and_from_the_store(tmp_path):
    asks, *rest = calls("read_document", {"path": "Shopping.md"})
    looking = [asks, said("Let me look."), *rest]

    async def check():
        async with serving(tmp_path, looking, says("Milk and bread.")) as served:
            asked, live = await served.said("what is on the list?")
        async with serving(tmp_path) as served:
            again = await served.events(asked["turn"])
            from_within = await served.events(asked["turn"], "5.1")

        words = "Let me look.\n\nMilk and bread."
        assert texts(live) == texts(again) == words == live[-1].data["text"]
        assert texts(from_within) == words[5:]

    asyncio.run(check())


def test_shutting_down_ends_streams_and_keeps_what_came(tmp_path):
    async def check():
        async with serving(tmp_path, [head(), said("Half of"), Hang()]) as served:
            asked = await served.ask("hi")
            reading = asyncio.create_task(served.events(asked["turn"]))
            [running] = served.service.turns.running
            await until(lambda: running.readers > 0 and running.text == "Half of")
            served.site.stop()
            events = await reading
        async with serving(tmp_path) as served:
            turn = (await served.http.get(f"/api/v1/turns/{asked['turn']}")).json()
            resumed = await served.events(asked["turn"], events[-2].id)
            history = (await served.http.get(f"/api/v1/chats/{asked['chat']}/turns")).json()

        told = ("finished", "interrupted", "the server was stopped; what came is kept", "Half of")
        assert _ending(events[-1]) == told
        assert [_ending(event) for event in resumed] == [told]
        assert history["head"] == asked["turn"]  # what came counts as said
        assert [e.data["text"] for e in events if e.name == "notice"] == [
            "the server is shutting down; what came is kept"
        ]
        assert (turn["status"], turn["answer"]) == ("interrupted", "Half of")

    asyncio.run(check())


def _ending(event):
    data = event.data
    return event.name, data["outcome"], data["reason"], data["text"]


def test_a_question_is_planned_without_being_sent(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            body = {
                "text": "what about [[Shopping]] and [[Nowhere]]?",
                "files": ["code/run.py", "gone.md"],
            }
            planned = (await served.http.post("/api/v1/plan", json=body)).json()

            assert planned["fits"] is True
            assert planned["needed"] <= planned["plan"]["tokens"] <= planned["available"]
            assert {file["path"] for file in planned["files"]} == {"Shopping.md", "code/run.py"}
            assert {link["path"] for link in planned["links"]} == {"Shopping.md", None}
            assert planned["refused"] == ["gone.md: there is no such file"]
            assert served.provider.seen == []
            assert (await served.http.get("/api/v1/chats")).json() == {"chats": []}

    asyncio.run(check())


def test_a_turn_shows_what_was_hidden_and_the_exact_request(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            asked, _ = await served.said("what about [[Shopping]]?")
            turn = (await served.http.get(f"/api/v1/turns/{asked['turn']}")).json()
            request = await served.http.get(f"/api/v1/turns/{asked['turn']}/request")
            missing = await served.http.get(f"/api/v1/turns/{asked['turn']}/request?number=2")
            context = (await served.http.get(f"/api/v1/chats/{asked['chat']}/context")).json()

            assert [(m["role"], m["hidden"], m["label"], m["path"]) for m in turn["messages"]] == [
                ("assistant", True, "file", "Shopping.md"),
                ("user", False, "", None),
                ("assistant", False, "", None),
            ]
            assert turn["plan"] == context
            assert request.content == served.provider.seen[-1].body
            assert missing.status_code == 404

    asyncio.run(check())


def test_a_question_asked_again_or_differently_stands_beside_the_first(tmp_path):
    async def check():
        async with serving(tmp_path, says("one"), says("two"), says("three")) as served:
            first, _ = await served.said("what about [[Shopping]]?")
            again = (
                await served.http.post(f"/api/v1/turns/{first['turn']}/regenerate", json={})
            ).json()
            await served.events(again["turn"])
            other = (
                await served.http.post(
                    f"/api/v1/turns/{first['turn']}/edit", json={"text": "other?"}
                )
            ).json()
            await served.events(other["turn"])
            turns = (await served.http.get(f"/api/v1/chats/{first['chat']}/turns")).json()
            back = await served.http.post(
                f"/api/v1/chats/{first['chat']}/branch", json={"turn": first["turn"]}
            )

            assert [
                (t["question"], t["answer"], t["parent"], t["on_path"]) for t in turns["turns"]
            ] == [
                ("what about [[Shopping]]?", "one", None, False),
                ("what about [[Shopping]]?", "two", None, False),
                ("other?", "three", None, True),
            ]
            assert turns["head"] == other["turn"]
            assert back.json()["head"] == first["turn"]

    asyncio.run(check())
