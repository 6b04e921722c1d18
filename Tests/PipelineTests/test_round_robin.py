"""Two gateways behind a proxy that sends every request to the other one than the last: no session sticks anywhere."""

import concurrent.futures
import json
import signal

import pytest
import requests

from app import POLLING, UPGRADE, App, fence, previews_at
from clients.steps import on_the_loop
from clients.wire import Failed, Wire
from pipeline import Overdue, eventually
from proxy import Proxy

TRANSPORTS = {"polling": POLLING, "upgrade": UPGRADE}


@pytest.fixture(scope="module")
def proxy(double):
    with Proxy(double.urls).running() as proxy:
        yield proxy


def relayed(double):
    """What each gateway relayed so far: (requests, failures)."""
    figures = [double.metrics("gateway", index) for index in range(2)]
    return [
        (figure["touchsync_gateway_relayed_requests_total"], figure["touchsync_gateway_relay_failures_total"])
        for figure in figures
    ]


def owner(app):
    """The gateway that an app's session is on."""
    return app.client.eio.sid.rsplit(".", 1)[0]


def crowd(proxy, apps):
    """Ten apps or some more, polling and upgrading, until both gateways own some of them."""
    people = []
    while len(people) < 10 or {owner(app) for app in people} != {"gateway-1", "gateway-2"}:
        assert len(people) < 40, "the proxy always gives its first turn to the same gateway"
        kind = "polling" if len(people) % 2 else "upgrade"
        # The default pause: python-engineio mixes its connections up when the goodbye to the last one is still under way.
        name = f"user-{len(people)}"
        people.append(apps(proxy.url, name, transports=TRANSPORTS[kind], reconnects=True, pause=1.0))
        # Whoever makes an even number of requests would begin at the same gateway as the one before.
        if len(people) % 3 == 0:
            requests.get(proxy.url + "/healthz", timeout=5)
    return people


def assert_relayed(double, before, whoever):
    """Any or all of the gateways relayed something, and nothing failed."""

    def has_relayed():
        return whoever(now[0] > then[0] for now, then in zip(relayed(double), before))

    eventually("requests were relayed", has_relayed)
    assert [now[1] for now in relayed(double)] == [then[1] for then in before]


@on_the_loop
async def test_everything_that_waits_comes_in_one_post(proxy, double, room):
    """socket.io-client-swift ignores `maxPayload`: a POST may have more, at either gateway, but none of its packets."""
    before = relayed(double)
    async with Wire(proxy.url) as wire:
        most = (await wire.open())["maxPayload"]
        await wire.enter(json.dumps({"userId": "ada"}))

        def edit(n, size=7000):
            elements = [{"type": "note", "content": {"text": "x" * size}} for _ in range(3)]
            return f"42{n}" + json.dumps(["elements:create", {"roomId": room, "n": n, "elements": elements}])

        await wire.post("420" + json.dumps(["room:join", {"roomId": room}]))
        answers = {}
        for first in (1, 21):
            edits = [edit(n) for n in range(first, first + 20)]
            assert most < sum(map(len, edits)) < 2 * most
            await wire.post(*edits)
            while len(answers) < first + 20:
                packet = await wire.next()
                if packet.startswith("43"):
                    number, _, answer = packet[2:].partition("[")
                    answers[int(number)] = json.loads("[" + answer)[0]
        assert all(answer["ok"] for answer in answers.values()), answers
        assert [answers[n]["seq"] for n in range(1, 41)] == list(range(1, 41))
        with pytest.raises(Failed) as refused:
            await wire.post("3", edit(41, most))
        assert refused.value.status == 413
    assert_relayed(double, before, any)


@pytest.mark.parametrize("kind", TRANSPORTS)
def test_join_commit_and_hear(double, proxy, apps, room, kind):
    before = relayed(double)
    people = [apps(proxy.url, f"user-{index}", transports=TRANSPORTS[kind]) for index in range(4)]
    for app in people:
        app.join(room)
    ada = people[0]
    for index, app in enumerate(people):
        seq = app.ok("element:create", {"roomId": room, "element": {"type": "note", "id": f"e{index}"}})["seq"]
        for other in people:
            other.wait_seq(seq)
    for step in range(30):
        ada.send("element:transforming", {"roomId": room, "elementId": "e0", "positionX": step})
    fence(room, ada, *people[1:])
    for app in people[1:]:
        assert previews_at(app, "e0")[-1].data["positionX"] == 29
    last = ada.ok("element:transform", {"roomId": room, "elementId": "e0", "positionX": 30})["seq"]
    for app in people:
        app.wait_seq(last)
        assert [seq for seq, _ in app.updates(room)] == list(range(app.updates(room)[0][0], last + 1))
        expected = "polling" if kind == "polling" else "websocket"
        eventually(f"{app.user} uses {expected}", lambda: app.client.transport() == expected)
        assert app.connects == 1 and not app.named("disconnect")
    assert double.assert_gapless(room) == last

    # Which one has to relay is up to the proxy's turns.
    assert_relayed(double, before, any)


