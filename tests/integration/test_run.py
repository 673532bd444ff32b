"""`windvane run` as users run it: a process of its own, on a server that is one, too."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

import aiohttp
import pytest
import yaml

from integration.server_process import Command
from windvane import Client, Object, ObjectMeta, Resource, Spec, Status, ambient
from windvane.cli import event_loop
from windvane.k8s.apps import Deployment
from windvane.k8s.coordination import Lease
from windvane.k8s.core import ConfigMap, Namespace, Secret, Service, ServiceAccount
from windvane.k8s.rbac import ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef, Subject
from windvane.runtime.observability.journal import read_journal

EXAMPLE = Path(__file__).parents[2] / "examples" / "website_operator.py"
PATIENCE = 120.0
"""Seconds after which a process that says nothing is killed, so that a test fails and doesn't hang."""

ObjectT = TypeVar("ObjectT", bound=Object)


class WebsiteSpec(Spec):
    """What the example's has to have."""

    image: str


class Website(Resource[WebsiteSpec, Status], group="demo.windvane.dev", version="v1alpha1"):
    """The example's, as far as it matters here."""


class Operator:
    """A `windvane run` that was started, and what it has logged."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[str] = []

    def until(self, words: str) -> str:
        """Read what it logs until a message has these words in it; return that message."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if line.startswith("{") and words in (message := json.loads(line)["message"]):
                return str(message)
        raise AssertionError(f"it ended without a word of {words!r}: {''.join(self.lines)}")

    @property
    def health(self) -> str:
        """The address of its health port, once it has said it."""
        return self.until("health and metrics are at").split()[5]

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal, and wait for the end."""
        self.process.send_signal(number)
        assert self.process.stderr is not None
        self.lines += self.process.stderr
        return self.process.wait()


class Shell:
    """Where commands are typed: a directory, and the kubeconfig of a cluster."""

    def __init__(self, directory: Path, kubeconfig: Path, stack: ExitStack) -> None:
        self.directory = directory
        self.kubeconfig = kubeconfig
        self._stack = stack

    def run(self, *words: str | Path) -> Operator:
        """Start an operator; it gets a free port for its health unless another is named."""
        return self._stack.enter_context(self._started(["--metrics-port", "0", *map(str, words)]))

    def said(self, *words: str | Path) -> tuple[int, str]:
        """Run an operator that can't start; its exit code, and what it said beside its log."""
        operator = self.run(*words)
        assert operator.process.stderr is not None
        lines = operator.process.stderr.readlines()
        return operator.process.wait(), "".join(line for line in lines if not line.startswith("{"))

    @contextmanager
    def _started(self, words: list[str]) -> Iterator[Operator]:
        given = {name: value for name, value in os.environ.items() if not name.startswith(("WINDVANE", "KUBE"))}
        with subprocess.Popen(
            [sys.executable, "-m", "windvane.cli", "run", *words],
            cwd=self.directory,
            env=given | {"KUBECONFIG": str(self.kubeconfig)},
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            watchdog = threading.Timer(PATIENCE, process.kill)
            watchdog.start()
            try:
                yield Operator(process)
            finally:
                watchdog.cancel()
                process.kill()

    def write(self, name: str, text: str) -> None:
        """Put a file there."""
        (self.directory / name).write_text(text)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory of a cluster that runs."""
    data = tmp_path_factory.mktemp("run") / "cluster"
    with Command.open() as command:
        command.start(data)
        yield data


@pytest.fixture
def shell(server: Path, tmp_path: Path) -> Iterator[Shell]:
    with ExitStack() as stack:
        yield Shell(tmp_path, server / "kubeconfig", stack)


@pytest.fixture
async def admin(server: Path) -> AsyncIterator[Client]:
    async with Client.connect(kubeconfig=server / "kubeconfig") as client:
        yield client


async def seen(client: Client, what: type[ObjectT], name: str, condition: Callable[[ObjectT], object]) -> ObjectT:
    """Wait until an object is as it should be."""
    async for event in client.watch(what, initial=True, fields={"metadata.name": name}):
        if event.type in ("ADDED", "MODIFIED") and condition(found := event.item.decode()):
            return found
    raise AssertionError("the watch ended")


async def answer(health: str, path: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(health + path) as response:
        return response.status, await response.text()


async def test_from_nothing_to_a_website_that_is_up(shell: Shell, server: Path, admin: Client) -> None:
    history = shell.directory / "history.jsonl"
    operator = shell.run(EXAMPLE, "--install-crds", "--history", history)
    health = operator.health
    url = yaml.safe_load(shell.kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
    assert operator.until("operator website on") == (
        f'operator website on {url} (from context "windvane" in {server}/kubeconfig)'
    )
    watching = operator.until("watching")
    assert watching == "watching websites.demo.windvane.dev, deployments.apps, services in all namespaces"
    operator.until("websites.demo.windvane.dev: installed")
    operator.until("filled its caches")
    operator.until("leads (lease default/website)")
    assert await answer(health, "/readyz") == (200, "ok\n")
    await admin.create(Website(metadata=ObjectMeta(name="blog"), spec=WebsiteSpec(image="nginx")))
    found = await seen(admin, Website, "blog", lambda it: it.status.conditions)
    assert found.status.conditions[0].message == "0 of 1 copies are up"
    assert (await admin.get(Deployment, "blog")).spec.template.spec.containers[0].image == "nginx"
    await admin.get(Service, "blog")
    done = 'windvane_passes_total{controller="websites.demo.windvane.dev",result="done"}'
    while done not in (await answer(health, "/metrics"))[1]:  # a pass writes the status before it is done
        await ambient.sleep(0.05)
    assert operator.stop() == 0
    told = [json.loads(line) for line in operator.lines if line.startswith("{")]
    # On a machine that holds it up there may be warnings in between.
    assert [each["message"] for each in told if each["level"] == "INFO"][-2:] == [
        "SIGTERM: stopping; passes under way have 25 s to finish, and a second signal stops at once",
        "website has stopped",
    ]
    assert (await admin.get(Lease, "website")).spec.holder_identity in (None, "")
    kept = read_journal(history)
    assert (kept[0].started, kept[-1].stopped) == (True, True)
    first = next(each.done for each in kept if each.done is not None)
    assert [str(each) for each in first.triggers] == ["Website blog came"]
    assert "apply deployments.apps blog" in map(str, first.writes)


# An operator of ConfigMaps needs no CRD.
SLOW = """
import asyncio
from windvane import Context, Operator
from windvane.k8s.core import ConfigMap, Secret
from windvane import ObjectMeta

operator = Operator("NAME")


@operator.controller(ConfigMap, owns=[Secret])
async def reconcile(it: ConfigMap, ctx: Context) -> None:
    if it.metadata.name == "NAME":
        ctx.log.info("begun")
        await asyncio.sleep(SECONDS)
        await ctx.apply(Secret(metadata=ObjectMeta(name="NAME")))
"""


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_what_runs_is_finished_when_it_stops(shell: Shell, admin: Client, number: signal.Signals) -> None:
    name = number.name.lower()
    shell.write("slow.py", SLOW.replace("NAME", name).replace("SECONDS", "0.5"))
    operator = shell.run("slow", "--namespace", "default")
    assert operator.until("watching") == "watching configmaps, secrets in default"
    operator.until("leads")
    await admin.create(config_map(name))
    operator.until("begun")
    assert operator.stop(number) == 0
    await admin.get(Secret, name)


async def test_a_second_signal_does_not_wait(shell: Shell, admin: Client) -> None:
    shell.write("slow.py", SLOW.replace("NAME", "endless").replace("SECONDS", "1000"))
    operator = shell.run("slow", "--no-leader-elect")
    operator.until("working without leader election")
    operator.until("filled its caches")
    await admin.create(config_map("endless"))
    operator.until("begun")
    operator.process.terminate()
    operator.until("SIGTERM: stopping")
    await ambient.sleep(2 * event_loop.MOMENT)  # two signals in one moment are one
    assert operator.stop() == -signal.SIGTERM


async def test_the_next_replica_leads_as_soon_as_the_first_has_stopped(shell: Shell, admin: Client) -> None:
    await admin.create(Namespace(metadata=ObjectMeta(name="leases")))
    shell.write("pair.py", SLOW.replace("NAME", "pair").replace("SECONDS", "0"))
    first = shell.run("pair", "--lease-namespace", "leases", "--identity", "first")
    first.until("first leads (lease leases/pair)")
    second = shell.run("pair", "--lease-namespace", "leases", "--identity", "second")
    health = second.health
    second.until("second stands by: first has lease leases/pair")
    assert (await answer(health, "/readyz"))[0] == 200
    assert "windvane_leading 0.0" in (await answer(health, "/metrics"))[1]
    assert first.stop() == 0
    second.until("second leads (lease leases/pair)")
    assert "windvane_leading 1.0" in (await answer(health, "/metrics"))[1]


MISSING = """
from windvane import Context, Operator, Resource, Spec, Status

operator = Operator("missing")


class Missing(Resource[Spec, Status], group="run.windvane.dev", version="v1"):
    \"\"\"A kind that nobody has installed.\"\"\"


@operator.controller(Missing)
async def reconcile(it: Missing, ctx: Context) -> None: ...
"""


async def test_a_kind_that_the_server_does_not_have_is_waited_for(shell: Shell, admin: Client) -> None:
    shell.write("missing.py", MISSING)
    operator = shell.run("missing", "--no-leader-elect")
    health = operator.health
    assert operator.until("the server has no") == (
        "watching missings.run.windvane.dev: the server has no missings.run.windvane.dev. Install its "
        "CustomResourceDefinition: windvane run --install-crds"
    )
    assert (await answer(health, "/healthz"))[0] == 200
    code, body = await answer(health, "/readyz")
    assert (code, "--install-crds" in body) == (503, True)
    other = shell.run("missing.py", "--no-leader-elect", "--install-crds", "--metrics-port", "none")
    other.until("missings.run.windvane.dev: installed")
    operator.until("filled its caches")


async def test_rights_that_are_missing_are_named(shell: Shell, admin: Client) -> None:
    """Of one who may do everything but watch."""
    await admin.create(ServiceAccount(metadata=ObjectMeta(name="narrow", namespace="default")))
    rule = PolicyRule(api_groups=[""], resources=["configmaps", "secrets"], verbs=["get", "list"])
    await admin.create(ClusterRole(metadata=ObjectMeta(name="narrow"), rules=[rule]))
    await admin.create(
        ClusterRoleBinding(
            metadata=ObjectMeta(name="narrow"),
            role_ref=RoleRef(api_group="rbac.authorization.k8s.io", kind="ClusterRole", name="narrow"),
            subjects=[Subject(kind="ServiceAccount", name="narrow", namespace="default")],
        )
    )
    config = yaml.safe_load(shell.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": (await admin.token("narrow")).token}
    shell.kubeconfig = shell.directory / "narrow"
    shell.kubeconfig.write_text(yaml.safe_dump(config))
    shell.write("narrow.py", SLOW.replace("NAME", "narrow").replace("SECONDS", "0"))
    operator = shell.run("narrow")
    health = operator.health
    message = operator.until("watching configmaps:")
    assert message == (
        'watching configmaps: configmaps is forbidden: User "system:serviceaccount:default:narrow" cannot watch '
        'resource "configmaps" in API group "" at the cluster scope. '
        "Grant the verbs list and watch on configmaps to the operator"
    )
    assert (await answer(health, "/readyz"))[0] == 503
    assert operator.stop() == 0


def test_a_history_that_can_not_be_written_is_an_error(shell: Shell) -> None:
    code, words = shell.said(EXAMPLE, "--history", "/proc/nowhere")
    assert code == 1
    assert words == (
        "windvane: the history can't be written to /proc/nowhere: No such file or directory. Name another file with "
        "--history\n"
    )


def test_a_port_that_is_taken_is_an_error(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = shell.said(EXAMPLE, "--metrics-port", str(port))
    assert code == 1
    assert said == (
        f"windvane: another program has port {port}, where health and metrics should be. Choose another with "
        "--metrics-port N (0: any that is free), or do without: --metrics-port none\n"
    )


def test_an_address_that_is_not_this_machines_is_an_error(shell: Shell) -> None:
    code, said = shell.said(EXAMPLE, "--metrics-host", "192.0.2.1")
    assert code == 1
    assert said.startswith("windvane: health and metrics can't be at 192.0.2.1 port 0: ")
    assert "Traceback" not in said


def test_a_server_that_is_not_there_is_an_error(shell: Shell) -> None:
    config = yaml.safe_load(shell.kubeconfig.read_text())
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    shell.write("gone", yaml.safe_dump(config))
    code, said = shell.said(EXAMPLE, "--kubeconfig", "gone")
    assert code == 1
    assert said == (
        f'windvane: https://127.0.0.1:1 (from context "windvane" in {shell.directory}/gone) can\'t be reached: '
        "Connection refused\n"
        "To have a cluster on this machine: windvane cluster start --detach && "
        "export KUBECONFIG=$(windvane cluster kubeconfig)\n"
        "To use that of a windvane dev which runs: export the KUBECONFIG that it shows\n"
        "To use another one: pass --kubeconfig FILE, and --context NAME if it has several\n"
    )


def test_credentials_that_are_not_accepted_are_an_error(shell: Shell) -> None:
    config = yaml.safe_load(shell.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": "wrong"}
    shell.write("wrong", yaml.safe_dump(config))
    code, said = shell.said(EXAMPLE, "--kubeconfig", "wrong")
    assert (code, said.count("\n")) == (1, 1)
    assert "does not accept the credentials from context" in said


def test_an_operator_that_declares_nothing_is_an_error(shell: Shell) -> None:
    shell.write("empty.py", 'from windvane import Operator\n\noperator = Operator("empty")\n')
    assert shell.said("empty") == (
        1,
        "windvane: operator 'empty' has no controllers: write @operator.controller(...)\n",
    )


LIFESPAN = """
from collections.abc import AsyncIterator
from windvane import Client, Context, Operator
from windvane.k8s.core import ConfigMap

operator = Operator("queue")


@operator.lifespan
async def queue(client: Client) -> AsyncIterator[None]:
    raise ConnectionRefusedError("nothing listens at queue:5672")
    yield


@operator.controller(ConfigMap)
async def reconcile(it: ConfigMap, ctx: Context) -> None: ...
"""


def test_a_lifespan_that_can_not_begin_is_an_error(shell: Shell) -> None:
    shell.write("queue_operator.py", LIFESPAN)
    code, said = shell.said("queue_operator.py")
    words = "the lifespan queue failed to begin: ConnectionRefusedError: nothing listens at queue:5672"
    assert (code, said.strip().endswith(words)) == (1, True), said


def test_it_can_be_stopped_while_it_waits_for_a_server(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        cluster = {"server": f"http://127.0.0.1:{silent.getsockname()[1]}"}
        config = {
            "clusters": [{"name": "a", "cluster": cluster}],
            "contexts": [{"name": "a", "context": {"cluster": "a"}}],
            "current-context": "a",
        }
        shell.write("silent", yaml.safe_dump(config))
        operator = shell.run(EXAMPLE, "--kubeconfig", "silent")
        operator.until("watching")
        assert operator.stop() == 0
