"""Finished Jobs are deleted when their time has come, and not before."""

from integration.controllers.cluster import Cluster
from integration.controllers.test_job import change, finish, started
from windvane import ambient
from windvane.client.errors import NotFound
from windvane.k8s.batch import Job


async def is_kept(cluster: Cluster) -> bool:
    """Whether nobody has deleted the Job. (What waits for its pods to go first is still there for a while.)"""
    try:
        return (await cluster.admin.get(Job, "work", namespace="default")).metadata.deletion_timestamp is None
    except NotFound:
        return False


async def finished(cluster: Cluster, code: int = 0, **spec: object) -> None:
    await finish(cluster, *await started(cluster, **spec), code=code)


async def test_a_finished_job_goes_when_its_time_has_come(cluster: Cluster) -> None:
    await finished(cluster, ttlSecondsAfterFinished=100)
    await ambient.sleep(90)
    assert await is_kept(cluster)
    await ambient.sleep(15)
    assert not await is_kept(cluster)


async def test_a_failed_job_goes_too(cluster: Cluster) -> None:
    await finished(cluster, code=1, backoffLimit=0, ttlSecondsAfterFinished=100)
    await ambient.sleep(105)
    assert not await is_kept(cluster)


async def test_a_job_that_runs_has_all_the_time_in_the_world(cluster: Cluster) -> None:
    await started(cluster, ttlSecondsAfterFinished=1)
    await ambient.sleep(1000)
    assert await is_kept(cluster)


async def test_no_time_means_at_once(cluster: Cluster) -> None:
    await finished(cluster, ttlSecondsAfterFinished=0)
    assert not await is_kept(cluster)


async def test_nothing_said_means_for_ever(cluster: Cluster) -> None:
    await finished(cluster)
    await ambient.sleep(86400)
    assert await is_kept(cluster)


async def test_a_finished_job_can_be_given_more_time(cluster: Cluster) -> None:
    await finished(cluster, ttlSecondsAfterFinished=100)
    await change(cluster, ttlSecondsAfterFinished=1000)
    await ambient.sleep(900)
    assert await is_kept(cluster)
    await ambient.sleep(150)
    assert not await is_kept(cluster)


async def test_a_finished_job_can_be_given_a_limit_later(cluster: Cluster) -> None:
    await finished(cluster)
    await ambient.sleep(1000)
    await change(cluster, ttlSecondsAfterFinished=100)
    assert not await is_kept(cluster)


async def test_time_that_was_given_at_the_last_moment_counts_even_if_the_cache_is_behind(cluster: Cluster) -> None:
    await finished(cluster, ttlSecondsAfterFinished=100)
    await ambient.sleep(80)
    cluster.weather.lag = 60
    await cluster.admin.patch(Job, "work", {"spec": {"ttlSecondsAfterFinished": 1000}})
    await ambient.sleep(40)
    assert await is_kept(cluster)


async def test_the_time_goes_on_while_no_controller_runs(cluster: Cluster) -> None:
    await finished(cluster, ttlSecondsAfterFinished=100)
    cluster.weather.fall()
    await ambient.sleep(200)
    assert await is_kept(cluster)
    cluster.weather.clear()
    await cluster.restart_controllers()
    await cluster.settled()
    assert not await is_kept(cluster)
