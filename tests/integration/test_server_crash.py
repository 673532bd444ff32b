"""An API server that is killed with SIGKILL at any moment has lost nothing that it confirmed, and tells no lies after.

Writers and watches talk to `windvane cluster start` over HTTPS while it is killed and started again. Every write that
was sent leaves its mark in the object, so afterwards each object says which write it shows; and every number that was
seen is remembered, so none can come twice.
"""

import asyncio
import itertools
import json
import random  # noqa: TID251 - seeded, so that a failure can be repeated as nearly as a kill can be
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from integration.server_process import Access, Command, Forge

WRITERS = 6
NAMES = 5  # per writer and collection: few, so that most writes replace or delete something
MOST_WRITES = 60  # in one life of the server
SECONDS = 60.0
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
PARCELS = "/apis/crash.windvane.dev/v1/namespaces/default/parcels"
KINDS = {CONFIG_MAPS: ("v1", "ConfigMap"), PARCELS: ("crash.windvane.dev/v1", "Parcel")}
MARKER = "marker"
MERGE, STRATEGIC, JSON_PATCH = (
    f"application/{kind}+json" for kind in ("merge-patch", "strategic-merge-patch", "json-patch")
)

Wire = dict[str, Any]


def contents(mark: str) -> dict[str, str]:
    """Data whose every part shows its mark; some is longer than a page of the store's file."""
    return {"mark": mark, "filling": mark * (hash_of(mark) % 900)}


def hash_of(mark: str) -> int:
    return sum(position * byte for position, byte in enumerate(mark.encode(), 1))