def test_one_connection_carries_requests_of_all_sessions(proxy):
    """One kept connection to the proxy, and what the proxy makes of it, serve sessions on both gateways."""
    with requests.Session() as session:
        sids = []
        for _ in range(6):
            opened = session.get(proxy.url + "/socket.io/?EIO=4&transport=polling", timeout=5)
            sids.append(opened.text.split('"')[3])
        assert {sid.rsplit(".", 1)[0] for sid in sids} == {"gateway-1", "gateway-2"}
        for turn in range(3):
            for index, sid in enumerate(sids):
                url = f"{proxy.url}/socket.io/?EIO=4&transport=polling&sid={sid}"
                if turn == 0:
                    assert session.post(url, f'40{{"userId":"u{index}"}}', timeout=5).text == "ok"
                    assert session.get(url, timeout=5).text.startswith('40{"sid":')
                assert session.post(url, '420["nonsense",{}]', timeout=5).text == "ok"
                assert "unknown_event" in session.get(url, timeout=5).text
        for sid in sids:
            assert session.post(f"{proxy.url}/socket.io/?EIO=4&transport=polling&sid={sid}", "1", timeout=5).text == "ok"
            gone = session.get(f"{proxy.url}/socket.io/?EIO=4&transport=polling&sid={sid}", timeout=5)
            assert gone.status_code == 400 and gone.json() == {"code": 1, "message": "Session ID unknown"}


def test_many_clients_at_once(double, proxy, apps, room):
    before = relayed(double)
    rooms = [f"{room}-{index}" for index in range(4)]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        kinds = list(TRANSPORTS.values())
        people = list(pool.map(lambda index: apps(proxy.url, f"user-{index}", transports=kinds[index % 2]), range(40)))

        def work(index):
            app, own = people[index], rooms[index // 2 % 4]
            app.join(own)
            app.ok("element:create", {"roomId": own, "element": {"type": "note", "id": f"e{index}"}}, timeout=25)
            for step in range(5):
                app.ok("element:transform", {"roomId": own, "elementId": f"e{index}", "positionX": step}, timeout=25)

        list(pool.map(work, range(40)))
    for own in rooms:
        assert double.assert_gapless(own) == 60
    for index, app in enumerate(people):
        own = rooms[index // 2 % 4]
        app.wait_seq(60, within=20)
        seqs = [seq for seq, _ in app.updates(own)]
        assert seqs == list(range(seqs[0], 61))
        assert app.connects == 1
    assert_relayed(double, before, all)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_a_gateway_goes_away(double, proxy, apps, room, how):
    """Apps whose session or connection was on it come back by themselves and go on with all that they had."""
    people = crowd(proxy, apps)
    joins = [app.join(room) for app in people]
    for index, app in enumerate(people):
        app.ok("element:create", {"roomId": room, "n": 1, "element": {"type": "note", "id": f"e{index}"}})
    for app in people:
        app.wait_seq(len(people))
    owners = [owner(app) for app in people]
    gateways = {process["name"]: index for index, process in enumerate(double.processes("gateway"))}
    victim = double.kill("gateway", gateways["gateway-1"], how)
    for app, name in zip(people, owners):
        if name == "gateway-1":
            app.wait("disconnect", within=30)

    def goes_on(index):
        app, joined = people[index], joins[index]
        try:
            answer = app.call("room:join", {
                "roomId": room, "session": joined["session"], "resume": {"epoch": joined["epoch"], "seq": len(people)},
            }, timeout=4)
            if not answer["ok"] or answer["n"] > 2:
                return False
            payload = {"roomId": room, "n": 2, "elementId": f"e{index}", "positionX": 5}
            return app.call("element:transform", payload, timeout=4)["ok"]
        except (Overdue, Exception):  # noqa: BLE001: cut off in the middle; tried again on the next connection
            return False

    with concurrent.futures.ThreadPoolExecutor(len(people)) as pool:
        waits = [
            pool.submit(eventually, f"{app.user} works again", lambda index=index: goes_on(index), 40, 0.2)
            for index, app in enumerate(people)
        ]
        for wait in waits:
            wait.result()
    assert double.assert_gapless(room) == 2 * len(people)
    double.wait_restarted(victim, within=30)
