"""An operator: each Website gets a Deployment and a Service, and its status says when they are up.

windvane run examples/website_operator.py --install-crds   # where your kubeconfig points to; Ctrl-C stops it

In another terminal:

kubectl apply -f examples/website.yaml
kubectl get websites,deployments,services
"""

from typing import Annotated

from windvane import Column, Context, Ge, LabelSelector, ObjectMeta, Operator, Resource, Rule, Spec, Status
from windvane.k8s import apps, core


class WebsiteSpec(Spec, rules=[Rule("self.replicas <= 5 || has(self.budget)", "more than 5 replicas need a budget")]):
    image: str
    """The container image to serve."""
    replicas: Annotated[int, Ge(0)] = 1
    """How many copies run."""
    budget: str | None = None
    """Who pays for a large site."""


class WebsiteStatus(Status):
    ready: int = 0
    """How many copies answer."""


class Website(
    Resource[WebsiteSpec, WebsiteStatus],
    group="demo.windvane.dev",
    version="v1alpha1",
    short_names=["ws"],
    columns=[Column("Image", ".spec.image"), Column("Ready", ".status.ready")],
):
    """A website that is always up."""


operator = Operator("website")


@operator.controller(Website, owns=[apps.Deployment, core.Service])
async def reconcile(site: Website, ctx: Context) -> None:
    deployment = await ctx.apply(deployment_for(site))  # owned by `site`; written only if it differs
    await ctx.apply(service_for(site))
    site.status.ready = deployment.status.ready_replicas or 0
    ctx.ready(site.status.ready == site.spec.replicas, f"{site.status.ready} of {site.spec.replicas} copies are up")


def deployment_for(site: Website) -> apps.Deployment:
    labels = {"website": site.metadata.name}
    container = core.Container(name="web", image=site.spec.image, ports=[core.ContainerPort(container_port=80)])
    template = core.PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=core.PodSpec(containers=[container]))
    return apps.Deployment(
        metadata=ObjectMeta(name=site.metadata.name),
        spec=apps.DeploymentSpec(
            replicas=site.spec.replicas, selector=LabelSelector(match_labels=labels), template=template
        ),
    )


def service_for(site: Website) -> core.Service:
    return core.Service(
        metadata=ObjectMeta(name=site.metadata.name),
        spec=core.ServiceSpec(selector={"website": site.metadata.name}, ports=[core.ServicePort(port=80)]),
    )
