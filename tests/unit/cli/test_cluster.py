"""`windvane cluster` as users run it, in processes of its own."""

import asyncio
import json
import os
import re
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import (
    ExitStack,
    aclosing,
    asynccontextmanager,
    closing,
    contextmanager,
    redirect_stderr,
    redirect_stdout,
)
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pytest

from ports import free_port
from windvane import ambient
from windvane.api.codec import to_wire
from windvane.api.meta import ObjectMeta, OwnerReference
from windvane.api.quantity import Quantity
from windvane.cli import main
from windvane.client.client import Client
from windvane.client.config import load_config
from windvane.client.errors import Forbidden
from windvane.client.http import HTTPTransport
from windvane.client.transport import Request
from windvane.cluster.instance import Instance, home
from windvane.cluster.node.network.addresses import claim_for_services
from windvane.cluster.readiness import is_ready
from windvane.k8s.core import (
    ConfigMap,
    Container,
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    Pod,
    PodSpec,
    Service,
    ServiceAccount,
    VolumeResourceRequirements,
)
from windvane.k8s.rbac import PolicyRule, Role, RoleBinding, RoleRef, Subject
from windvane.runtime.observability.journal import read_journal


@dataclass
class Shell:
    """A user's shell, whose home is the test's own."""

    home: Path
    controllers: bool = False
    """Whether its clusters have them; most of what is tried here is the same without, and sooner."""
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def __call__(self, *words: str | Path) -> "Said":
        """Run a command and wait for its end: `start` in a process of its own, the others in this one."""
        if words[0] == "start":
            process = self.popen(*words)
            out, error = process.communicate(timeout=60)
            return Said(process.returncode, out, error)
        with (
            patch.dict(os.environ, WINDVANE_HOME=str(self.home)),
            redirect_stdout(StringIO()) as printed,
            redirect_stderr(StringIO()) as complained,
        ):
            code = main(["cluster", *map(str, words)])
        return Said(code, printed.getvalue(), complained.getvalue())

    def popen(self, *words: str | Path) -> subprocess.Popen[str]:
        """Run a command and don't wait for its end."""
        alone = ["--no-controllers"] if words[0] == "start" and not self.controllers else []
        process = subprocess.Popen(
            [sys.executable, "-m", "windvane.cli", "cluster", *words, *alone],
            env={**os.environ, "WINDVANE_HOME": str(self.home)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.processes.append(process)
        return process

    @contextmanager
    def foreground(self, *words: str | Path) -> Iterator[subprocess.Popen[str]]:
        """A cluster that was started without --detach, and is ready."""
        process = self.popen("start", *words)
        assert process.stdout is not None
        assert process.stderr is not None
        if not any("Ctrl-C" in line for line in process.stdout):
            pytest.fail(process.stderr.read())
        yield process

    def instance(self, name: str = "default") -> Instance:
        """A cluster, as it is on disk."""
        return Instance(name, self.home / "clusters" / name)


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    code: int
    out: str
    error: str

    @property
    def pid(self) -> int:
        """The pid in the output."""
        found = re.search(r"pid (\d+)", self.out)
        assert found, self
        return int(found[1])


@pytest.fixture
def windvane(tmp_path: Path) -> Iterator[Shell]:
    yield from shell(tmp_path / "home")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A shell in which the cluster `default` runs; for tests that leave it running."""
    for each in shell(tmp_path_factory.mktemp("running") / "home"):
        assert each("start", "--detach", "--memory").code == 0
        yield each


def shell(directory: Path) -> Iterator[Shell]:
    shell = Shell(directory)
    try:
        yield shell
    finally:
        for process in shell.processes:
            process.kill()
            process.communicate()
        for lock in directory.parent.rglob("lock"):
            if (left := Instance("left", lock.parent).process()) is not None:
                os.kill(left.pid, signal.SIGKILL)


@asynccontextmanager
async def client(kubeconfig: Path) -> AsyncIterator[HTTPTransport]:
    transport = HTTPTransport(load_config(kubeconfig=kubeconfig))
    try:
        yield transport
    finally:
        await transport.close()


def namespaces(instance: Instance) -> list[str]:
    """The namespaces of that cluster."""

    async def ask() -> list[str]:
        async with Client.connect(kubeconfig=instance.kubeconfig) as client:
            return [each.metadata.name async for each in client.list(Namespace)]

    return asyncio.run(ask())


# Starting


def test_a_detached_cluster_is_ready_when_the_command_returns(windvane: Shell) -> None:
    said = windvane("start", "--detach")
    assert (said.code, said.error) == (0, "")
    kubeconfig = windvane.instance().kubeconfig
    assert f"    export KUBECONFIG={kubeconfig}\n    kubectl get namespaces\n" in said.out
    assert f"data        {windvane.instance().directory}\n" in said.out
    assert "default" in namespaces(windvane.instance())
    os.kill(said.pid, 0)


def test_a_cluster_in_the_foreground_says_how_to_use_it(windvane: Shell) -> None:
    with windvane.foreground() as process:
        assert "default" in namespaces(windvane.instance())
        assert windvane("status").pid == process.pid


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_cleanly(windvane: Shell, number: signal.Signals) -> None:
    with windvane.foreground() as process:
        process.send_signal(number)
        out, error = process.communicate(timeout=60)
    assert (process.returncode, out, error) == (0, "\nStopped.\n", "")
    assert windvane.instance().process() is None


async def test_an_open_watch_does_not_keep_it_from_stopping(windvane: Shell) -> None:
    with windvane.foreground() as process:
        async with (
            client(windvane.instance().kubeconfig) as transport,
            transport.open(Request("GET", "/api/v1/namespaces", query=[("watch", "true")])) as response,
        ):
            chunks = response.chunks()
            assert b"ADDED" in await anext(chunks)
            process.send_signal(signal.SIGTERM)
            async for _ in chunks:
                pass
        _, error = process.communicate(timeout=60)
        assert (process.returncode, error) == (0, "")


def test_it_goes_on_with_its_data_at_the_same_place(windvane: Shell) -> None:
    async def create() -> None:
        async with Client.connect(kubeconfig=windvane.instance().kubeconfig) as client:
            await client.create(Namespace(metadata=ObjectMeta(name="kept")))

    with windvane.foreground("--port", str(free_port())) as process:
        before = windvane.instance().kubeconfig.read_bytes()
        asyncio.run(create())
        process.kill()  # what was confirmed is on disk
        process.wait()
    with windvane.foreground():
        assert "kept" in namespaces(windvane.instance())
    assert windvane.instance().kubeconfig.read_bytes() == before


def test_a_cluster_in_memory_writes_no_objects(windvane: Shell) -> None:
    assert "data        in memory" in windvane("start", "--detach", "--memory").out
    assert "nothing stays" in windvane("stop").out
    assert not windvane.instance().store.exists()


def test_clusters_live_side_by_side(windvane: Shell, tmp_path: Path) -> None:
    commands = [["--name", "one"], ["--name", "two"], ["--data", str(tmp_path / "a dir")]]
    with ExitStack() as stack:
        processes = [stack.enter_context(windvane.foreground("--memory", *each)) for each in commands]
    assert [windvane("status", *each).pid for each in commands] == [process.pid for process in processes]
    assert "windvane-one" in windvane.instance("one").kubeconfig.read_text()
    assert windvane("stop", "--name", "one").code == 0
    assert [windvane("status", *each).code for each in commands] == [3, 0, 0]


def test_of_two_that_start_at_once_one_runs(windvane: Shell) -> None:
    processes = [windvane.popen("start", "--detach", "--memory") for _ in range(2)]
    codes = sorted(process.wait(timeout=60) for process in processes)
    assert codes == [0, 1]
    assert windvane("status").code == 0


def test_a_cluster_that_was_killed_starts_again(windvane: Shell) -> None:
    with windvane.foreground() as process:
        process.kill()
        process.wait()
    assert windvane("status").code == 3
    with windvane.foreground() as process:
        assert windvane("status").pid == process.pid


@pytest.mark.parametrize("detach", [["--detach"], []])
def test_a_port_that_is_taken_is_an_error(windvane: Shell, detach: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = windvane("start", "--port", str(port), *detach)
    assert (said.code, said.out) == (1, "")
    assert said.error == (
        f"windvane: the cluster can't listen on port {port}: another program has it. "
        "Choose another with --port, or leave it out to get one that is free.\n"
    )


def test_the_port_it_had_is_only_a_wish(windvane: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        directory = windvane.instance().directory
        directory.mkdir(parents=True)
        (directory / "lock").touch()
        port = taken.getsockname()[1]
        (directory / "cluster.json").write_text(f'{{"pid": 1, "port": {port}}}')
        with windvane.foreground("--memory"):
            process = windvane.instance().process()
    assert process is not None
    assert process.port not in (0, port)


@pytest.mark.parametrize("detach", [["--detach"], []])
def test_a_cluster_that_runs_is_not_started_again(running: Shell, detach: list[str]) -> None:
    said = running("start", *detach)
    pid = running("status").pid
    assert (said.code, said.out) == (1, "")
    assert said.error == (
        f"windvane: the cluster 'default' is running already, with pid {pid}.\n"
        f"  use it:                    export KUBECONFIG={running.instance().kubeconfig}\n"
        "  stop it:                   windvane cluster stop\n"
        "  start another beside it:   windvane cluster start --name NAME\n"
    )


@pytest.mark.parametrize("detach", [["--detach"], []])
def test_a_store_that_cannot_be_opened_is_an_error(windvane: Shell, detach: list[str]) -> None:
    directory = windvane.instance().directory
    directory.mkdir(parents=True)
    (directory / "lock").touch()
    store = directory / "store.sqlite"
    with closing(sqlite3.connect(store)) as database:
        database.execute("create table letters (words text)")
    said = windvane("start", *detach)
    assert (said.code, said.error) == (
        1,
        f"windvane: {store} is a database of another program: give the cluster another data directory\n",
    )


def test_a_directory_with_other_things_in_it_is_left_alone(windvane: Shell, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter").touch()
    said = windvane("start", "--data", tmp_path / "mine")
    assert said.code == 1
    assert "mine has other files in it and is no cluster of windvane: name a new or an empty directory" in said.error
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["letter"]


def test_a_file_is_no_directory(windvane: Shell, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = windvane("start", "--data", tmp_path / "file")
    assert (said.code, said.error) == (
        1,
        f"windvane: {tmp_path / 'file'} is a file: name a directory, which may be a new one.\n",
    )


@pytest.mark.long
def test_services_move_if_another_cluster_has_taken_their_network(windvane: Shell) -> None:
    windvane.controllers = True
    instance = windvane.instance()

    async def address() -> str:
        async with Client.connect(kubeconfig=instance.kubeconfig) as client:
            return (await client.get(Service, "kubernetes", namespace="default")).spec.cluster_ip or ""

    def network() -> str:
        """Where Services are, says everybody who should know."""
        with windvane.foreground() as process:
            found = asyncio.run(address())
            process.terminate()
            process.wait()
        assert found in json.loads((instance.directory / "pki" / "issued.json").read_text())["names"]
        last = instance.last_process()
        assert last is not None
        assert last.services == f"{found.removesuffix('.1')}.0/16"
        return last.services

    first = network()
    with closing(claim_for_services("another", first)):
        assert network() != first


def test_controllers_are_at_work(windvane: Shell) -> None:
    windvane.controllers = True

    async def account() -> ServiceAccount:
        async with (
            Client.connect(kubeconfig=windvane.instance().kubeconfig) as client,
            aclosing(client.watch(ServiceAccount, namespace="default", initial=True)) as events,
        ):
            async for event in events:
                if event.type != "BOOKMARK":
                    return event.object
        raise AssertionError("the watch ended")

    with windvane.foreground("--memory") as process:
        assert asyncio.run(account()).metadata.name == "default"
        process.terminate()  # what was seen may be the work of a pass that is still under way, which must not get lost
        assert process.wait() == 0
    writes = [write for entry in read_journal(windvane.instance().history) if entry.done for write in entry.done.writes]
    assert ("serviceaccounts", "default", "default") in {(each.resource, each.namespace, each.name) for each in writes}
    assert windvane("reset").code == 0
    assert not windvane.instance().directory.exists()


def test_without_controllers_a_pod_needs_no_account(windvane: Shell) -> None:
    pod = Pod(metadata=ObjectMeta(name="web"), spec=PodSpec(containers=[Container(name="web", image="web")]))

    async def create() -> Pod:
        async with Client.connect(kubeconfig=windvane.instance().kubeconfig) as client:
            return await client.create(pod)

    with windvane.foreground("--memory"):
        assert asyncio.run(create()).metadata.name == "web"


def claim_a_volume(instance: Instance) -> Path:
    """Make a claim, and wait until it has its directory."""
    spec = PersistentVolumeClaimSpec(
        access_modes=["ReadWriteOnce"], resources=VolumeResourceRequirements(requests={"storage": Quantity("1Gi")})
    )

    async def bound() -> Path:
        async with Client.connect(kubeconfig=instance.kubeconfig) as client:
            await client.create(PersistentVolumeClaim(metadata=ObjectMeta(name="data"), spec=spec))
            while not (volumes := list(await client.list(PersistentVolume))):
                await ambient.sleep(0.1)
            source = volumes[0].spec.host_path
            assert source is not None
            return Path(source.path)

    return asyncio.run(bound())


@pytest.mark.long
def test_the_data_of_a_claim_outlives_the_cluster_that_stops(windvane: Shell) -> None:
    windvane.controllers = True
    with windvane.foreground() as process:
        place = claim_a_volume(windvane.instance())
        (place / "file").write_text("precious")
        process.terminate()
        process.wait()
    with windvane.foreground("--memory") as process:
        in_memory = claim_a_volume(windvane.instance())
        assert in_memory.is_dir()
        process.terminate()
        process.wait()
    assert (place / "file").read_text() == "precious"
    assert not in_memory.exists()


def test_who_asks_for_what_is_recorded(windvane: Shell, tmp_path: Path) -> None:
    log = tmp_path / "audit.log"

    async def look() -> None:
        async with Client.connect(kubeconfig=windvane.instance().kubeconfig) as client:
            await client.get(Namespace, "default")

    with windvane.foreground("--memory", "--audit-log", str(log)):
        asyncio.run(look())
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    events = [json.loads(line) for line in log.read_text().splitlines()]
    named = [event for event in events if event.get("objectRef", {}).get("name") == "default"]
    assert [event["stage"] for event in named] == ["RequestReceived", "ResponseComplete"]
    assert {event["user"]["username"] for event in named} == {"kubernetes-admin"}
    assert {tuple(event["sourceIPs"]) for event in named} == {("127.0.0.1",)}


def test_an_audit_log_that_can_not_be_written_is_explained(windvane: Shell, tmp_path: Path) -> None:
    said = windvane("start", "--memory", "--audit-log", tmp_path)
    assert said.code == 1
    assert said.error == (
        f"windvane: the audit log can't be written to {tmp_path}: Is a directory. Name another file.\n"
    )


def test_an_unknown_admission_plugin_is_refused_with_what_there_is(windvane: Shell) -> None:
    said = windvane("start", "--memory", "--enable-admission-plugins", "OwnerReferences")
    assert said.code == 2
    assert "there is no admission plugin OwnerReferences." in said.error
    assert "Can be enabled: OwnerReferencesPermissionEnforcement. Always on: CertificateApproval," in said.error


def test_an_admission_plugin_is_on_if_asked_for(windvane: Shell) -> None:
    plugin = ("--enable-admission-plugins", "LimitRanger,OwnerReferencesPermissionEnforcement")
    assert windvane("start", "--memory", "--detach", *plugin).code == 0
    owner = OwnerReference(api_version="v1", kind="Node", name="node-1", uid="1")
    access = PolicyRule(api_groups=[""], resources=["configmaps"], verbs=["create", "patch"])

    async def give_an_owner() -> None:
        async with Client.connect(kubeconfig=windvane.instance().kubeconfig) as client:
            await client.create(Role(metadata=ObjectMeta(name="writers"), rules=[access]))
            role = RoleRef(api_group="rbac.authorization.k8s.io", kind="Role", name="writers")
            jane = Subject(api_group="rbac.authorization.k8s.io", kind="User", name="jane")
            await client.create(RoleBinding(metadata=ObjectMeta(name="writers"), role_ref=role, subjects=[jane]))
        config = load_config(kubeconfig=windvane.instance().kubeconfig)
        transport = HTTPTransport(replace(config, impersonate_user="jane"))
        async with Client(transport) as client:
            await client.create(ConfigMap(metadata=ObjectMeta(name="a")))
            await client.patch(ConfigMap, "a", {"metadata": {"ownerReferences": [to_wire(owner)]}})

    with pytest.raises(Forbidden, match="cannot set an ownerRef on a resource you can't delete"):
        asyncio.run(give_an_owner())
    assert windvane("stop").code == 0


# The others


def test_status_says_where_everything_is(running: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(is_ready, "__kwdefaults__", {"within": 60.0})  # a cluster that waits for a CPU is not ready
    said = running("status")
    instance = running.instance()
    process = instance.process()
    assert process is not None
    assert said.code == 0
    assert said.out == (
        f"The cluster 'default' is running and ready, with pid {process.pid}.\n"
        f"  server      {process.url}\n"
        f"  kubeconfig  {instance.kubeconfig}\n"
        "  data        in memory\n"
    )


def test_only_the_owner_can_read_what_is_in_the_directory(running: Shell) -> None:
    directory = running.instance().directory
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in directory.iterdir() if file.is_file()} == {0o600}


def test_kubeconfig_prints_where_it_is(running: Shell) -> None:
    said = running("kubeconfig")
    assert (said.code, said.out) == (0, f"{running.instance().kubeconfig}\n")


def test_a_cluster_that_runs_is_not_reset(running: Shell) -> None:
    said = running("reset")
    assert said.code == 1
    assert "stop it:                   windvane cluster stop\n" in said.error
    assert running("status").code == 0


def test_stop_returns_when_it_has_stopped(windvane: Shell) -> None:
    pid = windvane("start", "--detach").pid
    said = windvane("stop")
    assert (said.code, said.out) == (
        0,
        f"Stopped (pid {pid}); the data stays in {windvane.instance().directory}.\n",
    )
    assert windvane.instance().process() is None


def test_reset_removes_what_is_the_clusters(windvane: Shell) -> None:
    with windvane.foreground() as process:
        process.terminate()
        process.wait()
    assert windvane.instance().store.exists()
    (windvane.instance().volumes / "pvc-1").mkdir(parents=True)
    assert windvane("reset").code == 0
    assert list((windvane.home / "clusters").iterdir()) == []


def test_reset_leaves_what_is_somebody_elses(windvane: Shell) -> None:
    with windvane.foreground("--memory") as process:
        process.terminate()
        process.wait()
    (windvane.instance().directory / "notes").touch()
    assert windvane("reset").code == 0
    assert [file.name for file in windvane.instance().directory.iterdir()] == ["notes"]


# Without a process: what these say is known before anything runs


@pytest.fixture
def nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WINDVANE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("command", ["stop", "status"])
def test_what_needs_a_cluster_says_how_to_start_one(
    nothing_runs: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cluster", command, "--name", "web"]) == 3
    assert capsys.readouterr().err == (
        f"windvane: the cluster 'web' in {nothing_runs}/clusters/web is not running. "
        "Start it: windvane cluster start --name web\n"
    )


def test_the_path_of_a_kubeconfig_is_never_empty(nothing_runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Else `export KUBECONFIG=$(windvane cluster kubeconfig)` leads to the cluster of ~/.kube/config."""
    assert main(["cluster", "kubeconfig", "--name", "web"]) == 0
    said = capsys.readouterr()
    assert said.out == f"{nothing_runs}/clusters/web/kubeconfig\n"
    assert said.err == (
        f"windvane: the cluster 'web' in {nothing_runs}/clusters/web is not running. "
        "Start it: windvane cluster start --name web\n"
    )
    assert list(nothing_runs.iterdir()) == []


def test_the_command_to_copy_names_the_directory_if_need_be(
    nothing_runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cluster", "stop", "--data", f"{nothing_runs}/a b"]) == 3
    assert capsys.readouterr().err.endswith(f"windvane cluster start --data '{nothing_runs}/a b'\n")


def test_there_is_nothing_to_reset(nothing_runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "reset"]) == 3
    assert "there is no cluster 'default' in" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["..", "a/b", "A", "-a", "a" * 64, "a\n", "é"])
def test_a_name_never_becomes_a_path_of_its_own(
    nothing_runs: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cluster", "start", f"--name={name}"]) == 1
    assert "can't be a cluster's name: use up to 63 lower-case letters" in capsys.readouterr().err
    assert list(nothing_runs.iterdir()) == []


@pytest.mark.parametrize("words", [[], ["cluster"], ["cluster", "fly"], ["cluster", "start", "--port", "70000"]])
def test_a_wrong_command_line_is_explained(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert "usage: windvane" in capsys.readouterr().err


def test_help_shows_how_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["cluster", "start", "--help"])
    assert ended.value.code == 0
    assert "export KUBECONFIG=$(windvane cluster kubeconfig)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"WINDVANE_HOME": "/w", "XDG_DATA_HOME": "/x"}, "/w"),
        ({"XDG_DATA_HOME": "/x"}, "/x/windvane"),
        ({"XDG_DATA_HOME": "relative"}, f"{Path.home()}/.local/share/windvane"),
        ({}, f"{Path.home()}/.local/share/windvane"),
    ],
)
def test_clusters_live_where_the_system_keeps_data(environ: dict[str, str], expected: str) -> None:
    assert home(environ) == Path(expected)


def test_asking_for_help_loads_no_server() -> None:
    code = "import sys, windvane.cli; print([m for m in ('aiohttp', 'cryptography', 'sqlite3') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
