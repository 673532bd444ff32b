"""`windvane bug-report`: what is in it, what is not, and that it comes about when little works."""

import asyncio
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from integration.server_process import Command
from windvane import Client, ObjectMeta, Resource, Spec, Status, ambient
from windvane.cli import main
from windvane.client.config import load_config
from windvane.client.http import HTTPTransport
from windvane.k8s.core import Namespace, Secret
from windvane.runtime.crds import install_crds
from windvane.runtime.observability.history import Pass, Trigger
from windvane.runtime.observability.journal import Journal

SECRET = "correct-horse-battery-staple"
MODULE = """
from typing import Literal
from windvane import Context, Operator, Resource, Spec, Status

class VaultSpec(Spec):
    mode: Literal["Open", "Sealed"] = "Open"
    phrase: str = ""
    keys: dict[str, str] = {}

class Vault(Resource[VaultSpec, Status], group="example.com", version="v1"):
    pass

operator = Operator("vaults")

@operator.controller(Vault)
async def reconcile(vault: Vault, ctx: Context) -> None: ...
"""


class VaultSpec(Spec):
    """That of the module."""

    mode: Literal["Open", "Sealed"] = "Open"
    phrase: str = ""
    keys: dict[str, str] = {}


class Vault(Resource[VaultSpec, Status], group="example.com", version="v1"):
    """That of the module."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command is typed; there is no cluster."""
    directory = tmp_path / "project"
    directory.mkdir()
    monkeypatch.chdir(directory)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setenv("WINDVANE_HOME", str(tmp_path / "home"))
    return directory


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: Path) -> Iterator[Path]:
    """The directory of one that runs."""
    del project
    data = tmp_path / "cluster"
    with Command.open() as command:
        command.start(data)
        monkeypatch.setenv("KUBECONFIG", str(data / "kubeconfig"))
        yield data


async def fill() -> None:
    config = load_config()
    async with Client(HTTPTransport(config)) as client:
        await install_crds(client, [Vault])
        spec = VaultSpec(mode="Sealed", phrase=SECRET, keys={"first": SECRET})
        await client.create(Vault(metadata=ObjectMeta(name="deep", annotations={"note": SECRET}), spec=spec))
        await client.create(Namespace(metadata=ObjectMeta(name="elsewhere")))
        await client.create(Secret(metadata=ObjectMeta(name="a"), string_data={"key": SECRET}))


def test_it_tells_of_the_operator_its_objects_and_its_passes_and_no_secrets(
    cluster: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "vaults.py").write_text(MODULE)
    asyncio.run(fill())
    Journal(cluster / "history" / "cluster.jsonl", "cluster").close()
    journal = Journal(cluster / "history" / "vaults.jsonl", "vaults")
    because = [Trigger("Vault deep came", manager="kubectl", fields=["spec.keys"])]
    message = f"no answer from https://admin:{SECRET}@vault"
    done = Pass(id="1", kind="Vault", namespace="default", name="deep", began=ambient.now(), triggers=because)
    done.result, done.message = "failed", message
    journal.write(done)
    journal.close()
    assert main(["bug-report", "vaults:operator", "-o", "report.md"]) == 0
    file = project / "report.md"
    report = file.read_text()
    assert SECRET not in report
    assert (cluster / "pki" / "admin.token").read_text().strip() not in report
    for words in (
        "## Operator vaults",
        "fail CRD Vault: vaults.example.com differs from the class at ",
        "mode: Sealed",
        "phrase: «28 characters»",
        "Vault default/deep because Vault deep came (kubectl: spec.keys) → failed: no answer from https://«removed»@vault",
        "aiohttp ",
    ):
        assert words in report
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert main(["bug-report", "vaults:operator", "-o", "report.md"]) == 2
    assert "name another file" in capsys.readouterr().err
    assert file.read_text() == report


def test_there_is_one_without_a_cluster_and_with_an_operator_that_does_not_load(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "broken.py").write_text(f'PASSWORD = "{SECRET}"\nraise ValueError(f"password={{PASSWORD}} is wrong")\n')
    assert main(["bug-report", "broken:operator", "-o", "-"]) == 0
    report = capsys.readouterr().out
    assert "## The operator can't be loaded" in report
    assert "broken.py" in report
    assert "fail cluster: " in report
    assert SECRET not in report


def test_a_file_that_can_not_be_written_is_told_in_a_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    del project
    assert main(["bug-report", "-o", "no/such/directory/report.md"]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("windvane: no/such/directory/report.md can't be written: No such file or directory; name")
