"""What containers are given: expanded words, variables about themselves, files, names."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from windvane import ObjectMeta
from windvane.api import codec
from windvane.api.quantity import Quantity
from windvane.cluster.node.logs.writer import KEPT, LONGEST_LINE, Log, log_files, tail
from windvane.cluster.node.pod import downward_api
from windvane.cluster.node.process.environment import environment
from windvane.cluster.node.process.expansion import expand
from windvane.cluster.node.process.hosts_file import hosts_file
from windvane.cluster.node.process.launch import Mount
from windvane.cluster.node.process.spec import rewritten
from windvane.cluster.node.simulated.runtime import ANNOTATION, Behaviour, behaviour_of
from windvane.cluster.node.sources import MissingSource
from windvane.cluster.node.volumes.atomic_writer import FileContent, write_all
from windvane.k8s.authentication import TokenRequestStatus
from windvane.k8s.core import (
    ConfigMap,
    ObjectFieldSelector,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodSpec,
    ResourceFieldSelector,
    Secret,
    Service,
    ServiceSpec,
)
from windvane.k8s.discovery import EndpointSlice


def pod(**container: object) -> Pod:
    spec = {"containers": [{"name": "main", "image": "x", **container}], "nodeName": "node-1"}
    meta = ObjectMeta(name="web", namespace="default", uid="u", labels={"b": 'say "hi"', "a": "1"})
    return Pod(metadata=meta, spec=codec.from_wire(spec, PodSpec))


class Nothing:
    """A cluster with nothing in it but a service."""

    def config_map(self, namespace: str, name: str) -> ConfigMap | None:
        return None

    def secret(self, namespace: str, name: str) -> Secret | None:
        return None

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        return None

    def volume(self, name: str) -> PersistentVolume | None:
        return None

    def services(self) -> Sequence[Service]:
        return [
            Service(
                metadata=ObjectMeta(name=each, namespace="default"),
                spec=codec.from_wire({"clusterIP": "10.0.0.9", "ports": [{"port": 80}]}, ServiceSpec),
            )
            for each in ("shop", "kubernetes")
        ]

    def api(self) -> tuple[str, int] | None:
        return "127.0.0.1", 6443

    def slices(self) -> Sequence[EndpointSlice]:
        return []

    def resources(self) -> Mapping[str, Quantity]:
        return {"cpu": Quantity(4)}

    async def token(
        self, namespace: str, account: str, audience: str, seconds: int | None, pod: tuple[str, str]
    ) -> TokenRequestStatus:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("$(A)", "1"),
        ("a$(A)b$(B)c", "a1b2c"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$(NOBODY)", "$(NOBODY)"),
        ("$A $", "$A $"),
        ("$(A", "$(A"),
        ("$()", "$()"),
        ("no dollar", "no dollar"),
    ],
)
def test_names_are_expanded_as_kubernetes_does(text: str, expanded: str) -> None:
    assert expand(text, {"A": "1", "B": "2"}) == expanded


def test_a_missing_source_is_named() -> None:
    env = [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "login", "key": "x"}}}]
    made = pod(env=env)
    with pytest.raises(MissingSource, match='secret "login" not found') as raised:
        environment(made, made.spec.containers[0], "127.0.0.2", "127.0.0.1", Nothing(), {})
    assert raised.value.reason == "CreateContainerConfigError"


def test_a_pod_may_not_want_to_know_of_services() -> None:
    made = pod()
    told = environment(made, made.spec.containers[0], "127.0.0.2", "127.0.0.1", Nothing(), {})
    assert told["SHOP_SERVICE_HOST"] == "10.0.0.9"
    assert (told["KUBERNETES_SERVICE_HOST"], told["KUBERNETES_SERVICE_PORT"]) == ("127.0.0.1", "6443")
    made.spec.enable_service_links = False
    assert "SHOP_SERVICE_HOST" not in environment(
        made, made.spec.containers[0], "127.0.0.2", "127.0.0.1", Nothing(), {}
    )


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.labels['a']", "1"),
        ("metadata.labels", 'a="1"\nb="say \\"hi\\""'),
        ("spec.nodeName", "node-1"),
        ("status.podIP", "127.0.0.2"),
        ("status.hostIP", "127.0.0.1"),
    ],
)
def test_a_container_is_told_about_its_pod(path: str, value: str) -> None:
    assert downward_api.field(pod(), "127.0.0.2", "127.0.0.1", ObjectFieldSelector(field_path=path)) == value


@pytest.mark.parametrize(
    ("resource", "divisor", "value"),
    [
        ("limits.memory", "1", "67108864"),
        ("limits.memory", "1Mi", "64"),
        ("limits.cpu", "1", "1"),
        ("limits.cpu", "1m", "500"),
        ("requests.cpu", "1m", "500"),
        ("requests.memory", "1Mi", "32"),
    ],
)
def test_a_container_is_told_about_its_resources(resource: str, divisor: str, value: str) -> None:
    made = pod(resources={"limits": {"memory": "64Mi", "cpu": "500m"}, "requests": {"memory": "32Mi"}})
    selector = ResourceFieldSelector(resource=resource, divisor=Quantity(divisor))
    assert downward_api.resource(made, made.spec.containers[0], selector, {}) == value


def test_without_a_limit_there_is_all_that_the_node_has() -> None:
    made = pod()
    selector = ResourceFieldSelector(resource="limits.cpu")
    assert downward_api.resource(made, made.spec.containers[0], selector, {"cpu": Quantity(4)}) == "4"


def test_files_change_all_at_once(tmp_path: Path) -> None:
    volume = tmp_path / "v"
    assert write_all(volume, {"a": FileContent(b"1", 0o644), "deep/b": FileContent(b"2", 0o400)})
    first = (volume / "..data").readlink()
    assert (volume / "a").read_text() == "1"
    assert (volume / "deep" / "b").stat().st_mode & 0o777 == 0o400
    assert not write_all(volume, {"a": FileContent(b"1", 0o644), "deep/b": FileContent(b"2", 0o400)})
    assert write_all(volume, {"a": FileContent(b"3", 0o644)})
    assert (volume / "..data").readlink() != first
    assert not (volume / first).exists()
    assert sorted(each.name for each in volume.iterdir() if not each.name.startswith("..")) == ["a"]
    assert (volume / "a").read_text() == "3"


def test_a_long_line_is_written_in_parts(tmp_path: Path) -> None:
    log = Log(tmp_path, "main", 0)
    log.write("stdout", b"x" * (LONGEST_LINE + 5))
    log.write("stdout", b"\nshort\nunfinished")
    log.close()
    lines = [line.split(b" ", 3)[1:] for line in log.file.read_bytes().splitlines()]
    assert [(tag, len(text)) for _, tag, text in lines] == [(b"P", LONGEST_LINE), (b"F", 5), (b"F", 5), (b"P", 10)]


def test_a_log_does_not_grow_for_ever(tmp_path: Path) -> None:
    log = Log(tmp_path, "main", 0, largest=1000)
    for number in range(200):
        log.write("stdout", b"%d %s\n" % (number, b"x" * 80))
    log.close()
    files = log_files(log.file)
    assert len(files) == KEPT + 1
    assert all(file.stat().st_size <= 1000 for file in files)
    assert b" 199 " in files[-1].read_bytes()


def test_the_end_of_a_log_is_told_without_times(tmp_path: Path) -> None:
    log = Log(tmp_path, "main", 0)
    log.write("stderr", b"one\ntwo\nthree\n")
    log.close()
    assert tail(log.file, 2, 1000) == "two\nthree\n"
    assert tail(log.file, 80, 6) == "three\n"
    assert tail(tmp_path / "none", 2, 1000) == ""


def test_a_pod_knows_itself_and_the_services_of_its_namespace_by_short_names() -> None:
    made = pod()
    made.spec.subdomain = "shop"
    lines = hosts_file(made, "127.0.0.2", Nothing().services(), []).splitlines()
    assert "127.0.0.2\tweb.shop.default.svc.cluster.local web" in lines
    assert "10.0.0.9\tshop.default.svc.cluster.local shop.default.svc shop.default shop" in lines
    made.metadata.namespace = "other"
    assert "10.0.0.9\tshop.default.svc.cluster.local shop.default.svc shop.default" in hosts_file(
        made, "127.0.0.2", Nothing().services(), []
    )


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("--data=/var/lib/db", "--data=/real/db"),
        ("/var/lib/db/file", "/real/db/file"),
        ("/var/lib/dbx", "/var/lib/dbx"),
        ("x/var/lib/db", "x/var/lib/db"),
        ("/var/lib/db/sub/x", "/real/sub/x"),
    ],
)
def test_paths_of_volumes_are_rewritten_where_they_can_not_be_mounted(text: str, result: str) -> None:
    mounts = [Mount("/real/db", "/var/lib/db"), Mount("/real/sub", "/var/lib/db/sub")]
    assert rewritten(text, mounts) == result


@pytest.mark.parametrize(
    ("words", "behaviour"),
    [
        ("", Behaviour()),
        ("exit=3", Behaviour(exit=3, told=True)),
        ("after=1m", Behaviour(exit=0, after=60, told=True)),
        ("exit=1 after=5s ready-after=2s", Behaviour(exit=1, after=5, ready_after=2, told=True)),
        ("ready-after=never", Behaviour(ready_after=float("inf"))),
    ],
)
def test_an_annotation_says_how_a_simulated_pod_behaves(words: str, behaviour: Behaviour) -> None:
    made = pod()
    made.metadata.annotations[ANNOTATION] = words
    assert behaviour_of(made) == behaviour
