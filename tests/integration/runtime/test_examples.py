"""The operators in `examples/`, each run as it stands."""

import runpy
from pathlib import Path

from integration.runtime.test_controller import ready_of, settled
from integration.runtime.world import World
from windvane import ObjectMeta, crd
from windvane.k8s.apps import Deployment
from windvane.k8s.core import Service

EXAMPLES = Path(__file__).parents[3] / "examples"


async def test_a_website_gets_a_deployment_and_a_service(world: World) -> None:
    example = runpy.run_path(str(EXAMPLES / "website_operator.py"))
    website, spec = example["Website"], example["WebsiteSpec"]
    await world.admin.create(crd(website))
    running = example["operator"].run(world.client())

    async def run() -> None:
        await running

    world.start(run())
    await world.until(lambda: running.synced)
    await world.admin.create(website(metadata=ObjectMeta(name="blog"), spec=spec(image="nginx", replicas=2)))
    await settled(world, running)
    deployment = await world.admin.get(Deployment, "blog")
    assert (deployment.spec.replicas, deployment.spec.template.spec.containers[0].image) == (2, "nginx")
    assert (await world.admin.get(Service, "blog")).spec.selector == {"website": "blog"}
    site = await world.admin.get(website, "blog")
    assert ready_of(site) == ("False", "NotReady", "0 of 2 copies are up")
    # What the controllers of a whole cluster would do.
    await world.admin.patch(Deployment, "blog", {"status": {"replicas": 2, "readyReplicas": 2}}, subresource="status")
    await settled(world, running)
    site = await world.admin.get(website, "blog")
    assert (site.status.ready, ready_of(site)) == (2, ("True", "Ready", "2 of 2 copies are up"))
