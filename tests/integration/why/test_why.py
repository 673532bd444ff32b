"""`windvane why` of what really happens: operators, built-in controllers and webhooks at work."""

import re
from functools import partial
from pathlib import Path

import pytest

from integration.testing.sites import Site, Sites, deployment_of, site
from windvane import Context, Denied, Operator, ambient
from windvane.cli.why.explanation import lines_of
from windvane.cli.why.histories import Histories, read_histories
from windvane.cli.why.inquiry import NothingKnown, inquire
from windvane.cli.why.reference import split_reference
from windvane.client.config import ClientConfig
from windvane.cluster.controlplane import cluster_at_work
from windvane.k8s import apps, core
from windvane.runtime.observability.history import Pass
from windvane.runtime.observability.journal import Journal
from windvane.testing import Replica, VirtualCluster

NO_KUBECONFIG = ClientConfig(server="https://nowhere.invalid")


class Historian:
    """Keeps histories as `windvane run` and `windvane cluster start` do, and asks them."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._cluster: Journal | None = None
        self._operators: dict[str, Journal] = {}

    def of_cluster(self, part: str, done: Pass) -> None:
        """Note a pass of a built-in controller."""
        if self._cluster is None:
            self._cluster = self._journal("cluster")
        self._cluster.write(done, operator=part)

    def keep(self, replica: Replica) -> Replica:
        """Note the passes of an operator from now on."""
        name = replica.operator.name
        journal = self._operators[name] = self._journal(name)
        replica.running.listeners.append(journal.write)
        return replica

    async def stop(self, replica: Replica) -> None:
        """Stop an operator, as SIGTERM does."""
        await replica.stop()
        self._operators[replica.operator.name].close()

    def read(self) -> Histories:
        """All that was noted."""
        return read_histories(NO_KUBECONFIG, sorted(self._directory.glob("*.jsonl")))

    async def why(self, cluster: VirtualCluster, what: str, *, everything: bool = False) -> list[str]:
        """What the command prints, without the times."""
        kind, name = split_reference([what])
        found = await inquire(cluster.client, self.read(), kind, name, everything=everything)
        lines = lines_of(found, ambient.now(), everything=everything)
        return [re.sub(r"(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d", "TIME", line) for line in lines]

    def _journal(self, name: str) -> Journal:
        return Journal(self._directory / f"{name}.jsonl", name)


@pytest.fixture(autouse=True)
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Historian:
    """The histories of a test; those of its cluster's own controllers, too."""
    historian = Historian(tmp_path / "history")
    noted = partial(cluster_at_work, ended=historian.of_cluster)
    monkeypatch.setattr("windvane.testing.virtual_cluster.cluster_at_work", noted)
    return historian


def line_with(lines: list[str], words: str) -> int:
    """Which line has these words in it."""
    found = [number for number, line in enumerate(lines) if words in line]
    assert found, f"no {words!r} in\n" + "\n".join(lines)
    return found[0]


def indent(line: str) -> int:
    """How many causes are above a line of the chain."""
    told = line.partition("TIME  ")[2]
    return (len(told) - len(told.lstrip())) // 2


async def test_an_object_that_waits_for_its_child(cluster: VirtualCluster, history: Historian) -> None:
    cluster.pods.behave("nginx*", "ready-after=60s")
    history.keep(await cluster.run(Sites().operator))
    await cluster.apply(site())
    await cluster.settled()
    (pod,) = await cluster.list(core.Pod)
    (replicas,) = await cluster.list(apps.ReplicaSet)

    lines = await history.why(cluster, "site/blog")
    assert lines[0] == (
        "Site default/blog is not ready: it waits for Deployment default/blog, which waits for ReplicaSet "
        f"default/{replicas.metadata.name}, which waits for Pod default/{pod.metadata.name}: container web runs and is "
        "not ready: its readiness probe has yet to succeed"
    )
    assert lines[1] == "It says itself: 0 of 1 copies are up"
    chain = [
        "test created Site default/blog",
        "kube-controller-manager: Deployment default/blog",
        f"kube-controller-manager: ReplicaSet default/{replicas.metadata.name}",
        f"default-scheduler: Pod default/{pod.metadata.name}",
    ]
    found = [line_with(lines, words) for words in chain]
    assert found == sorted(found)
    assert [indent(lines[each]) for each in found] == [0, 2, 3, 4]

    of_pod = await history.why(cluster, f"po/{pod.metadata.name}")
    assert (
        of_pod[0] == f"Pod default/{pod.metadata.name} is not ready: {lines[0].partition(f'{pod.metadata.name}: ')[2]}"
    )
    line_with(of_pod, "test created Site default/blog")

    await cluster.advance(minutes=2)
    lines = await history.why(cluster, "sites.demo.windvane.dev/blog")
    assert lines[0] == "Site default/blog is ready."
    assert "because Deployment default/blog changed" in lines[1]
    assert "written by kube-controller-manager: done" in lines[1]


