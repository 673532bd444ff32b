"""The volumes of a pod, on disk."""

import asyncio
from datetime import timedelta
from pathlib import Path

from unit.cluster.node.test_material import Nothing
from windvane import ObjectMeta, ambient
from windvane.api import codec
from windvane.cluster.node.volumes import Volumes
from windvane.k8s.authentication import TokenRequestStatus
from windvane.k8s.core import ConfigMap, Pod, PodSpec


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


def read(path: Path) -> str:
    return path.read_text()
