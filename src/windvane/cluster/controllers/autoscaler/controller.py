"""HorizontalPodAutoscalers: each looks every 15 seconds at what its pods use, and sets its target's scale to match."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from windvane import After, APIError, Client, Context, NotFound, Object, Operator, Selector, ambient, dynamic
from windvane.cluster.controllers.autoscaler.behavior import ScaleHistory
from windvane.cluster.controllers.autoscaler.decision import (
    ABLE_TO_SCALE,
    HPACondition,
    InvalidTarget,
    ScaleDecision,
    judge,
    say,
)
from windvane.cluster.controllers.autoscaler.metric_proposals import Situation
from windvane.cluster.controllers.autoscaler.metrics import (
    MetricsSource,
    MetricsUnavailable,
    PodMetrics,
    from_metrics_api,
)
from windvane.cluster.controllers.workloads.lru_cache import LRUCache
from windvane.k8s.autoscaling import (
    CrossVersionObjectReference,
    HorizontalPodAutoscaler,
    HorizontalPodAutoscalerSpec,
    Scale,
)
from windvane.k8s.core import Pod

EVERY = 15.0
"""How many seconds lie between two looks."""
UNSEEN = "the HPA controller was unable to get the target's current scale"


def add_to(operator: Operator, metrics: MetricsSource = from_metrics_api) -> None:
    """Declare the controller."""
    autoscalers = Autoscalers(metrics)

    @operator.controller(
        HorizontalPodAutoscaler,
        reads=[Pod],
        events_from="horizontal-pod-autoscaler",
    )
    async def horizontalpodautoscalers(hpa: HorizontalPodAutoscaler, ctx: Context) -> After:
        return await autoscalers.visit(hpa, ctx)


@dataclass
class AutoscalerMemory:
    """What is remembered of an autoscaler. Kubernetes forgets this, too, when its controllers are restarted."""

    spec: HorizontalPodAutoscalerSpec
    next_look: float = 0.0
    history: ScaleHistory = field(default_factory=ScaleHistory)
    selector: Selector | None = None


class Autoscalers:
    """Looks after all autoscalers."""

    def __init__(self, metrics: MetricsSource) -> None:
        self._metrics = metrics
        self._memories: LRUCache[AutoscalerMemory] = LRUCache()
        self._targets = Targets()

    async def visit(self, hpa: HorizontalPodAutoscaler, ctx: Context) -> After:
        """Look, if it is time or if there is something new to be done."""
        memory = self._memories.get(hpa.metadata.uid) or AutoscalerMemory(hpa.spec)
        self._memories.keep(hpa.metadata.uid, memory)
        if memory.spec != hpa.spec:
            memory.spec, memory.next_look = hpa.spec, 0.0
        wait = memory.next_look - ambient.monotonic()
        if wait > 0:  # it was its own status that changed
            return After(seconds=wait)
        await self._look(hpa, memory, ctx)
        memory.next_look = ambient.monotonic() + EVERY
        return After(seconds=EVERY)

    async def _look(self, hpa: HorizontalPodAutoscaler, memory: AutoscalerMemory, ctx: Context) -> None:
        try:
            target, scale = await self._targets.scale_of(hpa.spec.scale_target_ref, ctx.client)
        except (MetricsUnavailable, APIError) as error:
            ctx.event("FailedGetScale", str(error), type="Warning")
            say(hpa.status, HPACondition(ABLE_TO_SCALE, False, "FailedGetScale", f"{UNSEEN}: {error}"), ambient.now())
            return
        found = "the HPA controller was able to get the target's current scale"
        say(hpa.status, HPACondition(ABLE_TO_SCALE, True, "SucceededGetScale", found), ambient.now())
        chosen = scale.status.selector or ""
        memory.selector, misdirected = _selector(chosen)
        pods = ctx.list(Pod, labels=memory.selector) if memory.selector is not None else []
        misdirected = misdirected or self._shared(chosen, pods, ctx)
        current = scale.spec.replicas or 0
        usage = await self._usage(chosen, hpa, ctx) if misdirected is None else []
        situation = Situation(current, pods, usage, ambient.now())
        verdict = judge(hpa, situation, memory.history, ambient.monotonic(), misdirected)
        await self._carry_out(verdict, hpa, current, target, memory, ctx)

    async def _usage(
        self, selector: str, hpa: HorizontalPodAutoscaler, ctx: Context
    ) -> list[PodMetrics] | MetricsUnavailable:
        try:
            return list(await self._metrics(ctx.client, hpa.metadata.namespace, selector))
        except MetricsUnavailable as why:
            return why

    def _shared(self, chosen: str, pods: list[Pod], ctx: Context) -> InvalidTarget | None:
        """Two autoscalers that look at the same pods would undo each other's work."""
        every = [(each, self._memories.get(each.metadata.uid)) for each in ctx.list(HorizontalPodAutoscaler)]
        chosen_by = [(each, its.selector) for each, its in every if its is not None and its.selector is not None]
        theirs = [
            "/".join(each.key)
            for each, selector in chosen_by
            if any(selector.matches(pod.metadata.labels) for pod in pods)
        ]
        if len(theirs) < 2:
            return None
        words = f"pods by selector {chosen} are controlled by multiple HPAs: [{' '.join(theirs)}]"
        return InvalidTarget("AmbiguousSelector", "AmbiguousSelector", words, words)

    async def _carry_out(
        self,
        verdict: ScaleDecision,
        hpa: HorizontalPodAutoscaler,
        current: int,
        target: type[Object],
        memory: AutoscalerMemory,
        ctx: Context,
    ) -> None:
        memory.history = verdict.history
        for said in verdict.events:
            ctx.event(said.reason, said.message, type=said.type)
        for condition in verdict.conditions:
            say(hpa.status, condition, ambient.now())
        hpa.status.current_replicas, hpa.status.current_metrics = current, verdict.metrics
        if verdict.replicas is None:
            return
        if verdict.replicas != current:
            if not await self._rescale(verdict, hpa, target, ctx):
                return
            hpa.status.last_scale_time = ambient.now().replace(microsecond=0)
            if hpa.spec.behavior is not None:
                memory.history = memory.history.scaled(current, verdict.replicas, ambient.monotonic())
        hpa.status.desired_replicas = verdict.replicas

    async def _rescale(
        self, verdict: ScaleDecision, hpa: HorizontalPodAutoscaler, target: type[Object], ctx: Context
    ) -> bool:
        size = verdict.replicas or 0
        told = f"New size: {size}; reason: {verdict.why}"
        try:
            await ctx.client.scale(target, hpa.spec.scale_target_ref.name, size)
        except APIError as error:
            ctx.event("FailedRescale", f"{told}; error: {error}", type="Warning")
            words = f"the HPA controller was unable to update the target scale: {error}"
            say(hpa.status, HPACondition(ABLE_TO_SCALE, False, "FailedUpdateScale", words), ambient.now())
            return False
        ctx.event("SuccessfulRescale", told)
        words = f"the HPA controller was able to update the target scale to {size}"
        say(hpa.status, HPACondition(ABLE_TO_SCALE, True, "SucceededRescale", words), ambient.now())
        return True


