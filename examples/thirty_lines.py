"""A whole operator: a Cache is some copies of memcached, and its status says how many are up."""

from typing import Annotated

from windvane import Context, Ge, LabelSelector, ObjectMeta, Operator, Resource, Spec, Status
from windvane.k8s import apps, core


class CacheSpec(Spec):
    copies: Annotated[int, Ge(0)] = 1
    megabytes: Annotated[int, Ge(1)] = 64
    """How much each of the copies can hold."""


class Cache(Resource[CacheSpec, Status], group="examples.windvane.dev", version="v1"):
    """A place for what took long to compute."""


operator = Operator("caches")


@operator.controller(Cache, owns=[apps.Deployment])
async def reconcile(cache: Cache, ctx: Context) -> None:
    deployment = await ctx.apply(deployment_for(cache))  # owned by `cache`; written only if it differs
    up = deployment.status.ready_replicas or 0
    ctx.ready(up == cache.spec.copies, f"{up} of {cache.spec.copies} copies are up")


def deployment_for(cache: Cache) -> apps.Deployment:
    labels = {"cache": cache.metadata.name}
    memcached = core.Container(name="memcached", image="memcached:1.6", args=[f"-m{cache.spec.megabytes}"])
    pods = core.PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=core.PodSpec(containers=[memcached]))
    selector = LabelSelector(match_labels=labels)
    spec = apps.DeploymentSpec(replicas=cache.spec.copies, selector=selector, template=pods)
    return apps.Deployment(metadata=ObjectMeta(name=cache.metadata.name), spec=spec)
