"""`reconcile_once`: one pass, in a world that the test states."""

from datetime import UTC, datetime
from typing import Any, assert_type

import pytest

from integration.testing.sites import Site, Sites, deployment_of, site
from windvane import After, Context, NotAdopted, ObjectMeta, Operator, OwnerReference, find_condition
from windvane.k8s import apps, core
from windvane.runtime.informers.declared_informers import Undeclared
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


# A function that no operator declares


async def copies(one: Site, ctx: Context) -> After | None:
    if one.spec.secret and ctx.get(core.Secret, one.spec.secret) is None:
        ctx.wait(f"there is no Secret {one.spec.secret}")
    deployment = await ctx.apply(deployment_of(one))
    one.status.ready = deployment.status.ready_replicas or 0
    return After(seconds=one.spec.again) if one.spec.again else None


class Copies:
    """A controller whose functions share something."""

    async def reconcile(self, one: Site, ctx: Context) -> None:
        await copies(one, ctx)

    async def retire(self, one: Site, ctx: Context) -> None:
        ctx.event("Retired", one.metadata.name)


async def test_a_function_needs_no_operator() -> None:
    one = site(copies=2, secret="key", again=60)
    there = [deployed(one, ready=2), core.Secret(metadata=ObjectMeta(name="key"))]
    came = await reconcile_once(copies, one, world=there, owns=[apps.Deployment])
    assert_type(came, Once[Site])
    assert (came.result, came.again, came.obj.status.ready) == ("done", 60, 2)
    assert came.writes == ["apply sites.demo.windvane.dev/status blog"]
    came = await reconcile_once(Copies().reconcile, site(), owns=[apps.Deployment])
    assert came.get(apps.Deployment, "blog").metadata.owner_references[0].name == "blog"


async def test_a_function_that_is_given_an_object_that_is_being_deleted_is_its_finalizer() -> None:
    one = site()
    one.metadata.deletion_timestamp = datetime(2030, 1, 1, tzinfo=UTC)
    came = await reconcile_once(Copies().retire, one)
    assert (came.result, came.events) == ("gone", [("Retired", "blog", "Normal")])


async def test_a_function_says_what_it_owns_and_what_it_reads() -> None:
    with pytest.raises(Undeclared, match=r"applies a Deployment: write reconcile_once\(\.\.\., owns=\[Deployment\]\)"):
        await reconcile_once(copies, site())
    with pytest.raises(Undeclared, match=r"reads Secrets, .* reconcile_once\(\.\.\., watches=\[Secret\]\)"):
        await reconcile_once(copies, site(secret="key"), owns=[apps.Deployment])
    came = await reconcile_once(copies, site(secret="key"), owns=[apps.Deployment], watches=[core.Secret])
    assert came.message == "there is no Secret key"


def plain(one: Site, ctx: Context) -> None: ...


async def of_pods(pod: core.Pod, ctx: Context) -> None: ...


async def of_one(one: Site) -> None: ...


@pytest.mark.parametrize(
    ("what", "obj", "options", "words"),
    [
        (plain, site(), {}, "the reconcile of Site must be an async function: write `async def plain"),
        (of_pods, site(), {}, "of_pods says that its argument pod is a Pod, and it is given a Site: give it a Site's"),
        (of_one, site(), {}, r"called with the object and a context, which of_one\(one\) can't be: write `async def"),
        (Copies, site(), {}, r"not the class Copies: .* write reconcile_once\(controller\.reconcile, obj\)"),
        (Copies(), site(), {}, r"not a Copies: .* write reconcile_once\(controller\.reconcile, obj\)"),
        (None, site(), {}, "takes an Operator, or an async function of an object and a context, not a NoneType"),
        (copies, Site, {}, r"takes an object .*, not a .*: make one: Site\(metadata=ObjectMeta\(name="),
        (copies, {"kind": "Site"}, {}, r"not a dict: read the manifest: object_from_wire\(manifest, "),
        (copies, None, {}, r"not a NoneType: such as Website\(metadata="),
        (
            copies,
            site(),
            {"owns": apps.Deployment},
            r"owns= takes a list of kinds, .*: write owns=\[apps\.Deployment\]",
        ),
        (copies, site(), {"watches": ["Secret"]}, r"takes kinds, not 'Secret': write watches=\[core\.Secret\], say"),
        (copies, site(), {"controller": "sites"}, "chooses one of an operator's controllers: leave it out"),
        (Sites().operator, site(), {"owns": [core.Pod]}, "the operator 'sites' declares what it owns and watches"),
    ],
)
async def test_what_is_no_pass_says_what_to_write(what: Any, obj: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(TypeError, match=words) as caught:
        await reconcile_once(what, obj, **options)
    assert "\n" not in str(caught.value)