async def test_one_that_is_stuck_in_a_finalizer(cluster: VirtualCluster, history: Historian) -> None:
    stuck = Operator("sites")
    stuck.controller(Site)(nothing)

    @stuck.finalizer(Site)
    async def retire(one: Site, ctx: Context) -> None:
        raise OSError("the bucket is not empty")

    replica = history.keep(await cluster.run(stuck))
    await cluster.apply(site())
    await cluster.settled()
    await cluster.delete(Site, "blog")
    await cluster.settled()
    lines = await history.why(cluster, "site/blog")
    assert lines[0].endswith("these finalizers keep it: demo.windvane.dev/sites")
    assert lines[1].startswith(
        "demo.windvane.dev/sites is handled by the operator sites, whose last pass, at TIME, ended so: "
    )
    assert "failed: the bucket is not empty; it tries again in " in lines[1]

    await history.stop(replica)
    lines = await history.why(cluster, "site/blog")
    assert (
        lines[1]
        == "demo.windvane.dev/sites is handled by the operator sites, which does not run: it was stopped at TIME"
    )
    line_with(lines, "or, if it never will be: without its clean-up, it is taken off by: kubectl patch")


async def nothing(one: Site, ctx: Context) -> None:
    """There is nothing to do."""


async def test_one_whose_finalizer_is_nobodys(cluster: VirtualCluster, history: Historian) -> None:
    await cluster.install(Site)
    lost = site()
    lost.metadata.finalizers = ["acme.io/lost"]
    await cluster.apply(lost)
    await cluster.delete(Site, "blog")
    lines = await history.why(cluster, "site/blog")
    assert (
        lines[1]
        == "acme.io/lost: no operator whose history is here handles it; the field manager test has put it there"
    )


async def test_one_whose_child_somebody_else_keeps_changing(cluster: VirtualCluster, history: Historian) -> None:
    history.keep(await cluster.run(Sites().operator))
    await cluster.apply(site())
    await cluster.settled()
    cluster.client.field_manager = "scaler"
    for _ in range(4):
        await cluster.client.patch(apps.Deployment, "blog", {"spec": {"replicas": 3}}, namespace="default")
        await cluster.advance(minutes=1)
        assert (await cluster.get(apps.Deployment, "blog")).spec.replicas == 1
    for what in ("site/blog", "deployment/blog"):
        lines = await history.why(cluster, what)
        told = lines[line_with(lines, "in turn")]
        assert told.startswith(
            "Deployment default/blog is written by scaler and by sites in turn: spec.replicas has changed"
        )
        assert " 7 times " in told
    line_with(lines, "scaler changed Deployment default/blog: spec.replicas 1 → 3  [4 times until TIME]")


async def test_one_that_a_webhook_refuses(cluster: VirtualCluster, history: Historian) -> None:
    guard = Operator("guard")

    @guard.validate(apps.Deployment)
    def judge(one: apps.Deployment) -> None:
        raise Denied("nginx is not licensed here")

    await cluster.run(guard)
    history.keep(await cluster.run(Sites().operator))
    await cluster.apply(site())
    await cluster.settled()
    lines = await history.why(cluster, "site/blog")
    assert lines[0].startswith("Site default/blog is not ready: admission webhook")
    told = lines[line_with(lines, "The webhook ")]
    assert (
        "(of ValidatingWebhookConfiguration guard) refuses what sites writes in its pass for Site default/blog" in told
    )
    assert "nginx is not licensed here" in told


