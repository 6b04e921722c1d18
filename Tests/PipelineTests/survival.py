"""Apps that work as a careful app would, through whatever happens, and a record of what they were promised."""

import threading
import time

from app import App, Refused
from pipeline import Overdue


class Worker(threading.Thread):
    """A user who commits without pause: numbered, every second one as the end of a gesture, keeping each commit until it is
    acknowledged, coming back after every loss with the session and the position that it had."""

    def __init__(self, urls, user, room, element, pause=0.01, **app):
        """`app` says how it connects."""
        super().__init__(daemon=True)
        self.urls = urls
        self.how = app
        self.user = user
        self.room = room
        self.element = element
        self.pause = pause
        self.app = None
        self.session = None
        self.epoch = None
        self.n = 0
        # What was acknowledged: {n: (seq, position)}.
        self.acknowledged = {}
        # What was delivered, in the order in which it was: seqs, without those that came in a snapshot.
        self.delivered = []
        self.snapshots = 0
        self.recoveries = 0
        self.longest_wait = 0.0
        self.fault = None
        self.stopping = threading.Event()
        self.listened = 0

    def run(self):
        try:
            while not self.stopping.is_set():
                self._commit(self.n + 1)
                self.n += 1
                self.stopping.wait(self.pause)
        except BaseException as error:  # noqa: BLE001: it is told to whoever joins this thread
            self.fault = error
        finally:
            if self.app:
                self.app.close()

    def _commit(self, n):
        """Insists until the commit has its result."""
        payload = {"roomId": self.room, "elementId": self.element, "positionX": n, "n": n}
        started = time.monotonic()
        while True:
            if time.monotonic() - started > 60:
                raise Overdue(f"{self.user}: commit {n} has no result")
            if not self._ready():
                time.sleep(0.1)
                continue
            try:
                if n % 2:
                    self.app.send("element:transforming", {"roomId": self.room, "elementId": self.element, "positionX": n})
                answer = self.app.call("element:transform", payload, timeout=6)
            except Exception:  # noqa: BLE001: whatever it was, the answer is unknown: the same commit goes again
                self._lose()
                continue
            if answer["ok"]:
                self.acknowledged[n] = (answer["seq"], answer["element"]["positionX"])
                self.longest_wait = max(self.longest_wait, time.monotonic() - started)
                return
            error = answer["error"]
            if error["code"] in ("unavailable", "busy", "rate_limited", "gap"):
                time.sleep(min(error.get("retryAfterMs", 100), 500) / 1000)
            elif error["code"] in ("forbidden", "session_expired"):
                self._lose()
            else:
                raise AssertionError((self.user, n, answer))

    def _lose(self):
        self._listen()
        if self.app:
            self.app.close()
        self.app = None

    def _ready(self):
        """Connected and in the room, by the session and position that it had."""
        if self.app and self.app.is_connected:
            return True
        self._lose()
        for url in self.urls:
            app = App(url, self.user, **self.how)
            try:
                app.connect(timeout=6)
                more = {}
                if self.session:
                    more = {"session": self.session, "resume": {"epoch": self.epoch, "seq": self.seen}}
                answer = app.call("room:join", {"roomId": self.room, **more}, timeout=6)
            except (Refused, Overdue, Exception):  # noqa: BLE001
                app.close()
                continue
            if not answer["ok"]:
                app.close()
                assert answer["error"]["code"] in ("unavailable", "busy"), (self.user, answer)
                continue
            self._joined(app, answer)
            return True
        return False

    @property
    def seen(self):
        return self.delivered[-1] if self.delivered else 0

    def _joined(self, app, answer):
        assert self.epoch in (None, answer["epoch"]), "the history changed"
        self.app, self.listened = app, 0
        self.session, self.epoch = answer["session"], answer["epoch"]
        if answer["recovered"]:
            self.recoveries += 1
            self.delivered += [entry["seq"] for entry in answer["updates"]]
        else:
            self.snapshots += 1
            self.delivered.append(answer["seq"])
        assert self.delivered == [] or self.seen == answer["seq"], (self.user, self.seen, answer["seq"])
        assert answer["n"] >= len(self.acknowledged), (self.user, answer["n"], len(self.acknowledged))

    def _listen(self):
        """Takes over what was delivered on this connection so far."""
        if self.app is None:
            return
        updates = self.app.updates(self.room)
        self.delivered += [seq for seq, _ in updates[self.listened :]]
        self.listened = len(updates)

    def finish(self, within=60):
        """Stops and reports."""
        self.stopping.set()
        self.join(within)
        assert not self.is_alive(), f"{self.user} hangs at commit {self.n + 1}"
        if self.fault:
            raise self.fault
        return self


class Crowd:
    """Several workers in several rooms, and the checks on what they saw."""

    def __init__(self, pipeline, room, rooms=3, each=2, pause=0.01, urls=None, **app):
        """They connect to the gateways or `urls`; `app` says how."""
        self.pipeline = pipeline
        self.rooms = [f"{room}-{index}" for index in range(rooms)]
        self.workers = []
        for name in self.rooms:
            creator = App(pipeline.url, "creator").connect()
            creator.join(name)
            for index in range(each):
                creator.ok("element:create", {"roomId": name, "element": {"type": "note", "id": f"e{index}"}})
                worker = Worker(urls or pipeline.urls, f"worker-{index}", name, f"e{index}", pause, **app)
                self.workers.append(worker)
            creator.close()

    def __enter__(self):
        for worker in self.workers:
            worker.start()
        return self

    def __exit__(self, kind, error, trace):
        for worker in self.workers:
            worker.stopping.set()
        for worker in self.workers:
            worker.join(70)

    @property
    def count(self):
        """How many commits were acknowledged so far."""
        return sum(len(worker.acknowledged) for worker in self.workers)

    def check(self):
        """Stops, and compares what was promised with PostgreSQL."""
        for worker in self.workers:
            worker.stopping.set()
        for worker in self.workers:
            worker.finish()
        for room in self.rooms:
            self.pipeline.assert_gapless(room)
        self.pipeline.assert_shards_gapless()
        for worker in self.workers:
            self._check(worker)

    def _check(self, worker):
        rows = self.pipeline.rows(
            "select seq, n, after from commit_log where room_id = %s and user_id = %s and event = 'element:transformed'"
            " order by seq",
            worker.room, worker.user,
        )
        stored = {n: (seq, after["positionX"]) for seq, n, after in rows}
        # Once each, in the order of their numbers.
        assert len(stored) == len(rows) and [n for _, n, _ in rows] == sorted(stored)
        missing = {n: result for n, result in worker.acknowledged.items() if stored.get(n) != result}
        assert not missing, (worker.user, worker.room, missing)
        assert len(worker.acknowledged) == worker.n and worker.n > 0
        # What was delivered has no gap and no repetition, but for snapshots, which may jump ahead.
        jumps = [(a, b) for a, b in zip(worker.delivered, worker.delivered[1:]) if b != a + 1]
        assert all(b >= a for a, b in jumps) and len(jumps) <= worker.snapshots, (worker.user, jumps, worker.snapshots)
