"""HorizontalPodAutoscalers: how many replicas there come to be, how soon, and what the status says about it."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import pytest

from integration.controllers.cluster import Cluster
from integration.controllers.stateful import statefulset
from integration.controllers.workloads import deployment, replicaset, replicationcontroller, template
from windvane import Client, ObjectMeta, Resource, Spec, Status, ambient, crd
from windvane.api import codec
from windvane.api.duration import Duration
from windvane.api.quantity import Quantity
from windvane.api.resource import ScaleSubresource
from windvane.api.status import APIStatus
from windvane.cluster.controllers.autoscaler.metrics import ContainerMetrics, MetricsUnavailable, PodMetrics
from windvane.k8s.apps import Deployment
from windvane.k8s.autoscaling import HorizontalPodAutoscaler
from windvane.k8s.core import Event, Pod

UNABLE = "the HPA was unable to compute the replica count"
REQUESTS = {"cpu": "100m", "memory": "100Mi"}


class Figures:
    """What the test says that pods use: all of them the same, but for those that have figures of their own."""

    def __init__(self) -> None:
        self.cpu = "50m"
        self.memory = "64Mi"
        self.of: dict[str, dict[str, str]] = {}
        self.silent: set[str] = set()
        """Pods that nothing is known of."""
        self.refused = ""
        self.asked = 0

    async def __call__(self, client: Client, namespace: str, selector: str) -> Sequence[PodMetrics]:
        self.asked += 1
        if self.refused:
            raise MetricsUnavailable(self.refused)
        pods = await client.list(Pod, namespace=namespace, labels=selector)
        return [self._measured(each.metadata.name) for each in pods if self._is_measured(each)]

    def _is_measured(self, pod: Pod) -> bool:
        return pod.status.phase == "Running" and pod.metadata.name not in self.silent

    def _measured(self, name: str) -> PodMetrics:
        used = {"cpu": self.cpu, "memory": self.memory} | self.of.get(name, {})
        container = ContainerMetrics(name="web", usage={each: Quantity(amount) for each, amount in used.items()})
        return PodMetrics(
            metadata=ObjectMeta(name=name, namespace="default"),
            timestamp=ambient.now(),
            window=Duration(seconds=15),
            containers=[container],
        )


class Scaling:
    """A cluster with the Deployment `web`, whose pods are ready as soon as they are there."""

    def __init__(self, cluster: Cluster, figures: Figures) -> None:
        self.cluster = cluster
        self.figures = figures
        self.admin = cluster.admin

    async def start(self, replicas: int = 1, **spec: Any) -> None:
        """Make the Deployment, and what scales it."""
        await self.admin.create(deployment(replicas, template=requesting()))
        await self.until_ready(replicas)
        await ambient.sleep(30)  # figures of a pod's first moments count for nothing
        await self.admin.create(autoscaler(**spec))
        await self.cluster.settled()

    async def until_ready(self, replicas: int) -> None:
        """Play the node until there are so many pods, all of them ready."""
        await self.cluster.settled()
        await self.cluster.make_ready(*[each for each in await self.pods() if each.status.phase == "Pending"])
        await self.cluster.settled()
        assert len(await self.pods()) == replicas

    async def pass_by(self, seconds: int) -> None:
        """Let time pass, with a node that does its work."""
        for _ in range(seconds):
            await ambient.sleep(1)
            await self.cluster.make_ready(*[each for each in await self.pods() if each.status.phase == "Pending"])

    async def pods(self) -> list[Pod]:
        return [each for each in await self.cluster.list(Pod) if each.metadata.deletion_timestamp is None]

    async def replicas(self) -> int:
        """How many the Deployment is to have."""
        return (await self.admin.get(Deployment, "web")).spec.replicas or 0

    async def hpa(self) -> HorizontalPodAutoscaler:
        return await self.admin.get(HorizontalPodAutoscaler, "web")

    async def condition(self, what: str) -> tuple[str, str, str]:
        """Status, reason and message of a condition."""
        [found] = [each for each in (await self.hpa()).status.conditions if each.type == what]
        return found.status, found.reason or "", found.message or ""

    async def events(self, reason: str) -> list[str]:
        """What was said with that reason, in the order of time."""
        events = [each for each in await self.cluster.list(Event) if each.reason == reason]
        return [each.message or "" for each in sorted(events, key=lambda each: str(each.first_timestamp))]


@pytest.fixture
async def scaling() -> AsyncIterator[Scaling]:
    cluster, figures = Cluster(), Figures()
    cluster.metrics = figures
    await cluster.begin()
    yield Scaling(cluster, figures)
    await cluster.close()


def requesting(**requests: str) -> dict[str, Any]:
    """A template whose container requests something."""
    made = template()
    made["spec"]["containers"][0]["resources"] = {"requests": requests or REQUESTS}
    return made


def cpu(**target: Any) -> dict[str, Any]:
    """A metric of CPU: cpu(averageUtilization=50)."""
    return resource("cpu", **target)


def resource(name: str, **target: Any) -> dict[str, Any]:
    """A metric of a resource."""
    kind = "Utilization" if "averageUtilization" in target else "AverageValue"
    return {"type": "Resource", "resource": {"name": name, "target": {"type": kind, **target}}}


def autoscaler(name: str = "web", kind: str = "Deployment", version: str = "apps/v1", **spec: Any) -> Any:
    """An autoscaler of `web` that aims at half of the CPU that pods ask for."""
    target = {"apiVersion": version, "kind": kind, "name": spec.pop("target", "web")}
    stated = {"scaleTargetRef": target, "maxReplicas": 10, "metrics": [cpu(averageUtilization=50)]} | spec
    return codec.from_wire({"metadata": {"name": name}, "spec": stated}, HorizontalPodAutoscaler)


# How many


async def test_twice_the_use_is_twice_the_replicas(scaling: Scaling) -> None:
    scaling.figures.cpu = "100m"
    await scaling.start(2)
    assert await scaling.replicas() == 4
    words = "New size: 4; reason: cpu resource utilization (percentage of request) above target"
    assert await scaling.events("SuccessfulRescale") == [words]
    assert (await scaling.condition("AbleToScale")) == (
        "True",
        "SucceededRescale",
        "the HPA controller was able to update the target scale to 4",
    )
    found = "the HPA was able to successfully calculate a replica count from cpu resource utilization"
    active = ("True", "ValidMetricFound", f"{found} (percentage of request)")
    assert await scaling.condition("ScalingActive") == active
    within = "the desired count is within the acceptable range"
    assert await scaling.condition("ScalingLimited") == ("False", "DesiredWithinRange", within)
    status = (await scaling.hpa()).status
    assert (status.current_replicas, status.desired_replicas) == (2, 4)
    assert status.last_scale_time is not None
    [metric] = codec.to_wire(status)["currentMetrics"]
    current = {"averageUtilization": 100, "averageValue": "100m"}
    assert metric == {"type": "Resource", "resource": {"name": "cpu", "current": current}}


@pytest.mark.parametrize(("used", "replicas"), [("55m", 4), ("45m", 4), ("56m", 5)])
async def test_a_tenth_more_or_less_changes_nothing(scaling: Scaling, used: str, replicas: int) -> None:
    scaling.figures.cpu = used
    await scaling.start(4)
    assert await scaling.replicas() == replicas


async def test_the_tolerance_can_be_set(scaling: Scaling) -> None:
    scaling.figures.cpu = "55m"
    await scaling.start(10, maxReplicas=20, behavior={"scaleUp": {"tolerance": "0.05"}})
    assert await scaling.replicas() == 11


async def test_nothing_is_written_while_nothing_changes(scaling: Scaling) -> None:
    await scaling.start(2)
    await scaling.pass_by(30)
    before = (await scaling.hpa()).metadata.resource_version
    await scaling.pass_by(60)
    assert (await scaling.hpa()).metadata.resource_version == before
    assert await scaling.condition("AbleToScale") == (
        "True",
        "ReadyForNewScale",
        "recommended size matches current size",
    )


async def test_it_looks_every_fifteen_seconds(scaling: Scaling) -> None:
    await scaling.start(2)
    looks = scaling.figures.asked
    await scaling.pass_by(60)
    assert scaling.figures.asked == looks + 4


async def test_a_new_spec_is_looked_at_at_once(scaling: Scaling) -> None:
    await scaling.start(2)
    await scaling.admin.patch(HorizontalPodAutoscaler, "web", {"spec": {"minReplicas": 3}})
    await scaling.cluster.settled()
    assert await scaling.replicas() == 3
    assert await scaling.events("SuccessfulRescale") == [
        "New size: 3; reason: Current number of replicas below Spec.MinReplicas"
    ]


async def test_more_than_the_maximum_is_too_many_at_once(scaling: Scaling) -> None:
    await scaling.start(5, maxReplicas=3)
    assert await scaling.replicas() == 3
    assert await scaling.events("SuccessfulRescale") == [
        "New size: 3; reason: Current number of replicas above Spec.MaxReplicas"
    ]
    assert scaling.figures.asked >= 1


async def test_the_maximum_limits(scaling: Scaling) -> None:
    scaling.figures.cpu = "100m"
    await scaling.start(2, maxReplicas=3)
    assert await scaling.replicas() == 3
    words = "the desired replica count is more than the maximum replica count"
    assert await scaling.condition("ScalingLimited") == ("True", "TooManyReplicas", words)


async def test_it_grows_to_twice_as_many_at_a_time(scaling: Scaling) -> None:
    scaling.figures.cpu = "400m"
    await scaling.start(3, maxReplicas=100)
    assert await scaling.replicas() == 6
    words = "the desired replica count is increasing faster than the maximum scale rate"
    assert await scaling.condition("ScalingLimited") == ("True", "ScaleUpLimit", words)


async def test_idle_pods_go_after_five_minutes_but_for_the_minimum(scaling: Scaling) -> None:
    scaling.figures.cpu = "1m"
    await scaling.start(4, minReplicas=2)
    await scaling.pass_by(270)
    assert await scaling.replicas() == 4
    words = "recent recommendations were higher than current one, applying the highest recent recommendation"
    assert await scaling.condition("AbleToScale") == ("True", "ScaleDownStabilized", words)
    await scaling.pass_by(60)
    assert await scaling.replicas() == 2
    assert await scaling.events("SuccessfulRescale") == ["New size: 2; reason: All metrics below target"]
    few = "the desired replica count is less than the minimum replica count"
    await scaling.pass_by(60)
    assert await scaling.condition("ScalingLimited") == ("True", "TooFewReplicas", few)


async def test_a_short_lull_removes_nothing(scaling: Scaling) -> None:
    await scaling.start(4)
    for _ in range(2):
        scaling.figures.cpu = "1m"
        await scaling.pass_by(240)
        scaling.figures.cpu = "50m"
        await scaling.pass_by(30)
    assert await scaling.replicas() == 4


async def test_what_was_recommended_is_forgotten_with_the_controllers_but_for_what_is_there(scaling: Scaling) -> None:
    scaling.figures.cpu = "1m"
    await scaling.start(4)
    await scaling.pass_by(280)
    await scaling.cluster.restart_controllers()
    await scaling.pass_by(240)
    assert await scaling.replicas() == 4, "a controller that begins takes what is there for recommended"


async def test_nothing_runs_while_the_target_has_no_replicas(scaling: Scaling) -> None:
    await scaling.start(0)
    await scaling.pass_by(30)
    assert await scaling.replicas() == 0
    words = "scaling is disabled since the replica count of the target is zero"
    assert await scaling.condition("ScalingActive") == ("False", "ScalingDisabled", words)
    await scaling.admin.scale(Deployment, "web", 1)
    await scaling.pass_by(30)
    assert (await scaling.condition("ScalingActive"))[0] == "True"


async def test_of_several_metrics_the_largest_counts(scaling: Scaling) -> None:
    scaling.figures.memory = "100Mi"
    metrics = [cpu(averageUtilization=50), resource("memory", averageValue="50Mi")]
    await scaling.start(2, metrics=metrics)
    assert await scaling.replicas() == 4
    assert await scaling.events("SuccessfulRescale") == ["New size: 4; reason: memory resource above target"]
    [_, memory] = codec.to_wire((await scaling.hpa()).status)["currentMetrics"]
    assert memory == {"type": "Resource", "resource": {"name": "memory", "current": {"averageValue": "100Mi"}}}


async def test_a_container_can_be_what_counts(scaling: Scaling) -> None:
    scaling.figures.cpu = "150m"
    target = {"type": "Utilization", "averageUtilization": 50}
    source = {"name": "cpu", "container": "web", "target": target}
    await scaling.start(1, metrics=[{"type": "ContainerResource", "containerResource": source}])
    assert await scaling.replicas() == 3
    reason = "cpu container resource utilization (percentage of request) above target"
    assert await scaling.events("SuccessfulRescale") == [f"New size: 3; reason: {reason}"]
    [metric] = codec.to_wire((await scaling.hpa()).status)["currentMetrics"]
    assert metric["containerResource"] == {
        "name": "cpu",
        "container": "web",
        "current": {"averageUtilization": 150, "averageValue": "150m"},
    }


# What is not known


async def test_pods_without_figures_count_as_busy_when_there_seem_to_be_too_many(scaling: Scaling) -> None:
    scaling.figures.cpu = "10m"
    scaling.figures.refused = "not yet"
    await scaling.start(4, behavior={"scaleDown": {"stabilizationWindowSeconds": 0}})
    scaling.figures.refused = ""
    scaling.figures.silent = {(await scaling.pods())[0].metadata.name}
    await scaling.pass_by(20)
    # Three use 10m, and one counts for 100m: 32 % on average, of 50 that are wanted.
    assert await scaling.replicas() == 3


async def test_pods_without_figures_count_as_idle_when_there_seem_to_be_too_few(scaling: Scaling) -> None:
    await scaling.start(4, maxReplicas=20)
    scaling.figures.cpu = "100m"
    scaling.figures.silent = {(await scaling.pods())[0].metadata.name}
    await scaling.pass_by(20)
    assert await scaling.replicas() == 6


async def test_pods_that_are_not_ready_yet_count_as_idle(scaling: Scaling) -> None:
    scaling.figures.cpu = "100m"
    await scaling.start(2)
    await scaling.cluster.settled()
    await ambient.sleep(60)
    assert await scaling.replicas() == 4, "four pods, two of them pending: 50 % on average"


async def test_figures_of_a_pods_first_moments_count_for_nothing(scaling: Scaling) -> None:
    await scaling.admin.create(deployment(1, template=requesting()))
    await scaling.until_ready(1)
    scaling.figures.cpu = "100m"
    await scaling.admin.create(autoscaler())
    await scaling.cluster.settled()
    words = "failed to get cpu utilization: did not receive metrics for targeted pods (pods might be unready)"
    assert await scaling.condition("ScalingActive") == ("False", "FailedGetResourceMetric", f"{UNABLE}: {words}")
    await scaling.pass_by(16)
    assert await scaling.replicas() == 2


async def test_pods_that_fail_or_go_are_not_asked(scaling: Scaling) -> None:
    await scaling.start(2)
    gone = (await scaling.pods())[0].metadata.name
    scaling.figures.of[gone] = {"cpu": "900m"}
    finalizers = {"metadata": {"finalizers": ["example.com/holds"]}}
    await scaling.admin.patch(Pod, gone, finalizers)
    await scaling.admin.delete(Pod, gone)
    await scaling.pass_by(60)
    assert await scaling.replicas() == 2


async def test_without_figures_it_says_so_and_changes_nothing(scaling: Scaling) -> None:
    scaling.figures.refused = "unable to fetch metrics from resource metrics API: nobody knows"
    await scaling.start(2)
    why = f"failed to get cpu utilization: unable to get metrics for resource cpu: {scaling.figures.refused}"
    assert await scaling.condition("ScalingActive") == ("False", "FailedGetResourceMetric", f"{UNABLE}: {why}")
    assert await scaling.events("FailedGetResourceMetric") == [why]
    first = f"first error is: failed to get cpu resource metric value: {why}"
    assert await scaling.events("FailedComputeMetricsReplicas") == [f"invalid metrics (1 invalid out of 1), {first}"]
    status = (await scaling.hpa()).status
    assert (status.current_replicas, status.desired_replicas) == (2, 0)
    assert codec.to_wire(status)["currentMetrics"] == [{"type": ""}]
    assert await scaling.replicas() == 2


async def test_a_server_without_metrics_is_told_of_in_the_words_of_any_cluster(cluster: Cluster) -> None:
    scaling = Scaling(cluster, Figures())
    await scaling.start(1)
    unserved = "the server could not find the requested resource (get pods.metrics.k8s.io)"
    why = f"unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: {unserved}"
    assert await scaling.events("FailedGetResourceMetric") == [f"failed to get cpu utilization: {why}"]


async def test_a_container_that_requests_nothing_has_no_utilization(scaling: Scaling) -> None:
    await scaling.admin.create(deployment(1, template=requesting(memory="1Gi")))
    await scaling.until_ready(1)
    await ambient.sleep(30)
    await scaling.admin.create(autoscaler())
    await scaling.cluster.settled()
    [pod] = await scaling.pods()
    why = f"failed to get cpu utilization: missing request for cpu in container web of Pod {pod.metadata.name}"
    assert await scaling.events("FailedGetResourceMetric") == [why]


PODS = {"type": "Pods", "pods": {"metric": {"name": "hits"}, "target": {"type": "AverageValue", "averageValue": "1k"}}}
ROUTE = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "name": "main"}
OBJECT = {
    "type": "Object",
    "object": {"metric": {"name": "hits"}, "describedObject": ROUTE, "target": {"type": "Value", "value": "2k"}},
}
QUEUE = {"name": "queue", "selector": {"matchLabels": {"of": "mail"}}}
EXTERNAL = {
    "type": "External",
    "external": {"metric": QUEUE, "target": {"type": "AverageValue", "averageValue": "30"}},
}
CUSTOM = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"
UNSERVED = (
    "unable to fetch metrics from external metrics API: "
    "the server could not find the requested resource (get queue.external.metrics.k8s.io)"
)
SELECTOR = "&LabelSelector{MatchLabels:map[string]string{of: mail,},MatchExpressions:[]LabelSelectorRequirement{},}"


@pytest.mark.parametrize(
    ("metric", "reason", "why"),
    [
        (PODS, "FailedGetPodsMetric", f"unable to get metric hits: {CUSTOM}"),
        (OBJECT, "FailedGetObjectMetric", f"unable to get metric hits: Ingress on default main/{CUSTOM}"),
        (
            EXTERNAL,
            "FailedGetExternalMetric",
            f"unable to get external metric default/queue/{SELECTOR}: {UNSERVED}",
        ),
    ],
)
async def test_metrics_that_nobody_serves_are_told_of_in_the_words_of_any_cluster(
    scaling: Scaling, metric: Any, reason: str, why: str
) -> None:
    await scaling.start(1, metrics=[metric])
    assert await scaling.condition("ScalingActive") == ("False", reason, f"{UNABLE}: {why}")
    assert await scaling.events(reason) == [why]


async def test_one_metric_that_is_not_known_keeps_replicas_from_going(scaling: Scaling) -> None:
    scaling.figures.cpu = "1m"
    calm = {"scaleDown": {"stabilizationWindowSeconds": 0}}
    await scaling.start(4, metrics=[cpu(averageUtilization=50), PODS], behavior=calm)
    await scaling.pass_by(30)
    assert await scaling.replicas() == 4
    assert (await scaling.condition("ScalingActive"))[:2] == ("False", "FailedGetPodsMetric")
    why = f"failed to get pods metric value: unable to get metric hits: {CUSTOM}"
    words = f"invalid metrics (1 invalid out of 2), first error is: {why}"
    assert await scaling.events("FailedComputeMetricsReplicas") == [words]


async def test_one_metric_that_is_not_known_does_not_keep_replicas_from_coming(scaling: Scaling) -> None:
    scaling.figures.cpu = "100m"
    await scaling.start(2, metrics=[PODS, cpu(averageUtilization=50)])
    assert await scaling.replicas() == 4
    assert (await scaling.condition("ScalingActive"))[0] == "True"
    statuses = codec.to_wire((await scaling.hpa()).status)["currentMetrics"]
    assert [each["type"] for each in statuses] == ["", "Resource"]


# Behaviour


async def test_no_more_pods_are_added_in_a_period_than_a_policy_allows(scaling: Scaling) -> None:
    scaling.figures.cpu = "400m"
    policies = [{"type": "Pods", "value": 1, "periodSeconds": 60}]
    await scaling.start(2, behavior={"scaleUp": {"policies": policies}})
    assert await scaling.replicas() == 3
    await scaling.pass_by(40)
    assert await scaling.replicas() == 3
    words = "the desired replica count is increasing faster than the maximum scale rate"
    assert await scaling.condition("ScalingLimited") == ("True", "ScaleUpLimit", words)
    await scaling.pass_by(40)
    assert await scaling.replicas() == 4


async def test_no_more_pods_are_removed_in_a_period_than_a_policy_allows(scaling: Scaling) -> None:
    scaling.figures.cpu = "1m"
    rules = {"stabilizationWindowSeconds": 0, "policies": [{"type": "Percent", "value": 10, "periodSeconds": 60}]}
    await scaling.start(10, behavior={"scaleDown": rules})
    assert await scaling.replicas() == 9
    words = "the desired replica count is decreasing faster than the maximum scale rate"
    assert await scaling.condition("ScalingLimited") == ("True", "ScaleDownLimit", words)
    await scaling.pass_by(70)
    assert await scaling.replicas() == 8


async def test_a_direction_can_be_closed(scaling: Scaling) -> None:
    scaling.figures.cpu = "1m"
    await scaling.start(4, behavior={"scaleDown": {"stabilizationWindowSeconds": 0, "selectPolicy": "Disabled"}})
    await scaling.pass_by(60)
    assert await scaling.replicas() == 4
    assert (await scaling.condition("ScalingLimited"))[:2] == ("True", "ScaleDownLimit")


async def test_growing_can_be_made_to_wait_too(scaling: Scaling) -> None:
    await scaling.start(2, behavior={"scaleUp": {"stabilizationWindowSeconds": 60}})
    scaling.figures.cpu = "100m"
    await scaling.pass_by(40)
    assert await scaling.replicas() == 2
    words = "recent recommendations were lower than current one, applying the lowest recent recommendation"
    assert await scaling.condition("AbleToScale") == ("True", "ScaleUpStabilized", words)
    await scaling.pass_by(60)
    assert await scaling.replicas() == 4


async def test_replicas_go_at_once_if_no_calm_is_wanted(scaling: Scaling) -> None:
    scaling.figures.cpu = "1m"
    await scaling.start(4, behavior={"scaleDown": {"stabilizationWindowSeconds": 0}})
    assert await scaling.replicas() == 1


# Targets


@pytest.mark.parametrize(
    ("target", "version"),
    [
        (replicaset(2, template=requesting()), "apps/v1"),
        (statefulset(2, podManagementPolicy="Parallel", template=requesting()), "apps/v1"),
        (replicationcontroller(2, template=requesting()), "v1"),
    ],
    ids=lambda each: getattr(each, "kind", ""),
)
async def test_whatever_has_a_scale_is_scaled(scaling: Scaling, target: Any, version: str) -> None:
    scaling.figures.cpu = "100m"
    await scaling.admin.create(target)
    await scaling.until_ready(2)
    await ambient.sleep(30)
    await scaling.admin.create(autoscaler(kind=target.kind, version=version, target=target.metadata.name))
    await scaling.cluster.settled()
    assert (await scaling.admin.get(type(target), target.metadata.name)).spec.replicas == 4


class FleetSpec(Spec):
    replicas: int = 1


class FleetStatus(Status):
    replicas: int = 0
    selector: str = ""


class Fleet(
    Resource[FleetSpec, FleetStatus],
    group="example.com",
    version="v1",
    scale=ScaleSubresource(selector=".status.selector"),
):
    """A kind of the test's own."""


