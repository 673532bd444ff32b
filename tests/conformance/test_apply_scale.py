"""Who owns the replicas of what is scaled: a Scale is another view of them, with managers of its own."""

from typing import Any

from conformance.crds import gadget
from conformance.objects import deployment
from conformance.ownership import RESET, Owned, Story, applied_thing, conflicts, each, misfit
from conformance.requests import Raw, Refused


def scale(name: str, replicas: int) -> dict[str, Any]:
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name}, "spec": {"replicas": replicas}}


SCALES = [
    Story("a scale takes the replicas", [("apply one deployments/web", applied_thing("Deployment",
          **deployment(replicas=1))), ("update two deployments/web/scale", scale("web", 3)), ("get - deployments/web",
          None)], Owned({"spec": {"replicas": 3}}, {"one Apply apps/v1":
          ".spec.selector .spec.template.metadata.labels.app .spec.template.spec.containers[name=main] "
          ".spec.template.spec.containers[name=main].image .spec.template.spec.containers[name=main].name",
          "two Update apps/v1 scale": ".spec.replicas"})),
    Story("a patched scale takes the replicas", [("apply one deployments/web", applied_thing("Deployment",
          **deployment(replicas=1))), ("merge two deployments/web/scale", {"spec": {"replicas": 3}}),
          ("get - deployments/web", None)], Owned({"spec": {"replicas": 3}}, {"one Apply apps/v1":
          ".spec.selector .spec.template.metadata.labels.app .spec.template.spec.containers[name=main] "
          ".spec.template.spec.containers[name=main].image .spec.template.spec.containers[name=main].name",
          "two Update apps/v1 scale": ".spec.replicas"})),
    Story("a scale that changes nothing takes nothing", [("apply one deployments/web", applied_thing("Deployment",
          **deployment(replicas=1))), ("update two deployments/web/scale", scale("web", 1)), ("get - deployments/web",
          None)], Owned({"spec": {"replicas": 1}}, {"one Apply apps/v1":
          ".spec.replicas .spec.selector .spec.template.metadata.labels.app "
          ".spec.template.spec.containers[name=main] .spec.template.spec.containers[name=main].image "
          ".spec.template.spec.containers[name=main].name"})),
    Story("a scale to nothing", [("apply one deployments/web", applied_thing("Deployment", **deployment(replicas=1))),
          ("merge two deployments/web/scale", {"spec": {"replicas": 0}}), ("get - deployments/web", None)],
          Owned({"spec": {"replicas": 0}}, {"one Apply apps/v1":
          ".spec.selector .spec.template.metadata.labels.app .spec.template.spec.containers[name=main] "
          ".spec.template.spec.containers[name=main].image .spec.template.spec.containers[name=main].name"})),
    Story("replicas that nobody owns are not tracked", [("create one deployments", deployment()),
          ("json one deployments/web", RESET), ("update two deployments/web/scale", scale("web", 3)),
          ("get - deployments/web", None)], Owned({"spec": {"replicas": 3}}, {})),
    Story("an applied scale is a conflict", [("apply one deployments/web", applied_thing("Deployment",
          **deployment(replicas=1))), ("apply two deployments/web/scale", scale("web", 3))], conflicts(('"one"',
          ".spec.replicas"))),
    Story("a forced scale takes the replicas", [("apply one deployments/web", applied_thing("Deployment",
          **deployment(replicas=1))), ("force two deployments/web/scale", scale("web", 3)), ("get - deployments/web",
          None)], Owned({"spec": {"replicas": 3}}, {"two Apply apps/v1 scale": ".spec.replicas", "one Apply apps/v1":
          ".spec.selector .spec.template.metadata.labels.app .spec.template.spec.containers[name=main] "
          ".spec.template.spec.containers[name=main].image .spec.template.spec.containers[name=main].name"})),
    Story("an applied scale shares the replicas", [("apply one deployments/web", applied_thing("Deployment",
          **deployment(replicas=1))), ("apply two deployments/web/scale", scale("web", 1)), ("get - deployments/web",
          None)], Owned({"spec": {"replicas": 1}}, {"two Apply apps/v1 scale": ".spec.replicas", "one Apply apps/v1":
          ".spec.replicas .spec.selector .spec.template.metadata.labels.app "
          ".spec.template.spec.containers[name=main] .spec.template.spec.containers[name=main].image "
          ".spec.template.spec.containers[name=main].name"})),
    Story("an applied scale is dropped again", [("apply one deployments/web", applied_thing("Deployment",
          **deployment(replicas=1))), ("apply two deployments/web/scale", scale("web", 1)),
          ("apply two deployments/web/scale", {**scale("web", 1), "spec": {}}), ("get - deployments/web", None)],
          Owned({"spec": {"replicas": 1}}, {"two Apply apps/v1 scale": ".spec.replicas", "one Apply apps/v1":
          ".spec.replicas .spec.selector .spec.template.metadata.labels.app "
          ".spec.template.spec.containers[name=main] .spec.template.spec.containers[name=main].image "
          ".spec.template.spec.containers[name=main].name"})),
    Story("who scaled is named with the subresource", [("apply one deployments/web", applied_thing("Deployment",
          **deployment(replicas=1))), ("update two deployments/web/scale", scale("web", 3)),
          ("apply one deployments/web", applied_thing("Deployment", **deployment(replicas=1)))],
          conflicts(('"two" with subresource "scale" using apps/v1', ".spec.replicas"))),
    Story("who scaled before is named in the terms of a scale", [("apply one deployments/web",
          applied_thing("Deployment", **deployment(replicas=1))), ("update two deployments/web/scale", scale("web",
          3)), ("apply three deployments/web/scale", scale("web", 4))],
          conflicts(('"two" with subresource "scale" using autoscaling/v1', ".spec.replicas"))),
    Story("who created a deployment loses its replicas to a scale", [("create one deployments",
          deployment(replicas=1)), ("update two deployments/web/scale", scale("web", 3)), ("get - deployments/web",
          None)], Owned({"spec": {"replicas": 3}}, {"two Update apps/v1 scale": ".spec.replicas",
          "one Update apps/v1": ".spec.progressDeadlineSeconds .spec.revisionHistoryLimit .spec.selector "
          ".spec.strategy.rollingUpdate .spec.strategy.rollingUpdate.maxSurge "
          ".spec.strategy.rollingUpdate.maxUnavailable .spec.strategy.type .spec.template.metadata.labels "
          ".spec.template.metadata.labels.app .spec.template.spec.containers[name=main] "
          ".spec.template.spec.containers[name=main].image "
          ".spec.template.spec.containers[name=main].imagePullPolicy "
          ".spec.template.spec.containers[name=main].name .spec.template.spec.containers[name=main].resources "
          ".spec.template.spec.containers[name=main].terminationMessagePath "
          ".spec.template.spec.containers[name=main].terminationMessagePolicy "
          ".spec.template.spec.dnsPolicy .spec.template.spec.restartPolicy "
          ".spec.template.spec.schedulerName .spec.template.spec.securityContext "
          ".spec.template.spec.terminationGracePeriodSeconds"})),
    Story("who applies without replicas leaves them to the scale", [("apply one deployments/web",
          applied_thing("Deployment", **deployment(replicas=1))), ("update two deployments/web/scale", scale("web",
          3)), ("apply one deployments/web", applied_thing("Deployment", **deployment()))],
          Owned({"spec": {"replicas": 3}}, {"one Apply apps/v1":
          ".spec.selector .spec.template.metadata.labels.app .spec.template.spec.containers[name=main] "
          ".spec.template.spec.containers[name=main].image .spec.template.spec.containers[name=main].name",
          "two Update apps/v1 scale": ".spec.replicas"})),
    Story("a scale can't be applied to what is not there", [("apply one deployments/web/scale", scale("web", 3))],
          Refused(404, "NotFound", 'deployments.apps "web" not found', "deployments.apps web")),
    Story("a scale with a field that it has not", [("apply one deployments/web", applied_thing("Deployment",
          **deployment(replicas=1))), ("apply two deployments/web/scale", {**scale("web", 1), "spec": {"x": 1}})],
          misfit("/web; autoscaling/v1, Kind=Scale", ".spec.x: field not declared in schema")),
    Story("a custom object's scale takes its replicas", [("apply one gadgets/g", gadget(replicas=1)),
          ("merge two gadgets/g/scale", {"spec": {"replicas": 3}}), ("get - gadgets/g", None)],
          Owned({"spec": {"replicas": 3}}, {"one Apply conformance.windvane.dev/v1": ".spec.size",
          "two Update conformance.windvane.dev/v1 scale": ".spec.replicas"})),
    Story("a custom object's scale can't be applied", [("apply one gadgets/g", gadget(replicas=1)),
          ("force two gadgets/g/scale", scale("g", 3))], Refused(500, "",
          "failed to convert new object (/g; autoscaling/v1, Kind=Scale) to proper version: "
          "request to convert CR to an invalid group/version: autoscaling/v1")),
]  # fmt: skip


@each(SCALES)
async def test_scales(raw: Raw, crds: None, story: Story) -> None:
    await story.check(raw)
