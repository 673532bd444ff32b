"""A scenario that nobody asked for, and that a model of etcd showed to be dangerous: see ../model."""

from scenarios.machine import NAMESPACE
from scenarios.scene import Scene, identities
from windvane.k8s import core


async def test_a_member_whose_claim_is_deleted_is_replaced_before_its_data_goes(stage: Scene) -> None:
    """The claim stays as long as the pod does. Here it is that of the only member that would stay."""
    await stage.create()
    before = identities(await stage.settled())
    async with stage.under_load() as load:
        await load.writer.more(50)
        with stage.timed():
            await stage.machine.client.delete(core.PersistentVolumeClaim, "data-prod-0", namespace=NAMESPACE)
            await stage.change(replicas=1)
            await stage.replaced("prod-0", before["prod-0"])
        await load.writer.more(50)
