"""Two machines with the package, by the commands of deploy/README.md, and one of them without power."""

import json
import secrets

import pytest

from app import App
from certificates import Certificate
from machine import Machine
from manager import REPOSITORY
from pages import blocks
from pipeline import eventually
from wire import Wire

pytestmark = pytest.mark.long(why="builds the package; make test tries sets, keys, TLS and killed daemons on one machine")

NETWORK = "10.213.7"
STAGES = ["gateway", "coalescer", "committer", "fanout"]
ROOMS = [f"hall-{number}" for number in range(8)]


def commands():
    """The page's blocks of commands, for this network."""
    found = [block.replace("10.0.0", NETWORK) for block in blocks(REPOSITORY / "deploy/README.md", "Two machines with the package")]
    assert len(found) == 4, found
    return found


@pytest.fixture
def certificate(tmp_path):
    return Certificate.make(tmp_path, addresses=[f"{NETWORK}.1", f"{NETWORK}.2"])


@pytest.fixture
def pair(package, certificate):
    """Both machines, up."""
    database, keys, same, start = commands()
    password, secret, ops = (secrets.token_hex(24) for _ in range(3))
    with Wire("ts-pair", NETWORK) as wire, Machine(network=wire.end(1)) as one, Machine(network=wire.end(2)) as two:
        for machine in (one, two):
            machine.put(package, package.name)
            machine.run(f"apt-get install -y --no-install-recommends ./{package.name}")
        one.run(f"PASSWORD={password}\n{database}")
        two.run("systemctl stop postgresql", check=False)
        for number, machine in enumerate((one, two), start=1):
            machine.run(f"M={number} N={number}\n{keys}")
        peers = one.says("cat /etc/touchsync/peers") + "\n" + two.says("cat /etc/touchsync/peers") + "\n"
        for machine in (one, two):
            (machine.root / "etc/touchsync/peers").write_text(peers)
            machine.run("install -d -o touchsync -m 700 /etc/touchsync/tls")
            machine.put(certificate.certificate, "fullchain.pem")
            machine.put(certificate.key, "privkey.pem")
            machine.run("install -o touchsync -m 600 fullchain.pem privkey.pem /etc/touchsync/tls/")
            machine.run(f"PASSWORD={password} SECRET={secret} OPS={ops}\n{same}")
        # Neither is ready before it has reached a stage of each kind, its own at least.
        for number, machine in enumerate((one, two), start=1):
            machine.run(f"N={number}\n{start}")
        yield one, two, secret, ops, wire


def token(machine, secret, user):
    return machine.says(f"TOUCHSYNC_JWT_SECRET={secret} touchsync token --user {user} --room '*' --right commit --ttl 3600")


def test_a_machine_without_power_takes_no_edit_with_it(pair, certificate):
    one, two, secret, ops, wire = pair
    for number, machine in enumerate((one, two), start=1):
        for stage in STAGES:
            assert machine.property(f"touchsync-{stage}@{number}", "StatusText") == "Ready."
    known = 'touchsync_set_instances{set="committers"} 2'
    eventually("each gateway knows both", lambda: all(
        known in machine.metrics(9410 + number) for number, machine in enumerate((one, two), start=1)))

    # Each monitor watches the daemons of its own machine, and says so to who knows the secret.
    def seen(machine):
        answer = json.loads(machine.answer("http://127.0.0.1:9400/overview", token=ops)[1])
        return {
            instance["name"]: instance["condition"] for stage in answer["stages"] for instance in stage["instances"]}

    for number, machine in enumerate((one, two), start=1):
        wanted = {f"{stage}-{number}": "ready" for stage in STAGES}
        eventually("its own are ready", lambda: seen(machine) == wanted, within=20)
    assert one.answer("http://127.0.0.1:9400/overview")[0] == 401

    people = [
        App(f"https://{NETWORK}.{number}:8080", auth={"token": token(one, secret, user)}, tls=certificate.context()).connect()
        for number, user in [(1, "ada"), (2, "bob")]]
    ada, bob = people
    try:
        for room in ROOMS:
            ada.join(room)
            bob.join(room)
            ada.ok("element:create", {"roomId": room, "element": {"id": "note", "type": "note"}, "n": 1})
            bob.wait("element:created", lambda update: update["roomId"] == room)

        # The power fails while every room is being edited. What was sent is answered, whoever had the room.
        waiting = [ada.start("element:transform", {"roomId": room, "elementId": "note", "positionX": 7, "n": 2}) for room in ROOMS]
        wire.cut(2)
        two.power_off()
        answers = [answer.result(30) for answer in waiting]
        assert all(answer["ok"] for answer in answers), answers

        # Whoever was there comes back here, and finds it all.
        again = App(f"https://{NETWORK}.1:8080", auth={"token": token(one, secret, "bob")}, tls=certificate.context()).connect()
        people.append(again)
        for room in ROOMS:
            [note] = again.join(room)["elements"]
            assert note["positionX"] == 7
            again.ok("element:transform", {"roomId": room, "elementId": "note", "positionY": 9})
    finally:
        for app in people:
            app.close()
