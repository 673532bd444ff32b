"""Certificates and passwords: clusters whose etcd lets nobody in who can't prove who they are."""

from pathlib import Path

from etcd_operator import auth, tls
from etcd_operator.api import EtcdCluster
from etcd_operator.certificates import unbundle
from etcd_operator.children import TRUSTS
from scenarios.machine import NAMESPACE
from scenarios.scene import NAME, Scene, identities
from scenarios.secured import SecureScene
from scenarios.waiting import until
from windvane.k8s import core


async def test_25_the_authority_and_the_password_are_replaced_and_clients_go_on(stage: Scene, tmp_path: Path) -> None:
    stage = SecureScene(stage, tmp_path)
    await stage.create(tls=True, auth=True)
    before = await stage.settled()
    [authority] = await trusted(stage)
    async with stage.under_load() as load:
        await load.writer.more(50)
        client = stage.machine.client
        with stage.timed():
            wish = {"metadata": {"annotations": {tls.ROTATE: "now"}}}
            await client.patch(EtcdCluster, NAME, wish, namespace=NAMESPACE)
            another = {"stringData": {"password": "another"}}
            await client.patch(core.Secret, auth.root(NAME), another, namespace=NAMESPACE)

            async def rotated() -> bool:
                return len(there := await trusted(stage)) == 1 and authority not in there

            await until("members trust another authority, and no longer the one before", rotated, within=240)
            after = await stage.settled()
        await load.writer.more(50)
        assert identities(after) == identities(before)
    assert load.writer.longest_gap() < 5


async def trusted(stage: Scene) -> set[bytes]:
    """All authorities that members trust, or should trust."""
    found = [each async for each in stage.machine.client.list(core.Secret, namespace=NAMESPACE)]
    secrets = {each.metadata.name: each for each in found}
    wanted = tls.ca_digest(NAME, secrets)
    if any(pod.metadata.annotations.get(TRUSTS) != wanted for pod in await stage.etcd.pods()):
        return set()  # that is changing
    return {each for secret in secrets.values() for each in unbundle(secret.data.get("ca.crt", b""))}
