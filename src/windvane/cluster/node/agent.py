"""The agent of one node: an operator whose controller has the containers of each pod run, and tells how they are.

    await NodeAgent(client, "node-1", Simulated()).run()

A pass over a pod is short: `lifecycle.decide` says what to do, the sandbox begins it, and the status is written. What
comes of it is reported by the sandbox whenever it happens, and brings the next pass.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from windvane import ambient
from windvane.api import codec
from windvane.api.resource import Object
from windvane.client.client import Client
from windvane.client.errors import ClientError, Conflict, NotFound
from windvane.cluster.node import lifecycle
from windvane.cluster.node.addresses import Addresses
from windvane.cluster.node.cached import CachedSources
from windvane.cluster.node.containers import every_container
from windvane.cluster.node.record import (
    Action,
    Exited,
    NotResized,
    PodRecord,
    Probe,
    Report,
    Resize,
    Said,
    Start,
    Stop,
)
from windvane.cluster.node.registration import LEASE_DURATION, Registration
from windvane.cluster.node.resizing import as_granted, asked_for, asks_for_others, described, lacking, under_way
from windvane.cluster.node.runner import Runner, Sandbox
from windvane.cluster.node.status import FINISHED, record_of, status_of
from windvane.k8s.core import Pod
from windvane.runtime.context import Context
from windvane.runtime.informers.cache import Change
from windvane.runtime.informers.declared_informers import informer_key
from windvane.runtime.manager import OperatorManager
from windvane.runtime.operator import Operator
from windvane.runtime.outcome import After

log = logging.getLogger(__name__)

NAME = "kubelet"
HOST = "127.0.0.1"
LAST_MOMENT = 2.0
"""How many seconds containers have to end when the agent stops."""
RESIZE_AGAIN = timedelta(minutes=3)
"""After how long it is seen at the latest whether there is room for a resize that waits."""
LOST = 255
"""The exit code of a container that ended while nobody looked."""
GONE = "The container could not be located when the agent was started again"


@dataclass
class Tended:
    """A pod that the agent looks after."""

    pod: Pod
    record: PodRecord
    sandbox: Sandbox


class NodeAgent:
    """Runs the pods of one node."""

    def __init__(
        self,
        client: Client,
        name: str,
        runner: Runner,
        *,
        addresses: Addresses | None = None,
        api: tuple[str, int] | None = None,
        lease_duration: int = LEASE_DURATION,
    ) -> None:
        """`api` is where pods find the API server, if not where the Service `kubernetes` says."""
        self.name = name
        self._api = api
        self.pods: dict[str, Tended] = {}
        """By uid: those that have containers here, or had."""
        self._client = client
        self._runner = runner
        self._addresses = addresses or Addresses()
        self._registration = Registration(client, name, HOST, lease_duration)
        self._closing: set[asyncio.Task[None]] = set()
        operator = Operator(NAME)
        operator.watch_only(Pod, fields={"spec.nodeName": name})
        operator.controller(Pod, watches=runner.sees, until_gone=True, concurrency=16)(self._tend)
        self.running: OperatorManager = operator.run(client)
        self.running.recorder.host = name

    async def run(self) -> None:
        """Register the node, and look after its pods until cancelled. Then nothing of them runs any more."""
        await self._registered()
        sources = CachedSources(self.running.informers, self._client, self._registration.resources, self._api)
        await self._runner.begin(sources, self._subscribe)
        end = self.running.informers[informer_key(Pod)].subscribe(self._pod_changed)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._beat())
                group.create_task(self._work())
        finally:
            end()
            try:
                await self._ask_to_end()
            finally:  # also if nobody wants to wait for that
                closing = [tended.sandbox.close() for tended in self.pods.values()]
                await asyncio.gather(*closing, *self._closing, return_exceptions=True)
                for tended in self.pods.values():  # an agent that takes our place gives them the same
                    self._addresses.give_back(tended.record.address)

    async def _ask_to_end(self) -> None:
        """Give all containers a moment to end by themselves, before they are killed."""
        now = ambient.now()
        for tended in self.pods.values():
            for name in tended.record.active:
                stop = Stop(name, now + timedelta(seconds=LAST_MOMENT), "the node agent stops")
                self._carry_out(tended, stop, now)
        deadline = ambient.monotonic() + LAST_MOMENT
        while any(each.record.active for each in self.pods.values()) and ambient.monotonic() < deadline:
            await ambient.sleep(0.02)

    async def _registered(self) -> None:
        while True:
            try:
                await self._registration.register()
                return
            except ClientError as error:
                log.warning("node %s can't be registered: %s; trying again", self.name, error)
                await ambient.sleep(1.0)

    async def _beat(self) -> None:
        while True:
            try:
                await self._registration.run()
            except ClientError as error:
                log.warning("node %s could not say that it is alive: %s", self.name, error)

    async def _work(self) -> None:
        tidying = asyncio.get_running_loop().create_task(self._tidy())
        try:
            await self.running
        finally:
            tidying.cancel()

    async def _tidy(self) -> None:
        """Remove what was left of pods that went while no agent ran."""
        informer = self.running.informers[informer_key(Pod)]
        await informer.wait_synced()
        await self._runner.keep_only({item.meta.uid for item in informer.cache.items()})

    def _subscribe(self, what: type[Object], call: Callable[[], None]) -> None:
        self.running.informers[informer_key(what)].subscribe(lambda _: call())

    # One pass

    async def _tend(self, pod: Pod, ctx: Context) -> After | None:
        now = ambient.now()
        uid = pod.metadata.uid
        tended = self.pods.get(uid)
        if tended is None:
            if pod.status.phase in FINISHED:
                if pod.metadata.deletion_timestamp is not None:
                    await _remove(pod, ctx)
                return None
            tended = self._take_in(pod, now)
        self._resize(pod, tended.record, now)
        tended.pod = as_granted(pod, tended.record)
        tended.sandbox.refresh(tended.pod)
        decision = self._act(tended, now)
        before, was_over = codec.to_wire(pod.status), pod.status.phase in FINISHED
        pod.status = status_of(tended.pod, tended.record, HOST, now)
        if pod.status.phase in FINISHED and not was_over:
            self._room_was_made()
        if decision.over:
            if codec.to_wire(pod.status) != before:
                return After(seconds=0)  # that it has ended is told first
            await _remove(pod, ctx)
            return None
        if decision.again is None:
            return None
        return After(seconds=max((decision.again - now).total_seconds(), 0.001))

    def _act(self, tended: Tended, now: datetime) -> lifecycle.Decision:
        """Do what is to be done now. What is reported at once may call for more."""
        pod, record = tended.pod, tended.record
        while True:
            for container in every_container(pod):
                if (run := record.of(container.name).run) is not None:
                    lifecycle.judge(container, run)
            if record.failure is None and lifecycle.exceeds_deadline(pod, record, now):
                record.failure = lifecycle.DEADLINE
                self._say(pod, Said("", *lifecycle.DEADLINE))
            decision = lifecycle.decide(pod, record, now)
            if not decision.actions:
                self._see_resize_through(pod, record)
                if record.pending is not None:
                    decision.wait(now + RESIZE_AGAIN)
                return decision
            for action in decision.actions:
                record.begin(action, now)
                self._carry_out(tended, action, now)

    def _carry_out(self, tended: Tended, action: Action, now: datetime) -> None:
        pod, sandbox = tended.pod, tended.sandbox
        container = next(each for each in every_container(pod) if each.name == action.container)
        run = tended.record.of(action.container).run
        match action:
            case Start():
                sandbox.start(pod, container, action.attempt)
            case Stop():
                if run is not None and run.running:
                    self._say(pod, Said(container.name, "Killing", action.why))
                sandbox.stop(pod, container, max((action.by - now).total_seconds(), 0))
            case Resize():
                sandbox.resize(pod, container)
            case Probe() if run is not None:
                sandbox.probe(pod, container, action, (now - run.started_at).total_seconds())

    # Resizes

    def _resize(self, pod: Pod, record: PodRecord, now: datetime) -> None:
        """Grant a pod the resources that it asks for, if it asks for others than it has, and there is room."""
        if pod.metadata.deletion_timestamp is not None or pod.status.phase in FINISHED:
            return
        if not asks_for_others(pod, record):
            record.pending = None
            return
        generation = pod.metadata.generation
        others = [
            each.pod for uid, each in self.pods.items() if uid != record.uid and each.pod.status.phase not in FINISHED
        ]
        if problem := lacking(pod, others, self._registration.resources):
            if record.defer(problem, generation, now):
                said = described("Deferred", pod, generation, problem)
                self._say(pod, Said("", "ResizeDeferred", said, "Warning"))
            return
        record.grant(asked_for(pod), generation, now)
        self._say(pod, Said("", "ResizeStarted", described("started", pod, generation)))
        self._room_was_made()

    def _see_resize_through(self, pod: Pod, record: PodRecord) -> None:
        """Note that a resize is done, once it is."""
        if (progress := record.progress) is not None and not under_way(pod, record):
            record.progress = None
            self._say(pod, Said("", "ResizeCompleted", described("completed", pod, progress.generation)))

    def _room_was_made(self) -> None:
        """Have another look at the pods that wait for room: the most important first, then who waits the longest."""
        waiting = [
            (-(each.pod.spec.priority or 0), each.record.pending.since, each.pod.metadata)
            for each in self.pods.values()
            if each.record.pending is not None
        ]
        for _, _, mine in sorted(waiting, key=lambda each: each[:2]):
            self.running.ask(Pod, mine.name, namespace=mine.namespace, why="the node may have room for its resize")

    # Pods come and go

    def _take_in(self, pod: Pod, now: datetime) -> Tended:
        """Begin to look after a pod: a new one, or one that ran when the agent was last stopped."""
        had = pod.status.pod_ip
        address = had if had and self._addresses.keep(had) else self._addresses.take()
        record = record_of(pod, now)
        record.address = address
        uid = pod.metadata.uid
        tended = Tended(pod, record, self._runner.sandbox(pod, address, partial(self._reported, uid)))
        self.pods[uid] = tended
        for container in every_container(pod):
            known = record.of(container.name)
            for report in tended.sandbox.recall(container, known.attempts):
                record.learn(report)
            run = known.run
            if run is not None and run.running:
                age = (now - run.started_at).total_seconds()
                if not tended.sandbox.resume(pod, container, age):
                    record.learn(Exited(container.name, LOST, now, reason="Unknown", message=GONE))
        return tended

    def _reported(self, uid: str, report: Report) -> None:
        if (tended := self.pods.get(uid)) is None:
            return
        progress = tended.record.progress
        if isinstance(report, NotResized) and progress is not None and progress.error != report.message:
            said = described("error", tended.pod, tended.pod.metadata.generation, report.message)
            self._say(tended.pod, Said(report.container, "ResizeError", said, "Warning"))
        tended.record.learn(report)
        if isinstance(report, Said):
            self._say(tended.pod, report)
            return
        mine = tended.pod.metadata
        why = f"container {report.container}: {type(report).__name__.lower()}"
        self.running.ask(Pod, mine.name, namespace=mine.namespace, why=why)

    def _pod_changed(self, change: Change[Pod]) -> None:
        if change.gone:
            self._close(change.item.meta.uid)
        elif change.before is not None and change.before.meta.uid != change.item.meta.uid:
            self._close(change.before.meta.uid)

    def _close(self, uid: str) -> None:
        """Whatever of a pod is still there ends now: its object is gone."""
        tended = self.pods.pop(uid, None)
        self._room_was_made()
        # One that we never looked after had ended before this agent began, and has left only files.
        work = self._tidy() if tended is None else self._end(tended)
        task = asyncio.get_running_loop().create_task(work)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _end(self, tended: Tended) -> None:
        await tended.sandbox.close()
        await tended.sandbox.remove()
        self._addresses.give_back(tended.record.address)

    def _say(self, pod: Pod, said: Said) -> None:
        self.running.recorder.about(pod, self._client)(said.reason, said.message, said.type)


async def _remove(pod: Pod, ctx: Context) -> None:
    """Let a pod go whose containers have all ended."""
    mine = pod.metadata
    if mine.deletion_grace_period_seconds == 0 and mine.finalizers:
        return  # we have done our part, and others have not yet
    with suppress(NotFound, Conflict):  # it is gone, or another one has its name
        await ctx.client.delete(Pod, mine.name, namespace=mine.namespace, uid=mine.uid, grace_period=0)
