"""What a pod says: the log of each of its containers, followed through restarts, as long as it is looked at."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping

from windvane import ambient
from windvane.cli.dev.view.objects import ObjectNode
from windvane.client.client import Client
from windvane.client.errors import ClientError

KEPT = 2000
TAIL = 500
PAUSE = 1.0


class PodLog:
    """The log of one pod at a time."""

    def __init__(self, look: Callable[[str], ObjectNode | None]) -> None:
        """`look` finds a pod as it is now, by its uid."""
        self.version = 0
        self.lines: deque[tuple[int, str]] = deque(maxlen=KEPT)
        """Numbered, so that two that say the same can be told apart."""
        self.pod: ObjectNode | None = None
        self._look = look
        self._count = 0
        self._task: asyncio.Task[None] | None = None

    def follow(self, pod: ObjectNode | None, client: Client) -> None:
        """Follow this pod from now on; the same one goes on as it is."""
        if (self.pod.uid if self.pod else "") == (pod.uid if pod else ""):
            return
        self.stop()
        self.pod = pod
        self.version += 1
        self.lines.clear()
        if pod is not None:
            self._task = asyncio.get_running_loop().create_task(self._follow(pod.uid, client))

    def stop(self) -> None:
        """Follow none."""
        if self._task is not None:
            self._task.cancel()
        self._task, self.pod = None, None

    async def _follow(self, uid: str, client: Client) -> None:
        """Follow each container that has begun, and again once it has begun anew."""
        begun: dict[str, str] = {}
        following: set[asyncio.Task[None]] = set()
        try:
            while (pod := self._look(uid)) is not None:
                containers = dict(pod.read.containers)
                for name, run in containers.items():
                    if begun.get(name) != run:
                        begun[name] = run
                        work = self._container(pod, name, client, containers)
                        following.add(asyncio.get_running_loop().create_task(work))
                if not containers and not self.lines:
                    self._say("(no container has begun yet)")
                await ambient.sleep(PAUSE / 4)
            self._say("(the pod is gone)")
        finally:
            for task in following:
                task.cancel()
            await asyncio.gather(*following, return_exceptions=True)

    async def _container(self, pod: ObjectNode, name: str, client: Client, containers: Mapping[str, str]) -> None:
        prefix = f"{name}│ " if len(containers) > 1 else ""
        last: float | None = None
        while True:
            since = None if last is None else int(ambient.monotonic() - last) + 1
            log = client.pod(pod.name, namespace=pod.namespace).logs(
                container=name, follow=True, tail=TAIL, since_seconds=since
            )
            try:
                async for line in log:
                    last = ambient.monotonic()
                    self._say(f"{prefix}{line.decode(errors='replace')}")
                return  # it has ended; what begins anew has another id
            except ClientError as error:
                there = self._look(pod.uid)
                if there is None or dict(there.read.containers).get(name) != containers[name]:
                    return
                self._say(f"{prefix}({error})")
                await ambient.sleep(PAUSE)

    def _say(self, line: str) -> None:
        self._count += 1
        self.lines.append((self._count, line))
        self.version += 1