def definition(plural: str, kind: str) -> Wire:
    schema = {"type": "object", "properties": {"data": {"type": "object", "additionalProperties": {"type": "string"}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.crash.windvane.dev"},
        "spec": {
            "group": "crash.windvane.dev",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [version],
        },
    }


@dataclass(frozen=True)
class State:
    """An object as an answer or an event showed it; `mark` is None once it is deleted."""

    revision: int
    mark: str | None

    @classmethod
    def of(cls, wire: Wire) -> "State":
        mark = wire["data"]["mark"]
        assert wire["data"] == contents(mark), f"{wire['metadata']['name']} is not whole"
        return cls(int(wire["metadata"]["resourceVersion"]), mark)


@dataclass
class Thing:
    """One object, written by one writer at a time: what was confirmed last, and what was sent but never answered."""

    path: str
    name: str
    confirmed: State = State(0, None)
    unanswered: list[str | None] = field(default_factory=list)

    @property
    def is_there(self) -> bool:
        return self.confirmed.mark is not None

    def manifest(self, mark: str) -> Wire:
        api_version, kind = KINDS[self.path]
        return {"apiVersion": api_version, "kind": kind, "metadata": {"name": self.name}, "data": contents(mark)}


@dataclass
class World:
    """All that was sent to the server, and all that it said."""

    things: dict[tuple[str, str], Thing] = field(default_factory=dict)
    newest: int = 0
    confirmed: int = 0
    enough: int = 0
    """At so many confirmed writes somebody waits for `reached`."""
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    numbers: dict[str, set[int]] = field(default_factory=lambda: {path: set() for path in KINDS})
    """Collection -> the resourceVersions of its confirmed writes, deletions excepted."""
    marks: Iterator[int] = field(default_factory=itertools.count)
    definitions: dict[str, bool | None] = field(default_factory=dict)
    """Name of each CRD that comes and goes -> whether it is there; None while nobody knows."""

    def thing(self, path: str, name: str) -> Thing:
        return self.things.setdefault((path, name), Thing(path, name))

    def confirm(self, thing: Thing, state: State) -> None:
        """The server has answered. Of two answers the later number is the later state, whichever came first."""
        assert state.revision > thing.confirmed.revision, "a write got a number that is not new"
        thing.confirmed = state
        thing.unanswered.clear()
        self.newest = max(self.newest, state.revision)
        self.confirmed += 1
        if self.confirmed == self.enough:
            self.reached.set()


class Link:
    """One client of one life of the server."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    @classmethod
    @asynccontextmanager
    async def open(cls, data: Path) -> AsyncIterator["Link"]:
        access = Access.of(data)
        connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=access.ca_file), limit=0)
        headers = {"Authorization": f"Bearer {access.token}"}
        timeout = aiohttp.ClientTimeout(total=SECONDS)
        session = aiohttp.ClientSession(
            access.url, connector=connector, headers=headers, timeout=timeout, read_bufsize=2**22
        )
        try:
            yield cls(session)
        finally:
            for connections in connector._conns.values():  # the server is dead, so nobody says goodbye
                for protocol, _ in connections:
                    if protocol.transport is not None:
                        protocol.transport.abort()
            await session.close()

    async def __call__(self, method: str, path: str, body: object = None, content: str = "application/json") -> Wire:
        """The answer, which must be a success."""
        text = None if body is None else json.dumps(body)
        async with self._session.request(method, path, data=text, headers={"Content-Type": content}) as answer:
            wire: Wire = await answer.json()
            assert answer.status < 300, f"{method} {path}: {wire}"
            return wire

    async def events(self, path: str, after: int) -> AsyncIterator[tuple[str, Wire]]:
        query = {"watch": "true", "resourceVersion": str(after)}
        async with self._session.get(path, params=query) as answer:
            async for line in answer.content:
                if not line.endswith(b"\n"):
                    return  # the server died in the middle of it
                event = json.loads(line)
                assert event["type"] != "ERROR", event
                yield event["type"], event["object"]


class Watcher:
    """Follows one collection through all lives of the server, each time from where it was."""

    def __init__(self, path: str, after: int) -> None:
        self.path = path
        self.seen = after
        self.view: dict[str, State] = {}
        self.changes: set[int] = set()

    async def follow(self, link: Link) -> None:
        """Until the server dies."""
        try:
            async for kind, wire in link.events(self.path, self.seen):
                self._take(kind, wire)
        except aiohttp.ClientError:
            pass

    async def catch_up(self, link: Link, revision: int) -> None:
        async with asyncio.timeout(SECONDS):
            async for kind, wire in link.events(self.path, self.seen):
                self._take(kind, wire)
                if self.seen >= revision:
                    return

    def _take(self, kind: str, wire: Wire) -> None:
        name, state = wire["metadata"]["name"], State.of(wire)
        assert state.revision > self.seen, "a watch repeated a change, or went back"
        self.seen = state.revision
        self.changes.add(state.revision)
        assert (kind == "ADDED") == (name not in self.view), (
            f"{kind} {name}, which the watch has as {self.view.get(name)}"
        )
        if kind == "DELETED":
            del self.view[name]
        else:
            self.view[name] = state


# Together the fifty kills that the project promises to survive.
@pytest.mark.parametrize(("how", "kills"), [(Command, 3), (Forge, 47)])
async def test_nothing_confirmed_is_lost_nothing_unsent_appears_and_watches_go_on(
    how: type[Command | Forge], kills: int, tmp_path: Path
) -> None:
    chance = random.Random(kills)
    with how.open() as server:
        server.start(tmp_path)
        async with Link.open(tmp_path) as link:
            world, watchers = await begin(link)
        for kill in range(kills):
            async with Link.open(tmp_path) as link:
                await live(world, watchers, link, chance, server, kill)
            server.start(tmp_path)
            async with Link.open(tmp_path) as link:
                await check(world, watchers, link)
    assert world.confirmed > kills * WRITERS


async def test_a_start_that_is_killed_is_in_nobody_s_way(tmp_path: Path) -> None:
    with Forge.open() as server:
        for moment in range(12):  # the first makes directories, keys and the store; the last ones find them all
            server.start_and_kill(tmp_path, after=moment / 100)
        server.start(tmp_path)
        async with Link.open(tmp_path) as link:
            namespaces = (await link("GET", "/api/v1/namespaces"))["items"]
    assert {"default", "kube-system"} <= {each["metadata"]["name"] for each in namespaces}


async def begin(link: Link) -> tuple[World, list[Watcher]]:
    """The kind that writers use, a marker in each collection, and a watch of each."""
    await link("POST", CRDS, definition("parcels", "Parcel"))
    world = World()
    watchers = []
    for path in KINDS:
        watchers.append(Watcher(path, int((await link("GET", path))["metadata"]["resourceVersion"])))
        await write(world, link, world.thing(path, MARKER), random.Random(0))
    return world, watchers


async def live(
    world: World, watchers: list[Watcher], link: Link, chance: random.Random, server: Command | Forge, kill: int
) -> None:
    """One life of the server: everybody talks to it at once, until it is killed."""
    enough = world.confirmed + chance.randrange(1, MOST_WRITES)
    async with asyncio.TaskGroup() as tasks:
        for watcher in watchers:
            tasks.create_task(watcher.follow(link))
        for writer in range(WRITERS):
            tasks.create_task(write_on(world, link, writer, random.Random(f"{kill} {writer}")))
        tasks.create_task(define_on(world, link, kill))
        tasks.create_task(kill_when(world, enough, server))


async def kill_when(world: World, enough: int, server: Command | Forge) -> None:
    world.enough, world.reached = enough, asyncio.Event()
    await world.reached.wait()
    server.kill()


async def write_on(world: World, link: Link, writer: int, chance: random.Random) -> None:
    """Write to objects of one's own until nobody answers."""
    try:
        while True:
            path = chance.choice(list(KINDS))
            await write(world, link, world.thing(path, f"{writer}-{chance.randrange(NAMES)}"), chance)
    except aiohttp.ClientError:
        pass


async def write(world: World, link: Link, thing: Thing, chance: random.Random) -> None:
    """One write of any kind to one object."""
    mark = f"{next(world.marks)}."
    where = f"{thing.path}/{thing.name}"
    if not thing.is_there:
        thing.unanswered.append(mark)
        wire = await link("POST", thing.path, thing.manifest(mark))
    elif thing.name != MARKER and chance.random() < 0.2:
        thing.unanswered.append(None)
        await link("DELETE", where)
        # The answer has no number: the watch tells it.
        world.confirm(thing, State(thing.confirmed.revision + 1, None))
        return
    else:
        thing.unanswered.append(mark)
        match chance.choice(["PUT", MERGE, JSON_PATCH, STRATEGIC]):
            case "PUT":
                manifest = thing.manifest(mark)
                manifest["metadata"]["resourceVersion"] = str(thing.confirmed.revision)
                wire = await link("PUT", where, manifest)
            case "application/json-patch+json":
                wire = await link(
                    "PATCH", where, [{"op": "replace", "path": "/data", "value": contents(mark)}], JSON_PATCH
                )
            case content:
                content = MERGE if thing.path == PARCELS else content
                wire = await link("PATCH", where, {"data": contents(mark)}, content)
    state = State.of(wire)
    assert state.mark == mark
    world.confirm(thing, state)
    world.numbers[thing.path].add(state.revision)


async def define_on(world: World, link: Link, kill: int) -> None:
    """A kind that comes with each life, with an object of it; and the one of the life before goes."""
    try:
        for name, there in list(world.definitions.items()):
            if there:
                world.definitions[name] = None
                await link("DELETE", f"{CRDS}/{name}.crash.windvane.dev")
                world.definitions[name] = False
        name = f"kind{kill}s"
        world.definitions[name] = None
        await link("POST", CRDS, definition(name, f"Kind{kill}"))
        world.definitions[name] = True
    except aiohttp.ClientError:
        pass


async def check(world: World, watchers: list[Watcher], link: Link) -> None:
    """Compare all that a new life of the server says with all that was sent and confirmed before."""
    for watcher in watchers:
        listed = await link("GET", watcher.path)
        revision = int(listed["metadata"]["resourceVersion"])
        assert revision >= world.newest, "the server went back in time"
        found = {item["metadata"]["name"]: State.of(item) for item in listed["items"]}

        marker = world.thing(watcher.path, MARKER)
        await write(world, link, marker, random.Random(0))
        assert marker.confirmed.revision > revision
        await watcher.catch_up(link, marker.confirmed.revision)
        found[MARKER] = marker.confirmed
        assert world.numbers[watcher.path] <= watcher.changes, "a watch left out a confirmed change"
        assert watcher.view == found, "what the watch told does not add up to what is there"

        for thing in [each for each in world.things.values() if each.path == watcher.path]:
            settle(thing, found.pop(thing.name, None))
        assert not found, "there are objects that nobody sent"
        world.newest = max(world.newest, watcher.seen)
    await check_definitions(world, link)


def settle(thing: Thing, found: State | None) -> None:
    """Compare an object with its last confirmed write, and with the one that was never answered."""
    now = found or State(0, None)
    if now.mark == thing.confirmed.mark:
        assert now.revision in (thing.confirmed.revision, 0), f"{thing.name} changed without a write"
    else:
        assert now.mark in thing.unanswered, f"{thing.name} is {now}, after {thing.confirmed} was confirmed"
        if found:
            assert found.revision > thing.confirmed.revision
            thing.confirmed = found
        else:
            thing.confirmed = State(thing.confirmed.revision, None)
    thing.unanswered.clear()


async def check_definitions(world: World, link: Link) -> None:
    there = {item["spec"]["names"]["plural"] for item in (await link("GET", CRDS))["items"]} - {"parcels"}
    for name, expected in world.definitions.items():
        assert expected is None or (name in there) == expected, f"{name} was confirmed: {expected}"
        world.definitions[name] = name in there
        if name in there:
            await link("GET", f"/apis/crash.windvane.dev/v1/namespaces/default/{name}")
    assert there <= set(world.definitions), "there are kinds that nobody defined"
