"""`reconcile_once`: one pass, in a world that the test states."""

from datetime import UTC, datetime

import pytest

from integration.testing.sites import Site, Sites, deployment_of, site
from windvane import NotAdopted, ObjectMeta, Operator, OwnerReference, find_condition
from windvane.k8s import apps, core
from windvane.testing import Once, reconcile_once


async def once(one: Site, *world: apps.Deployment | core.Secret) -> Once[Site]:
    sites = Sites()
    return await reconcile_once(sites.operator, one, world=world, values={sites.token: "a fake"})


def deployed(one: Site, ready: int) -> apps.Deployment:
    deployment = deployment_of(one)
    deployment.status = apps.DeploymentStatus(replicas=ready, ready_replicas=ready)
    return deployment


def ready_of(came: Once[Site]) -> tuple[str, str, str]:
    ready = find_condition(came.obj.status.conditions, "Ready")
    assert ready is not None
    return ready.status, ready.reason, ready.message


async def test_it_tells_what_was_written_and_what_is_there_then() -> None:
    came = await once(site(copies=2))
    assert came.result == "done"
    assert came.writes == [
        "apply sites.demo.windvane.dev blog",  # the finalizer
        "apply deployments.apps blog",
        "apply sites.demo.windvane.dev/status blog",
    ]
    assert came.get(apps.Deployment, "blog").spec.replicas == 2
    assert ready_of(came) == ("False", "NotReady", "0 of 2 copies are up")


async def test_a_child_is_as_an_earlier_pass_left_it() -> None:
    one = site(copies=2)
    came = await once(one, deployed(one, ready=2))
    assert "apply deployments.apps blog" not in came.writes
    assert ready_of(came) == ("True", "Ready", "2 of 2 copies are up")


async def test_what_another_owner_has_is_not_the_objects_child() -> None:
    one = site()
    deployment = deployment_of(one)
    owner = OwnerReference(api_version="v1", kind="Pod", name="other", uid="1", controller=True)
    deployment.metadata.owner_references = [owner]
    with pytest.raises(NotAdopted, match="is controlled by Pod 'other'"):
        await once(one, deployment)


async def test_lifespans_have_the_values_that_the_test_gives() -> None:
    assert (await once(site())).obj.status.token == "a fake"
    with pytest.raises(LookupError, match=r"values=\{token: \.\.\.\}"):
        await reconcile_once(Sites().operator, site())


async def test_what_it_waits_for_is_told() -> None:
    came = await once(site(secret="key"))
    assert (came.result, came.message, came.again) == ("waiting", "there is no Secret key", 30)
    came = await once(site(secret="key"), core.Secret(metadata=ObjectMeta(name="key")))
    assert (came.result, came.again) == ("done", None)


async def test_what_can_not_work_is_told() -> None:
    came = await once(site(copies=-1))
    assert (came.result, came.message) == ("fatal", "a site has no less than 0 copies")
    assert [(each.reason, each.type) for each in came.events] == [("Fatal", "Warning")]


async def test_what_the_function_raises_is_raised() -> None:
    operator = Operator("broken")

    @operator.controller(Site)
    async def reconcile(one: Site, ctx: object) -> None:
        raise ZeroDivisionError("divided by nobody")

    with pytest.raises(ZeroDivisionError, match="divided by nobody"):
        await reconcile_once(operator, site())


async def test_an_object_that_is_being_deleted_is_finalized() -> None:
    sites = Sites()
    one = site()
    one.metadata.deletion_timestamp = datetime(2030, 1, 1, tzinfo=UTC)
    came = await reconcile_once(sites.operator, one)
    assert (came.result, sites.retired) == ("gone", ["blog"])
    assert came.events == [("Retired", "blog is retired", "Normal")]


async def test_a_kind_that_is_not_declared_is_not_in_what_came_of_it() -> None:
    came = await once(site())
    with pytest.raises(LookupError, match="Service is none of the kinds that the controller declares: Deployment"):
        came.get(core.Service, "blog")
    with pytest.raises(LookupError, match="no Deployment 'other' after the pass; there is blog"):
        came.get(apps.Deployment, "other")


async def test_a_kind_without_a_controller_says_which_there_are() -> None:
    with pytest.raises(LookupError, match="no controller of Pod; it has those of: Site "):
        await reconcile_once(
            Sites().operator,
            core.Pod(metadata=ObjectMeta(name="web"), spec=core.PodSpec(containers=[])),
        )
