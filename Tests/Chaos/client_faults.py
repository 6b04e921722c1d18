"""Faults of clients in processes of their own."""

import asyncio

from faults import Fault


class KillClient(Fault):
    """SIGKILL to a client amid edits, every second time while it is cut off; it starts again with what it had saved."""

    name = "kill-client"
    is_main = True
    is_small = True

    async def strike(self, world):
        person = world.random.choice(world.clients.all)
        is_cut_off = world.counts[f"faults.{self.name}"] % 2 == 0
        if is_cut_off:
            person.cut()
        await person.hurry()
        await asyncio.sleep(world.random.uniform(0.05, 0.3) if is_cut_off else world.random.uniform(0, 0.05))
        await person.die()
        await asyncio.sleep(world.random.uniform(0, 1))
        await person.begin()


class FreezeClient(Fault):
    """SIGSTOP to a client for a while, every second time until the room cannot tell it what it has missed."""

    name = "freeze-client"
    is_main = True
    is_small = True

    async def strike(self, world):
        person = world.random.choice(world.clients.all)
        is_long = world.counts[f"faults.{self.name}"] % 2 == 0
        person.freeze()
        try:
            if is_long:
                await self._outlast_replays(world, person.room)
            else:
                await asyncio.sleep(world.random.uniform(0.5, 4))
        finally:
            person.thaw()

    @staticmethod
    async def _outlast_replays(world, room, within=25):
        apps = [app for app in world.apps if app.room == room]
        wanted = max(app.seq for app in apps) + 2 * world.cluster.settings["fanout"]["replay"]
        for _ in range(within * 10):
            if max(app.seq for app in apps) > wanted:
                world.counts["clients.frozen for long"] += 1
                return
            await asyncio.sleep(0.1)


class CutClient(Fault):
    """A client's network goes away without a word, several times."""

    name = "cut-client"
    is_small = True

    async def strike(self, world):
        person = world.random.choice(world.clients.all)
        for _ in range(3):
            person.cut()
            await person.hurry()
            await asyncio.sleep(world.random.uniform(0.1, 1.5))


CLIENTS = [KillClient(), FreezeClient(), CutClient()]