async def test_why_something_was_deleted_and_by_which_client(cluster: VirtualCluster, history: Historian) -> None:
    history.keep(await cluster.run(Sites().operator))
    await cluster.apply(site())
    await cluster.settled()
    (pod,) = await cluster.list(core.Pod)
    (replicas,) = await cluster.list(apps.ReplicaSet)
    async with cluster.edit(Site, "blog") as one:
        one.spec.copies = 0
    await cluster.settled()
    lines = await history.why(cluster, f"pod/{pod.metadata.name}")
    assert lines[0].startswith(
        f"Pod default/{pod.metadata.name} is gone: it was deleted at TIME by kube-controller-manager"
    )
    assert f"in its pass for ReplicaSet default/{replicas.metadata.name}" in lines[0]
    line_with(lines, "test changed Site default/blog: spec.copies 1 → 0")

    await cluster.delete(Site, "blog")
    await cluster.settled()
    lines = await history.why(cluster, "deployment/blog")
    assert lines[0] == (
        "Deployment default/blog is gone: it was deleted at TIME by the garbage collector, because its owner Site blog "
        "is gone. Site default/blog was deleted at TIME by a client that keeps no history here: a person with kubectl, "
        "or another program"
    )
    with pytest.raises(NothingKnown, match="there is no Deployment default/never, and no history tells of it"):
        await history.why(cluster, "deployment/never")


async def test_the_restart_of_an_operator_is_part_of_the_story(cluster: VirtualCluster, history: Historian) -> None:
    replica = history.keep(await cluster.run(Sites().operator))
    await cluster.apply(site())
    await cluster.settled()
    await history.stop(replica)
    async with cluster.edit(Site, "blog") as one:
        one.spec.copies = 2
    await cluster.settled()
    lines = await history.why(cluster, "site/blog")
    line_with(lines, "The operator sites does not run: it was stopped at TIME")

    history.keep(await cluster.run(Sites().operator))
    async with cluster.edit(Site, "blog") as one:
        one.spec.copies = 3
    await cluster.settled()
    lines = await history.why(cluster, "site/blog")
    assert lines[0] == "Site default/blog is ready."
    restart = line_with(lines, "the operator sites was started anew; before that, it was stopped at TIME")
    assert (
        line_with(lines, "test created Site")
        < restart
        < line_with(lines, "test changed Site default/blog: spec.copies 2 → 3")
    )


async def test_without_a_history_the_objects_themselves_are_asked(cluster: VirtualCluster) -> None:
    cluster.pods.behave("nginx*", "exit=1 after=1s")
    await cluster.run(Sites().operator)
    await cluster.apply(site())
    await cluster.settled()
    found = await inquire(cluster.client, Histories([], {}), "site", "blog")
    lines = list(lines_of(found, ambient.now()))
    assert lines[0].startswith("Site default/blog is not ready: it waits for Deployment default/blog, which waits for")
    assert "CrashLoopBackOff" in lines[0]
    assert any(line.split()[1:2] == ["sites"] and "status: status." in line for line in lines), lines
    assert "windvane run OPERATOR --history FILE" in lines[-1]


async def test_no_secret_is_shown(cluster: VirtualCluster, history: Historian) -> None:
    keeper = Operator("keeper")

    @keeper.controller(Site, owns=[core.Secret])
    async def reconcile(one: Site, ctx: Context) -> None:
        await ctx.apply(
            core.Secret(metadata=deployment_of(one).metadata, string_data={"password": f"hunter-{one.spec.image}"})
        )

    history.keep(await cluster.run(keeper))
    await cluster.apply(site())
    await cluster.settled()
    async with cluster.edit(Site, "blog") as one:
        one.spec.image = "other"
    await cluster.settled()
    said = [line for what in ("site/blog", "secret/blog") for line in await history.why(cluster, what, everything=True)]
    line_with(said, "wrote Secret default/blog (data.password)")
    for word in ("hunter", "aHVudGVy"):  # the latter is base64
        assert word not in "\n".join(said)
