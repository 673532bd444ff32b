"""A kind as a class, and the CRD that makes any cluster serve it.

python examples/website_crd.py | kubectl apply -f -
kubectl explain websites.spec
"""

import sys
from typing import Annotated

import yaml

from windvane import Column, Ge, Resource, Rule, Spec, Status, crd, object_to_wire


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


if __name__ == "__main__":
    yaml.safe_dump(object_to_wire(crd(Website)), sys.stdout, sort_keys=False)
