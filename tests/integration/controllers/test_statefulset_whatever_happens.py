"""A StatefulSet on a server through a random life: never two pods of a name, and in the end all is as stated."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from integration.controllers.cluster import Cluster
from integration.controllers.stateful import Db, claim_template
from windvane import ambient
from windvane.client.errors import NotFound
from windvane.k8s.core import Pod
from windvane.sim.time import VirtualLoop, VirtualTime

events = st.lists(
    st.tuples(
        st.sampled_from(["ready", "unready", "Failed", "delete", "let go", "scale", "image", "settle"]),
        st.integers(0, 3),
    ),
    max_size=25,
)


async def happen(db: Db, what: str, which: int) -> None:
    name = f"db-{which}"
    try:
        match what:
            case "ready":
                await db.cluster.make_ready(await db.pod(name))
            case "unready":
                await db.phase(name, "Running")
            case "Failed":
                await db.phase(name, "Failed")
            case "delete":
                await db.cluster.admin.delete(Pod, name)
            case "let go" if (await db.pod(name)).metadata.deletion_timestamp is not None:
                await db.cluster.admin.delete(Pod, name, grace_period=0)
            case "scale":
                await db.scale(which)
            case "image":
                await db.image(f"db:{which}")
            case "settle":
                await db.cluster.settled()
    except NotFound:
        pass


async def live(policy: str, what_happens: list[tuple[str, int]]) -> None:
    cluster = Cluster()
    await cluster.begin()
    db = Db(cluster)
    await db.create(3, podManagementPolicy=policy, volumeClaimTemplates=[claim_template()])
    for what, which in what_happens:
        await happen(db, what, which)
    for _ in range(20):
        for pod in await db.pods():
            if pod.metadata.deletion_timestamp is None and pod.status.phase != "Failed":
                await cluster.make_ready(pod)
        await db.all_ready()
        await ambient.sleep(60)
    found = await db.the()
    replicas = found.spec.replicas or 0
    assert await db.names() == [f"db-{each}" for each in range(replicas)]
    image = found.spec.template.spec.containers[0].image or ""
    assert set((await db.images()).values()) <= {image[-1]}
    assert found.status.replicas == replicas
    assert (found.status.ready_replicas or 0) == (found.status.updated_replicas or 0) == replicas
    assert found.status.current_revision == found.status.update_revision
    await cluster.close()


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(policy=st.sampled_from(["OrderedReady", "Parallel"]), what_happens=events)
def test_in_the_end_all_is_as_stated(policy: str, what_happens: list[tuple[str, int]]) -> None:
    loop = VirtualLoop()
    with ambient.use(VirtualTime()):
        try:
            loop.run_until_complete(live(policy, what_happens))
        finally:
            loop.close()
