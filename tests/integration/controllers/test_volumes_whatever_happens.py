"""Claims and volumes through random lives, on a network that is late: no volume is had twice, no directory is left."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from integration.controllers.cluster import Cluster
from integration.controllers.test_volumes import new_claim, new_volume, user
from windvane import ambient
from windvane.client.errors import AlreadyExists, NotFound
from windvane.k8s.core import PersistentVolume, PersistentVolumeClaim, Pod
from windvane.sim.time import VirtualLoop, VirtualTime

events = st.lists(
    st.tuples(
        st.sampled_from(["claim", "claim manual", "volume", "user", "drop claim", "drop volume", "drop user", "wait"]),
        st.integers(0, 3),
    ),
    max_size=30,
)


async def happen(cluster: Cluster, what: str, which: int) -> None:
    try:
        match what:
            case "claim":
                await cluster.admin.create(new_claim(f"data-{which}"))
            case "claim manual":
                await cluster.admin.create(new_claim(f"data-{which}", storageClassName="manual"))
            case "volume":
                await cluster.admin.create(new_volume(f"disk-{which}", size=f"{which + 1}Gi"))
            case "user":
                await cluster.admin.create(user(f"user-{which}", claim_name=f"data-{which}"))
            case "drop claim":
                await cluster.admin.delete(PersistentVolumeClaim, f"data-{which}")
            case "drop volume":
                await cluster.admin.delete(PersistentVolume, f"disk-{which}")
            case "drop user":
                await cluster.admin.delete(Pod, f"user-{which}", grace_period=0)
            case "wait":
                await ambient.sleep(which)
    except (AlreadyExists, NotFound):
        pass


async def live(directory: Path, lag: float, what_happens: list[tuple[str, int]]) -> None:
    cluster = Cluster()
    cluster.volumes = directory
    await cluster.begin()
    cluster.weather.lag = lag
    for what, which in what_happens:
        await happen(cluster, what, which)
    cluster.weather.lag = 0
    await ambient.sleep(120)
    await cluster.settled()
    claims = {each.metadata.uid: each for each in await cluster.list(PersistentVolumeClaim)}
    volumes = {each.metadata.name: each for each in await cluster.admin.list(PersistentVolume)}
    for claim in claims.values():
        if claim.status.phase == "Bound":
            volume = volumes[claim.spec.volume_name or ""]
            assert volume.spec.claim_ref is not None
            assert (volume.spec.claim_ref.uid, volume.status.phase) == (claim.metadata.uid, "Bound")
        else:
            assert claim.status.phase == "Pending"
            assert claim.spec.storage_class_name == "manual", "a directory can always be had"
    for volume in volumes.values():
        reference = volume.spec.claim_ref
        if volume.status.phase == "Bound":
            assert reference is not None
            assert claims[reference.uid or ""].spec.volume_name == volume.metadata.name
        else:
            assert (volume.status.phase == "Available") == (reference is None)
    assert directories_in(directory) == {name for name in volumes if name.startswith("pvc-")}
    await cluster.close()


def directories_in(place: Path) -> set[str]:
    return {each.name for each in place.iterdir()} if place.exists() else set()


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(lag=st.sampled_from([0.0, 0.5, 3.0]), what_happens=events)
def test_no_volume_is_had_twice_and_no_directory_is_left(lag: float, what_happens: list[tuple[str, int]]) -> None:
    loop = VirtualLoop()
    with tempfile.TemporaryDirectory() as directory, ambient.use(VirtualTime()):
        try:
            loop.run_until_complete(live(Path(directory) / "volumes", lag, what_happens))
        finally:
            loop.close()