def _selector(chosen: str) -> tuple[Selector | None, InvalidTarget | None]:
    """Which pods a target's scale is of, or what is wrong with what it says about that."""
    if not chosen:
        words, message = "selector is required", "the HPA target's scale is missing a selector"
        return None, InvalidTarget("SelectorRequired", "InvalidSelector", words, message)
    try:
        return Selector.parse(chosen), None
    except ValueError as error:
        words = f"couldn't convert selector into a corresponding internal selector object: {error}"
        return None, InvalidTarget("InvalidSelector", "InvalidSelector", words, words)


class Targets:
    """Finds what autoscalers refer to, of whatever kind that has a scale."""

    def __init__(self) -> None:
        self._kinds: Mapping[tuple[str, str], type[Object]] = {}

    async def scale_of(self, reference: CrossVersionObjectReference, client: Client) -> tuple[type[Object], Scale]:
        """A target's class and its scale; `MetricsUnavailable` if there is no such kind."""
        what = await self._kind(reference, client)
        try:
            return what, await client.get_scale(what, reference.name)
        except NotFound:
            self._kinds = {}  # perhaps the kind is served otherwise by now
            raise

    async def _kind(self, reference: CrossVersionObjectReference, client: Client) -> type[Object]:
        version = reference.api_version or ""
        if version.count("/") > 1:
            raise MetricsUnavailable(f"unexpected GroupVersion string: {version}")
        group, kind = version.rpartition("/")[0], reference.kind
        if (group, kind) not in self._kinds:
            kinds: dict[tuple[str, str], type[Object]] = {}
            for each in await client.discover(verbs=["get"]):
                kinds.setdefault((each.group, each.name), dynamic(each))
            self._kinds = kinds
        if (group, kind) not in self._kinds:
            raise MetricsUnavailable(f'no matches for kind "{kind}" in group "{group}"')
        return self._kinds[group, kind]
