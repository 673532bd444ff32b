"""`windvane why` as a user types it: an embedded cluster and an operator in processes of their own."""

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

import pytest

from windvane import Client, ObjectMeta, dynamic
from windvane.api.kind import Kind

PATIENCE = 120.0
OPERATOR = """\
from windvane import Context, ObjectMeta, Operator, Resource, Spec, Status
from windvane.k8s import core


class WebsiteSpec(Spec):
    page: str = ""
    '''What it shows.'''


class Website(Resource[WebsiteSpec, Status], group="demo.windvane.dev", version="v1", short_names=["ws"]):
    '''A website.'''


operator = Operator("website")


@operator.controller(Website, owns=[core.ConfigMap])
async def reconcile(site: Website, ctx: Context) -> None:
    if not site.spec.page:
        ctx.wait("it has no page yet")
    await ctx.apply(core.ConfigMap(metadata=ObjectMeta(name=site.metadata.name), data={"page": site.spec.page}))
    ctx.ready(True, "it is up")
"""
Website = dynamic(Kind(group="demo.windvane.dev", version="v1", name="Website", plural="websites"))


class Terminal:
    """Where commands are typed."""

    def __init__(self, directory: Path, kubeconfig: Path) -> None:
        self.directory = directory
        self._operators = 0
        given = {name: value for name, value in os.environ.items() if not name.startswith(("WINDVANE", "KUBE"))}
        self.environ = given | {"KUBECONFIG": str(kubeconfig)}

    def why(self, *words: str | Path) -> tuple[int, str]:
        """Run `windvane why`: its exit code, and what it printed."""
        command = [sys.executable, "-m", "windvane.cli", "why", *map(str, words)]
        ran = subprocess.run(
            command, cwd=self.directory, env=self.environ, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        return ran.returncode, ran.stdout + ran.stderr

    @contextmanager
    def operator(self, *words: str | Path) -> "Iterator[subprocess.Popen[str]]":
        """Have the operator run, which works by now."""
        given = ["--install-crds", "--no-leader-elect", "--metrics-port", "none", *map(str, words)]
        command = [sys.executable, "-m", "windvane.cli", "run", "website.py:operator", *given]
        with started(command, self.directory, self.environ, "has filled its caches") as process:
            self._operators += 1  # what it has seen to, it has seen come: it is at work
            change(
                Path(self.environ["KUBECONFIG"]),
                f"{self.directory.name.strip('_').lower().replace('_', '-')}-{self._operators}",
                "",
            )
            yield process


@contextmanager
def started(
    command: list[str], directory: Path, environ: dict[str, str], until: str
) -> "Iterator[subprocess.Popen[str]]":
    """A process that has said that it is ready, and is killed after the block."""
    with subprocess.Popen(
        command, cwd=directory, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        watchdog = threading.Timer(PATIENCE, process.kill)
        watchdog.start()
        try:
            assert process.stdout is not None
            said = []
            for line in process.stdout:
                said.append(line)
                if until in line:
                    break
            else:
                raise AssertionError(f"it ended without a word of {until!r}: {''.join(said)}")
            yield process
        finally:
            watchdog.cancel()
            process.kill()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory of an embedded cluster, whose controllers work."""
    data = tmp_path_factory.mktemp("why") / "cluster"
    command = [
        sys.executable,
        "-m",
        "windvane.cli",
        "cluster",
        "start",
        "--memory",
        "--pods",
        "simulated",
        "--data",
        str(data),
    ]
    with started(command, data.parent, dict(os.environ), " is ready, with pid "):
        yield data


@pytest.fixture
def terminal(cluster: Path, tmp_path: Path) -> Terminal:
    (tmp_path / "website.py").write_text(OPERATOR)
    return Terminal(tmp_path, cluster / "kubeconfig")


def change(kubeconfig: Path, name: str, page: str | None) -> None:
    """Have a website of that page, or none, as another client would."""
    asyncio.run(_change(kubeconfig, name, page))


async def _change(kubeconfig: Path, name: str, page: str | None) -> None:
    async with Client.connect(kubeconfig=kubeconfig, field_manager="me") as client:
        if page is None:
            await client.delete(Website, name)
        else:
            await client.apply(Website(metadata=ObjectMeta(name=name), content={"spec": {"page": page}}))
            async with aclosing(client.watch(Website, namespace="default", initial=True)) as events:
                async for event in events:  # until the operator has seen it
                    if event.type == "BOOKMARK" or event.object.metadata.name != name:
                        continue
                    said = event.object.content.get("status", {}).get("conditions", [])
                    if any(each["observedGeneration"] == event.object.metadata.generation for each in said):
                        return


def gone(terminal: Terminal, what: str) -> str:
    """What is said of something, once it is gone."""
    for _ in range(100):
        if " is gone: " in (said := terminal.why(what)[1]):
            return said
    raise AssertionError(f"{what} does not go: {said}")


def test_it_is_asked_beside_a_cluster_and_an_operator(cluster: Path, terminal: Terminal) -> None:
    kubeconfig = cluster / "kubeconfig"
    with terminal.operator() as operator:
        change(kubeconfig, "blog", "")
        code, said = terminal.why("ws/blog")
        assert code == 0
        assert said.startswith("Website default/blog is not ready: it has no page yet\n")
        assert "me created Website default/blog" in said

        change(kubeconfig, "blog", "hello")
        code, said = terminal.why("website", "blog", "-o", "json")
        found = json.loads(said)
        assert (code, found["exists"], found["reasons"][0]["words"]) == (0, True, "Website default/blog is ready.")
        assert [line["what"] for line in found["chain"]] == ["change", "pass", "change", "pass"]
        assert "wrote ConfigMap default/blog" in found["chain"][-1]["words"]
        operator.send_signal(signal.SIGKILL)
        operator.wait()

    said = terminal.why("ws/blog")[1]
    assert "The operator website does not run: it was killed, some time after" in said
    with terminal.operator() as operator:
        change(kubeconfig, "blog", "hello again")
        said = terminal.why("ws/blog")[1]
        assert "the operator website was started anew; before that, it was killed, some time after" in said
        change(kubeconfig, "blog", None)
        assert re.search(r"ConfigMap default/blog is gone: .* by the garbage collector", gone(terminal, "cm/blog"))
        assert "by windvane (user kubernetes-admin)" in terminal.why("cm/blog")[1]
        operator.send_signal(signal.SIGTERM)
        operator.wait()
    assert "Website default/blog is gone: it was deleted at" in terminal.why("ws/blog")[1]


def test_elsewhere_a_history_is_named(cluster: Path, terminal: Terminal) -> None:
    kubeconfig = terminal.directory / "kubeconfig"  # beside which there is no history
    shutil.copy(cluster / "kubeconfig", kubeconfig)
    terminal.environ["KUBECONFIG"] = str(kubeconfig)
    with terminal.operator("--history", "website.jsonl"):
        change(kubeconfig, "shop", "hello")
        code, said = terminal.why("ws/shop")
        assert code == 0
        assert "No operator on this cluster keeps a history here" in said
        assert "me  spec.page" in said
        code, said = terminal.why("ws/shop", "--history", "website.jsonl")
        assert code == 0
        assert "me created Website default/shop" in said
    change(kubeconfig, "shop", None)
    assert terminal.why("ws/shop")[0] == 4
    code, said = terminal.why("ws/shop", "--history", "website.jsonl")
    assert code == 0
    assert said.startswith("Website default/shop is not there; the history tells of it, and not of how it went\n")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["pod/never"], 4, "there is no Pod default/never, and no history tells of it\n"),
        (["deploymnet/a"], 2, "the server has no kind 'deploymnet': did you mean deployment?\n"),
        (["pod"], 2, "'pod' names no object: write KIND/NAME, such as pod/web-1\n"),
        (
            ["pod/a", "--history", "nothing"],
            1,
            "there is no history at nothing: windvane run OPERATOR --history nothing writes one\n",
        ),
        (["pod/a", "--history", "."], 1, "the history . can't be read: Is a directory\n"),
        (
            ["pod/a", "--history", "website.py"],
            1,
            "is no history: none of its lines is what windvane run --history writes\n",
        ),
    ],
)
def test_what_can_not_be_answered_is_told_in_a_line(terminal: Terminal, words: list[str], code: int, says: str) -> None:
    found, said = terminal.why(*words)
    assert (found, said.startswith("windvane: "), said.count("\n")) == (code, True, 1), said
    assert said.endswith(says)


def test_a_cluster_that_does_not_run_is_told_in_a_line(terminal: Terminal) -> None:
    text = Path(terminal.environ["KUBECONFIG"]).read_text()
    nowhere = terminal.directory / "nowhere"
    nowhere.write_text(re.sub(r"https://127.0.0.1:\d+", "https://127.0.0.1:1", text))
    code, said = terminal.why("pod/a", "--kubeconfig", nowhere)
    assert (code, said.count("\n")) == (1, 1), said
    assert "127.0.0.1:1" in said
