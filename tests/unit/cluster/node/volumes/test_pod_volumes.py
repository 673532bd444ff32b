"""The volumes of a pod, on disk."""

import asyncio
import os
from datetime import timedelta
from pathlib import Path

import pytest

from unit.cluster.node.material import Nothing
from windvane import ObjectMeta, ambient
from windvane.api import codec
from windvane.cluster.node.process import launcher
from windvane.cluster.node.sources import MissingSource
from windvane.cluster.node.volumes.pod_volumes import Volumes, sub_path
from windvane.k8s.authentication import TokenRequestStatus
from windvane.k8s.core import ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod, PodSpec, Secret


class Slow(Nothing):
    """A cluster with one ConfigMap, where tokens come when it is time."""

    def __init__(self) -> None:
        self.value = "old"
        self.given = asyncio.Event()

    def config_map(self, namespace: str, name: str) -> ConfigMap | None:
        return ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace), data={"key": self.value})

    async def token(
        self, namespace: str, account: str, audience: str, seconds: int | None, pod: tuple[str, str]
    ) -> TokenRequestStatus:
        if self.value == "old":
            await self.given.wait()
        return TokenRequestStatus(token="secret", expiration_timestamp=ambient.now() + timedelta(hours=1))


def pod(*volumes: object, **spec: object) -> Pod:
    wire = {"containers": [{"name": "main", "image": "x"}], "volumes": list(volumes), **spec}
    return Pod(metadata=ObjectMeta(name="web", namespace="default", uid="u"), spec=codec.from_wire(wire, PodSpec))


async def test_who_waited_for_a_token_does_not_put_back_what_was_there_before(tmp_path: Path) -> None:
    sources = Slow()
    volumes = Volumes(tmp_path, sources, "127.64.0.1", "127.0.0.1", host_paths=False)
    projected = {"sources": [{"configMap": {"name": "c"}}, {"serviceAccountToken": {"path": "token"}}]}
    made = pod({"name": "v", "projected": projected})
    volumes.places["v"] = tmp_path / "v"
    first = asyncio.create_task(volumes.refresh(made))
    await ambient.sleep(0)
    sources.value = "new"
    second = asyncio.create_task(volumes.refresh(made))
    await ambient.sleep(0)
    sources.given.set()
    await asyncio.gather(first, second)
    assert read(tmp_path / "v" / "key") == "new"


class Claimed(Nothing):
    """A cluster with one claim, whose volume is a directory."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        return codec.from_wire({"metadata": {"name": name}, "spec": {"volumeName": "pv"}}, PersistentVolumeClaim)

    def volume(self, name: str) -> PersistentVolume | None:
        wire = {"metadata": {"name": name}, "spec": {"hostPath": {"path": str(self.place)}}}
        return codec.from_wire(wire, PersistentVolume)

    def secret(self, namespace: str, name: str) -> Secret | None:
        return Secret(metadata=ObjectMeta(name=name, namespace=namespace), data={"key": b"hunter2"})


CLAIM = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}


def of_group(*volumes: object, **more: object) -> Pod:
    return pod(*volumes, securityContext={"fsGroup": 777, **more})


@pytest.mark.parametrize("path", ["../secret", "a/../../secret", "/etc"])
def test_a_part_of_a_volume_is_in_the_volume(tmp_path: Path, path: str) -> None:
    (tmp_path / "volume").mkdir()
    with pytest.raises(MissingSource, match="out of the volume"):
        sub_path(tmp_path / "volume", path)


def test_a_link_in_a_volume_does_not_lead_out_of_it_and_nothing_is_made_where_it_leads(tmp_path: Path) -> None:
    volume, outside = tmp_path / "volume", tmp_path / "outside"
    volume.mkdir()
    outside.mkdir()
    (volume / "evil").symlink_to(outside)
    (volume / "..data").symlink_to(outside)
    for path in ("evil/new", "evil", "..data/new"):
        with pytest.raises(MissingSource, match="leads out of the volume"):
            sub_path(volume, path)
    assert list(outside.iterdir()) == []


def test_a_link_in_a_volume_may_lead_to_another_place_in_it(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert sub_path(tmp_path, "link/a/b/a") == "real/a/b/a"
    assert (tmp_path / "real" / "a" / "b" / "a").is_dir()
    assert sub_path(tmp_path, "link/a/b/a") == "real/a/b/a"
    (tmp_path / "file").touch()
    assert sub_path(tmp_path, "file") == "file"
    assert sub_path(tmp_path, ".") == ""


def test_who_can_write_to_a_volume_can_write_to_its_parts(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    sub_path(tmp_path, "a/b")
    assert (tmp_path / "a" / "b").stat().st_mode & 0o7777 == 0o777


def test_a_part_that_has_become_a_link_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").symlink_to("/etc")
    with pytest.raises(OSError, match="link"):
        launcher.opened(str(tmp_path), "a/b")
    with pytest.raises(OSError, match="link"):
        launcher.opened(str(tmp_path), "a/b/passwd")
    os.close(launcher.opened(str(tmp_path), "a"))


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files to groups")
async def test_the_group_of_a_pod_can_write_what_others_wrote_before(tmp_path: Path) -> None:
    outside, place = tmp_path / "outside", tmp_path / "pv"
    place.mkdir()
    outside.touch(mode=0o600)
    (place / "file").touch(mode=0o600)
    (place / "link").symlink_to(outside)
    await Volumes(tmp_path / "v", Claimed(place), "", "", host_paths=False).prepare(of_group(CLAIM))
    assert modes(place) == (777, 0o2775)
    assert modes(place / "file") == (777, 0o660)
    assert modes(outside) == (0, 0o600)


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files to groups")
async def test_what_is_the_groups_already_is_left_alone_if_that_is_asked_for(tmp_path: Path) -> None:
    place = tmp_path / "pv"
    place.mkdir()
    volumes = Volumes(tmp_path / "v", Claimed(place), "", "", host_paths=False)
    await volumes.prepare(of_group(CLAIM))
    (place / "file").touch(mode=0o600)
    os.chown(place / "file", 0, 0)
    await volumes.prepare(of_group(CLAIM, fsGroupChangePolicy="OnRootMismatch"))
    assert modes(place / "file") == (0, 0o600)
    await volumes.prepare(of_group(CLAIM))
    assert modes(place / "file") == (777, 0o660)


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files to groups")
async def test_a_secret_that_is_given_to_a_group_is_written_once(tmp_path: Path) -> None:
    volumes = Volumes(tmp_path, Claimed(tmp_path), "", "", host_paths=False)
    made = of_group({"name": "v", "secret": {"secretName": "s", "defaultMode": 0o400}})
    await volumes.prepare(made)
    first = (tmp_path / "v" / "..data").readlink()
    assert modes(tmp_path / "v" / "key") == (777, 0o440)
    await volumes.refresh(made)
    assert (tmp_path / "v" / "..data").readlink() == first


def modes(path: Path) -> tuple[int, int]:
    there = path.stat()
    return there.st_gid, there.st_mode & 0o7777


def read(path: Path) -> str:
    return path.read_text()