async def start_fleet(scaling: Scaling, **status: Any) -> None:
    await scaling.admin.create(crd(Fleet))
    await scaling.cluster.settled()
    await scaling.start(2, kind="Fleet", version="example.com/v1", target="ships")
    await scaling.admin.create(Fleet(metadata=ObjectMeta(name="ships"), spec=FleetSpec(replicas=2)))
    await scaling.admin.patch(Fleet, "ships", {"status": status}, subresource="status")


async def test_kinds_of_ones_own_are_scaled(scaling: Scaling) -> None:
    scaling.figures.cpu = "100m"
    await start_fleet(scaling, replicas=2, selector="app=web")
    await scaling.pass_by(20)
    assert (await scaling.admin.get(Fleet, "ships")).spec.replicas == 4


async def test_a_scale_without_a_selector_is_of_no_use(scaling: Scaling) -> None:
    await start_fleet(scaling, replicas=2)
    await scaling.pass_by(20)
    words = "the HPA target's scale is missing a selector"
    assert await scaling.condition("ScalingActive") == ("False", "InvalidSelector", words)
    assert await scaling.events("SelectorRequired") == ["selector is required"]


async def test_a_target_that_is_not_there_is_waited_for(scaling: Scaling) -> None:
    scaling.figures.cpu = "100m"
    await scaling.admin.create(autoscaler())
    await scaling.cluster.settled()
    missing = 'deployments.apps "web" not found'
    unable = "the HPA controller was unable to get the target's current scale"
    assert await scaling.condition("AbleToScale") == ("False", "FailedGetScale", f"{unable}: {missing}")
    assert await scaling.events("FailedGetScale") == [missing]
    await scaling.admin.create(deployment(1, template=requesting()))
    await scaling.pass_by(60)
    assert await scaling.replicas() > 1


