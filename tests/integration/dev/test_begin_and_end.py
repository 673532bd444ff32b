"""How `windvane dev` begins and ends, and what it says if it can't."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from integration.dev.desk import OPERATOR, SAMPLE, Desk, Website, processes, wanted
from windvane import Client

pytestmark = pytest.mark.xdist_group("windvane dev, its beginning and its end")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_code_that_can_not_be_loaded_is_waited_for(desk: Desk) -> None:
    content = desk.edit(OPERATOR, "from windvane.k8s import apps, core", "from windvane.k8s import apps, cores")
    with desk.run() as dev:
        told = dev.until("ImportError")
        assert f"problem    {OPERATOR}:4: ImportError: cannot import name 'cores'" in told
        assert told.endswith("; it starts when that is mended")
        dev.mark()
        desk.save(OPERATOR, content)
        dev.until("the operator is ready")
        dev.until("Ready is True")
        dev.signal(signal.SIGKILL)
        dev.end()
    # Nothing outlives it, also if it had no time to see to that; nor does that keep the next one from starting.
    while processes(desk.home):
        pass
    with desk.run("--no-samples") as dev:
        dev.until("the operator is ready")
        assert "Website default/example" not in "".join(dev.lines)
        dev.signal(signal.SIGTERM)
        assert dev.end()[0] == 0


def test_a_module_beside_the_project_that_can_not_be_loaded_is_waited_for(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "shared_labels.py").write_text("LABELS = = {}\n")
    monkeypatch.setenv("PYTHONPATH", str(beside))
    desk.edit(OPERATOR, "from windvane import", "import shared_labels\nfrom windvane import")
    with desk.run("--no-samples") as dev:
        assert "shared_labels.py:1: SyntaxError" in dev.until("problem")
        (beside / "shared_labels.py").write_text("LABELS = {}\n")
        dev.until("the operator is ready")


async def test_objects_are_kept_if_asked_for(desk: Desk) -> None:
    with desk.run("--keep") as dev:
        dev.until("Website default/example  Ready is True")
        async with Client.connect(kubeconfig=dev.kubeconfig) as client:
            before = await client.apply(wanted("example", copies=3), force=True)
        code, said = desk.said()
        assert code == 1
        assert said == (
            f"windvane: windvane dev runs here already, with pid {dev.process.pid}: stop it there, or have another one "
            "beside it with --name dev-website-operator-2\n"
        )
        dev.signal(signal.SIGINT)
        assert "The objects stay in" in dev.end()[1]
    with desk.run() as dev:
        dev.until(f"{SAMPLE}: Website example is there from last time, and is left as it is")
        async with Client.connect(kubeconfig=dev.kubeconfig) as client:
            after = await client.get(Website, "example", namespace="default")
        dev.signal(signal.SIGINT)
        assert "The objects stay in" in dev.end()[1]
    assert (before.metadata.uid, after.spec.copies) == (after.metadata.uid, 3)


def test_without_rights_in_the_project_it_may_do_everything(desk: Desk) -> None:
    (desk.project / "website.py").write_text(
        "from windvane import Context, Operator\nfrom windvane.k8s.core import ConfigMap\noperator = Operator('maps')\n"
        "@operator.controller(ConfigMap)\nasync def reconcile(it: ConfigMap, ctx: Context) -> None: ...\n"
    )
    (desk.project / "deploy" / "operator.yaml").unlink()
    with desk.run("website.py", "--no-samples") as dev:
        dev.until("the operator may do everything here: deploy has no ServiceAccount for it")
        dev.until("the operator is ready")
        dev.signal(signal.SIGINT)
        assert dev.end()[0] == 0


def test_one_that_is_stopped_while_it_starts_stops(desk: Desk) -> None:
    with desk.run() as dev:
        dev.until("a cluster is starting")
        dev.signal(signal.SIGINT)
        assert dev.end() == (0, "".join(dev.lines))
        assert dev.lines[-1].endswith("dev        stopped\n")
    assert processes(desk.home) == []


def test_a_cluster_that_is_killed_again_and_again_is_given_up(desk: Desk) -> None:
    with desk.run("--no-samples") as dev:
        dev.until("the operator is ready")
        for _ in range(2):
            dev.mark()
            os.kill(dev.cluster(), signal.SIGKILL)
            dev.until("the cluster is back")
        os.kill(dev.cluster(), signal.SIGKILL)
        code, said = dev.end()
    assert code == 1
    assert said.splitlines()[-1].startswith(
        "windvane: the cluster has ended 3 times within 60 s (the last time: killed"
    )
    assert processes(desk.home) == []


def test_it_ends_when_nobody_reads_what_it_says(desk: Desk) -> None:
    with desk.run() as dev:
        dev.until("a cluster is starting")
        dev.read_no_more()
        assert dev.process.wait() == 0
    assert processes(desk.home) == []


NO_NAMESPACES = (
    *("unshare", "--user", "--map-root-user", "sh", "-c"),
    'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all "$@"',
    "sh",
)
"""Runs a command for which this machine allows no namespaces."""


def test_what_the_cluster_warns_of_is_told(desk: Desk) -> None:
    if subprocess.run([*NO_NAMESPACES, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("a machine without user namespaces can't be made here")
    with desk.run("--no-samples", before=NO_NAMESPACES) as dev:
        dev.until("the cluster says: this system allows no mount namespaces")
        dev.signal(signal.SIGINT)
        assert dev.end()[0] == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["website_operator:api"], 2, "windvane: website_operator:api is a module, not an Operator; write website_op"),
        (["nothing_here"], 2, "windvane: there is no module 'nothing_here', neither in"),
        (["--samples", "nowhere"], 2, "windvane: --samples: there is no nowhere\n"),
        (["--name", "A b"], 1, "windvane: 'A b' can't be a cluster's name"),
    ],
)
def test_what_can_not_be_is_told_in_a_line(desk: Desk, words: list[str], code: int, said: str) -> None:
    ended, told = desk.said(*words)
    last = told.splitlines(keepends=True)[-1]
    assert (ended, last[: len(said)]) == (code, said)
    assert processes(desk.home) == []


def test_a_port_that_is_taken_is_told_in_a_line(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, told = desk.said("--port", str(port))
    assert code == 1
    assert told.splitlines()[-1] == (
        f"windvane: the cluster can't listen on port {port}: another program has it. "
        "Choose another with --port, or leave it out to get one that is free."
    )
