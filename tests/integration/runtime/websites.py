"""The operator of the runtime's tests: a Website has a ConfigMap for its page, and one for each of its aliases."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from windvane import Ge, ObjectMeta, Resource, Spec, Status
from windvane.k8s.core import ConfigMap, Secret
from windvane.runtime.context import Context
from windvane.runtime.declaration import Watch
from windvane.runtime.operator import Operator


class WebsiteSpec(Spec):
    """What a website should be."""

    page: str
    """What it shows."""
    aliases: list[str] = []
    """Other names that it is known by."""
    secret: str = ""
    """A Secret that it needs."""
    copies: Annotated[int, Ge(0)] = 1
    """How many there are."""


class WebsiteStatus(Status):
    """What a website is."""

    page: str = ""
    """What it shows."""


class Website(Resource[WebsiteSpec, WebsiteStatus], group="demo.windvane.dev", version="v1"):
    """A website."""


Hook = Callable[[Website, Context], Awaitable[Any]]


class Websites:
    """The operator, what it was seen doing, and a hook by which a test makes it misbehave."""

    def __init__(self, *, finalizer: bool = False) -> None:
        self.operator = Operator("websites")
        self.passes: Counter[str] = Counter()
        self.retired: list[str] = []
        self.hook: Hook | None = None
        self.retire_hook: Hook | None = None
        watch = Watch(Secret, to=lambda secret: secret.metadata.labels.get("website"))
        self.operator.controller(Website, owns=[ConfigMap], watches=[watch])(self._reconcile)
        if finalizer:
            self.operator.finalizer(Website)(self._retire)

    async def _reconcile(self, site: Website, ctx: Context) -> Any:
        self.passes[site.metadata.name] += 1
        if self.hook is not None and (returned := await self.hook(site, ctx)) is not None:
            return returned
        shown = await ctx.apply(config_map(site.metadata.name, {"page": site.spec.page}))
        for alias in site.spec.aliases:
            await ctx.apply(config_map(f"{site.metadata.name}-{alias}", {"alias": alias}))
        await ctx.prune()
        site.status.page = shown.data["page"]
        return None

    async def _retire(self, site: Website, ctx: Context) -> Any:
        if self.retire_hook is not None and (returned := await self.retire_hook(site, ctx)) is not None:
            return returned
        self.retired.append(site.metadata.name)
        return None


def config_map(name: str, data: dict[str, str]) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name), data=data)


def website(name: str = "blog", page: str = "hello", **spec: Any) -> Website:
    return Website(metadata=ObjectMeta(name=name, namespace="default"), spec=WebsiteSpec(page=page, **spec))
