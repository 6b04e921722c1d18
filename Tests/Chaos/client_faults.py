"""Faults of clients in processes of their own: of one of each kind at the same time."""

import asyncio

from effects import contains
from faults import Fault


class ClientFault(Fault):
    """One kind of fault; `befall` does it to one person."""

    is_small = True

    async def strike(self, world):
        await asyncio.gather(*(self.befall(person, world) for person in world.persons.one_of_each_kind(world.random)))

    async def befall(self, person, world):
        raise NotImplementedError


class KillClient(ClientFault):
    """SIGKILL to a client while it is offline, before it is back, and while it sends; it goes on with what it had saved."""

    name = "kill-client"
    is_main = True

    async def befall(self, person, world):
        person.go_offline()
        earlier = len(person.begun)
        await person.habits.hurry()
        await self._is_saved(person, *person.begun[earlier])
        await self._kill(person, world.random.uniform(0, 0.1))
        # It starts, and perhaps joins.
        await self._kill(person, world.random.uniform(0, 0.4))
        await asyncio.sleep(world.random.uniform(1, 2))
        await person.habits.hurry()
        await self._kill(person, world.random.uniform(0, 0.05))

    @staticmethod
    async def _is_saved(person, event, body, within=10):
        """A machine under load takes its time."""
        for _ in range(within * 50):
            if any(edit["event"] == event and contains(edit["body"], body) for edit in person.saved()):
                return
            await asyncio.sleep(0.02)

    @staticmethod
    async def _kill(person, after):
        await asyncio.sleep(after)
        await person.die()
        await person.begin()


class FreezeClient(ClientFault):
    """SIGSTOP to a client for a while, every second time until the room cannot tell it what it has missed."""

    name = "freeze-client"
    is_main = True

    async def befall(self, person, world):
        is_long = world.counts[f"faults.{self.name}"] % 2 == 0
        person.freeze()
        try:
            if is_long:
                await self._outlast_replays(world, person)
            else:
                await asyncio.sleep(world.random.uniform(0.5, 4))
        finally:
            person.thaw()

    @staticmethod
    async def _outlast_replays(world, person, within=25):
        apps = [app for app in world.apps if app.room == person.room]
        wanted = max(app.seq for app in apps) + 2 * world.cluster.settings["fanout"]["replay"]
        for _ in range(within * 10):
            if max(app.seq for app in apps) > wanted:
                person.count("frozen for long")
                return
            await asyncio.sleep(0.1)


class CutClient(ClientFault):
    """A client's network goes away without a word, several times amid edits."""

    name = "cut-client"

    async def befall(self, person, world):
        for _ in range(3):
            await person.habits.hurry()
            await asyncio.sleep(world.random.uniform(0, 0.03))
            person.cut()
            await person.habits.hurry()
            await asyncio.sleep(world.random.uniform(0.1, 1.5))


CLIENTS = [KillClient(), FreezeClient(), CutClient()]
