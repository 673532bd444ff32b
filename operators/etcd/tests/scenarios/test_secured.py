"""Snapshots of a cluster that shows certificates and asks for passwords."""

from scenarios.machine import NAMESPACE
from scenarios.scene import Scene, condition
from windvane import ObjectMeta
from windvane.k8s import core

COPY = "copy"


async def test_a_cluster_with_tls_and_auth_becomes_another_one_that_knows_the_old_password(stage: Scene) -> None:
    await stage.create(replicas=1, tls=True, auth=True)
    await stage.until("it is available", lambda it: condition(it, "Available").status == "True")
    await stage.backup("all")
    known = await stage.machine.client.get(core.Secret, "prod-root", namespace=NAMESPACE)
    meta = ObjectMeta(name="copy-root", namespace=NAMESPACE)
    await stage.machine.client.create(core.Secret(metadata=meta, data={"password": known.data["password"]}))
    await stage.create(COPY, replicas=1, tls=True, auth=True, restore={"backup": "all"})
    copied = await stage.until("it is there", lambda it: condition(it, "Available").status == "True", name=COPY)
    assert copied.status.restored_from is not None
    assert copied.status.members[0].healthy