async def test_a_kind_that_is_not_there_is_told_of(scaling: Scaling) -> None:
    await scaling.admin.create(autoscaler(kind="Fleet", version="example.com/v1"))
    await scaling.cluster.settled()
    assert await scaling.events("FailedGetScale") == ['no matches for kind "Fleet" in group "example.com"']


async def test_two_autoscalers_of_the_same_pods_do_nothing(scaling: Scaling) -> None:
    await scaling.start(2)
    await scaling.admin.create(autoscaler("other"))
    scaling.figures.cpu = "100m"
    await scaling.pass_by(40)
    assert await scaling.replicas() == 2
    words = "pods by selector app=web are controlled by multiple HPAs: [default/other default/web]"
    assert await scaling.condition("ScalingActive") == ("False", "AmbiguousSelector", words)
    assert words in await scaling.events("AmbiguousSelector")
    await scaling.admin.delete(HorizontalPodAutoscaler, "other")
    await scaling.pass_by(16)
    assert await scaling.replicas() == 4


async def test_a_scale_that_can_not_be_set_is_told_of(scaling: Scaling) -> None:
    await scaling.start(2)
    scaling.figures.cpu = "100m"
    refused = APIStatus(status="Failure", code=403, reason="Forbidden", message="not you")
    scaling.cluster.weather.refuse = lambda request: (
        refused if request.method == "PATCH" and request.path.endswith("/scale") else None
    )
    await scaling.pass_by(20)
    assert await scaling.replicas() == 2
    words = "the HPA controller was unable to update the target scale: not you"
    assert await scaling.condition("AbleToScale") == ("False", "FailedUpdateScale", words)
    reason = "cpu resource utilization (percentage of request) above target"
    assert await scaling.events("FailedRescale") == [f"New size: 4; reason: {reason}; error: not you"]
    assert (await scaling.hpa()).status.desired_replicas == 2
    scaling.cluster.weather.clear()
    await scaling.pass_by(20)
    assert await scaling.replicas() == 4


async def test_events_come_from_the_autoscaler(scaling: Scaling) -> None:
    scaling.figures.cpu = "100m"
    await scaling.start(2)
    events = [each for each in await scaling.cluster.list(Event) if each.reason == "SuccessfulRescale"]
    assert [each.reporting_component for each in events] == ["horizontal-pod-autoscaler"]


async def test_the_time_since_a_condition_holds_is_kept(scaling: Scaling) -> None:
    await scaling.start(2)
    first = {each.type: each.last_transition_time for each in (await scaling.hpa()).status.conditions}
    scaling.figures.cpu = "100m"
    await scaling.pass_by(20)
    later = {each.type: each.last_transition_time for each in (await scaling.hpa()).status.conditions}
    assert later == first
    scaling.figures.refused = "nobody knows"
    await scaling.pass_by(20)
    [active] = [each for each in (await scaling.hpa()).status.conditions if each.type == "ScalingActive"]
    assert active.last_transition_time is not None
    assert ambient.now() - active.last_transition_time < timedelta(seconds=30)
