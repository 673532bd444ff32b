"""The operator of these tests: a Site has a Deployment, may be looked at again later, and waits for its Secret."""

from collections.abc import AsyncIterator

from windvane import (
    AdmissionRequest,
    After,
    Client,
    Context,
    Denied,
    Fatal,
    LabelSelector,
    ObjectMeta,
    Operator,
    Resource,
    Spec,
    Status,
    Watch,
)
from windvane.k8s import apps, core


class SiteSpec(Spec):
    """What a site should be."""

    image: str = "nginx"
    """What it runs."""
    copies: int = 1
    """How many."""
    secret: str = ""
    """What it waits for."""
    again: int = 0
    """In how many seconds it is looked at again."""


class SiteStatus(Status):
    """What a site is."""

    ready: int = 0
    """How many copies are."""
    looks: int = 0
    """How often it was looked at, if that matters."""
    token: str = ""
    """What the lifespan yielded."""


class Site(Resource[SiteSpec, SiteStatus], group="demo.windvane.dev", version="v1"):
    """A site."""


def site(name: str = "blog", **spec: object) -> Site:
    return Site(metadata=ObjectMeta(name=name), spec=SiteSpec(**spec))  # type: ignore[arg-type]


class Sites:
    """The operator, and what it holds besides."""

    def __init__(self) -> None:
        self.operator = Operator("sites")
        self.retired: list[str] = []

        @self.operator.lifespan
        async def token(client: Client) -> AsyncIterator[str]:
            yield "a token"

        self.token = token
        watch = Watch(core.Secret, to=lambda secret: secret.metadata.labels.get("site"))
        self.operator.controller(Site, owns=[apps.Deployment], watches=[watch])(self._reconcile)
        self.operator.finalizer(Site)(self._retire)

    async def _reconcile(self, one: Site, ctx: Context) -> After | None:
        if one.spec.copies < 0:
            raise Fatal("a site has no less than 0 copies")
        if one.spec.secret and ctx.get(core.Secret, one.spec.secret) is None:
            ctx.wait(f"there is no Secret {one.spec.secret}", after=30)
        deployment = await ctx.apply(deployment_of(one))
        one.status.token = ctx.value(self.token)
        one.status.ready = deployment.status.ready_replicas or 0
        ctx.ready(one.status.ready == one.spec.copies, f"{one.status.ready} of {one.spec.copies} copies are up")
        if one.spec.again:
            one.status.looks += 1
            return After(seconds=one.spec.again)
        return None

    async def _retire(self, one: Site, ctx: Context) -> None:
        ctx.event("Retired", f"{one.metadata.name} is retired")
        self.retired.append(one.metadata.name)


def with_webhooks(sites: Sites) -> None:
    """Have the operator fill in and judge as well."""

    @sites.operator.default(Site)
    def fill_in(one: Site) -> None:
        one.metadata.labels["filled-in"] = "yes"

    @sites.operator.validate(Site, on=["create", "update", "delete"])
    def judge(one: Site, request: AdmissionRequest[Site]) -> None:
        if request.operation == "delete" and "keep" in one.metadata.annotations:
            raise Denied("it is to be kept")
        if one.spec.image == "nginx:latest":
            raise Denied("say which version", field="spec.image")


def deployment_of(one: Site) -> apps.Deployment:
    labels = {"site": one.metadata.name}
    pod = core.PodSpec(containers=[core.Container(name="web", image=one.spec.image)])
    template = core.PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=pod)
    spec = apps.DeploymentSpec(replicas=one.spec.copies, selector=LabelSelector(match_labels=labels), template=template)
    return apps.Deployment(metadata=ObjectMeta(name=one.metadata.name), spec=spec)
