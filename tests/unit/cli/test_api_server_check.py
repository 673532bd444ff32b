"""Commands that look at a cluster, before a server that takes connections and never answers."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from windvane.cli import api_server_check, main

SITES = """
from windvane import Context, Operator, Resource, Spec, Status

class Site(Resource[Spec, Status], group="silent.windvane.dev", version="v1"):
    pass

class Shop(Resource[Spec, Status], group="silent.windvane.dev", version="v1"):
    pass

operator = Operator("sites")

@operator.controller(Site, owns=[Shop])
async def reconcile(site: Site, ctx: Context) -> None: ...
"""


@pytest.fixture
def silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server that is silent; KUBECONFIG leads to it, and nobody has much patience."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        named = {"name": "x"}
        config = {
            "clusters": [{**named, "cluster": {"server": address}}],
            "users": [{**named, "user": {}}],
            "contexts": [{**named, "context": {"cluster": "x", "user": "x"}}],
            "current-context": "x",
        }
        (tmp_path / "kubeconfig").write_text(yaml.safe_dump(config))
        (tmp_path / "silent_sites.py").write_text(SITES)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        monkeypatch.setenv("WINDVANE_HOME", str(tmp_path / "home"))
        monkeypatch.setattr(sys, "path", [*sys.path])
        monkeypatch.setattr(api_server_check, "TIMEOUT", 0.3)
        monkeypatch.setattr(api_server_check, "QUIET", 0.0)
        yield address
    sys.modules.pop("silent_sites", None)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["plan", "silent_sites", "--all"], 1),
        (["doctor", "silent_sites"], 1),
        (["why", "site/a"], 1),
        (["bug-report", "silent_sites", "-o", "-"], 0),
    ],
)
def test_a_server_that_never_answers_is_asked_once_and_waited_for_aloud(
    silent: str, capsys: pytest.CaptureFixture[str], command: list[str], code: int
) -> None:
    assert main(command) == code
    said = capsys.readouterr()
    assert f"windvane: waiting for an answer from {silent} ...\n" in said.err
    assert (said.out + said.err).count("no answer from") == 1
