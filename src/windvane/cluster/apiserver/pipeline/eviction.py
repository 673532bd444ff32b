"""Evictions: a pod is deleted unless its PodDisruptionBudget forbids that.

The status of the budget, which a controller writes, says how many disruptions are allowed. Each eviction takes one off
when it is granted, so that many at once can't exceed the budget; and it records the pod there, so that the controller
knows about it before the pod is gone.
"""

from dataclasses import replace

from windvane import ambient
from windvane.api import codec
from windvane.api.json_value import Wire
from windvane.api.meta import LabelSelector
from windvane.api.selector import Selector
from windvane.api.status import StatusCause, StatusDetails
from windvane.api.time import format_time
from windvane.cluster.apiserver.failure import Failure, failure
from windvane.cluster.apiserver.pipeline.deletion import Deletion
from windvane.cluster.apiserver.pipeline.reader import Reader
from windvane.cluster.apiserver.pipeline.writer import Writer
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.storage_codec import unpack
from windvane.cluster.apiserver.storage.store import Store
from windvane.cluster.apiserver.target import Target

ALLOWED = "DisruptionAllowed"
MOST_NOTED = 2000
"""How many `disruptedPods` a budget may have."""
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
WORDS = "Cannot evict pod as it would violate the pod's disruption budget."


class Evictions:
    """Carries out evictions."""

    def __init__(self, store: Store, catalog: Catalog, reader: Reader, writer: Writer) -> None:
        self._store = store
        self._catalog = catalog
        self._reader = reader
        self._writer = writer

    async def evict(self, target: Target, how: Deletion) -> None:
        """Delete a pod if the budget that covers it allows that now; a `Failure` 429 if it does not."""
        pod = unpack(target.type, self._reader.get(target).value)
        unready_of = "" if is_exempt(pod) else await self._ask_budget(target, pod, how)
        if not how.dry_run:
            how = await self._announce(target, pod, how, unready_of)
        await self._writer.delete(target, how)

    async def _ask_budget(self, target: Target, pod: Wire, how: Deletion) -> str:
        """Take one off the budget. If the pod may be evicted because it is not ready, return the name of the budget."""
        type_ = self._catalog.types["policy", "v1", "poddisruptionbudgets"]
        budgets = [
            wire
            for entry in self._store.entries(type_.collection, target.namespace)
            if covers(wire := unpack(type_, entry.value), pod)
        ]
        if len(budgets) > 1:
            raise failure(500, "", SEVERAL)
        if not budgets:
            return ""
        name = str(budgets[0]["metadata"]["name"])
        if not is_ready(pod) and allows_unready_eviction(budgets[0]):
            return name
        budget = Target(type_, target.namespace, name)
        await self._writer.amend(budget, lambda wire: decrement(wire, target.name), dry_run=how.dry_run)
        return ""

    async def _announce(self, target: Target, pod: Wire, how: Deletion, unready_of: str) -> Deletion:
        """Add the condition DisruptionTarget; returns how to delete exactly that version of the pod."""

        def change(wire: Wire) -> Wire:
            meta = wire["metadata"]
            _check_precondition(target.name, "UID", how.uid, meta["uid"], "been deleted and then recreated")
            _check_precondition(
                target.name, "ResourceVersion", how.resource_version, meta["resourceVersion"], "been modified"
            )
            if unready_of and meta["resourceVersion"] != pod["metadata"]["resourceVersion"]:
                raise being_processed(unready_of)  # it may have become ready meanwhile
            return disrupted(wire)

        written = await self._writer.amend(target, change)
        if not how.resource_version:
            return how
        return replace(how, resource_version=unpack(target.type, written.value)["metadata"]["resourceVersion"])


def is_exempt(pod: Wire) -> bool:
    """Whether the budget need not count the pod: it has not begun, has ended, or is being deleted anyway."""
    phase = pod.get("status", {}).get("phase")
    return phase in ("Succeeded", "Failed", "Pending") or "deletionTimestamp" in pod["metadata"]


def is_ready(pod: Wire) -> bool:
    """Whether the pod counts as healthy."""
    conditions = pod.get("status", {}).get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def covers(budget: Wire, pod: Wire) -> bool:
    """Whether a budget selects a pod."""
    selector = budget.get("spec", {}).get("selector")
    chosen = None if selector is None else codec.from_wire(selector, LabelSelector)
    return Selector.from_label_selector(chosen).matches(pod["metadata"].get("labels") or {})


def allows_unready_eviction(budget: Wire) -> bool:
    """Whether a pod that is not ready may be evicted without being counted."""
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status", {})
    return bool(status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0) > 0)


def decrement(budget: Wire, pod: str) -> Wire:
    """The budget after one more eviction; a `Failure` if it allows none."""
    meta, status = budget["metadata"], budget.setdefault("status", {})
    name, allowed = meta["name"], status.get("disruptionsAllowed", 0)
    disrupted_pods = status.get("disruptedPods") or {}
    if status.get("observedGeneration", 0) < meta.get("generation", 1):
        raise being_processed(name)
    if allowed < 0:
        raise _forbidden(name, "pdb disruptions allowed is negative")
    if len(disrupted_pods) > MOST_NOTED:
        raise _forbidden(name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller")
    if allowed == 0:
        raise _too_many_disruptions(blocked_message(name, status))
    status["disruptionsAllowed"] = allowed - 1
    if allowed == 1:
        _say_insufficient(status)
    status["disruptedPods"] = {**disrupted_pods, pod: format_time(ambient.now())}
    return budget


def blocked_message(name: str, status: Wire) -> str:
    """Why a budget allows no disruption."""
    healthy, needed = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    conditions = status.get("conditions") or ()
    denied: Wire = next((each for each in conditions if each["type"] == ALLOWED and each["status"] == "False"), {})
    message, reason = denied.get("message", ""), denied.get("reason", "")
    if message and reason == "SyncFailed":
        return f"The disruption budget {name} does not allow evicting pods currently because it failed sync: {message}"
    if healthy <= needed:
        return f"The disruption budget {name} needs {needed} healthy pods and has {healthy} currently"
    if message:
        return f"The disruption budget {name} does not allow evicting pods currently ({reason}): {message}"
    return f"The disruption budget {name} does not allow evicting pods currently"


def disrupted(pod: Wire) -> Wire:
    """The pod with the condition DisruptionTarget."""
    conditions = pod.setdefault("status", {}).setdefault("conditions", [])
    before: Wire = next((each for each in conditions if each["type"] == "DisruptionTarget"), {})
    since = before.get("lastTransitionTime") if before.get("status") == "True" else None
    evicted = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
        "lastProbeTime": None,
        "lastTransitionTime": since or format_time(ambient.now()),
    }
    conditions[:] = [each for each in conditions if each["type"] != "DisruptionTarget"] + [evicted]
    return pod


def being_processed(name: str) -> Failure:
    """The 429 while the controller has not computed the budget yet."""
    return _too_many_disruptions(
        f"The disruption budget {name} is still being processed by the server.", retry_after=10
    )


def _check_precondition(pod: str, word: str, stated: str, found: str, guess: str) -> None:
    if stated and stated != found:
        why = f"the {word} in the precondition ({stated}) does not match the {word} in record ({found})."
        message = f'Operation cannot be fulfilled on Pod "{pod}": {why} The object might have {guess}'
        raise failure(409, "Conflict", message, StatusDetails(name=pod, kind="Pod"))


def _say_insufficient(status: Wire) -> None:
    conditions = status.setdefault("conditions", [])
    before: Wire = next((each for each in conditions if each["type"] == ALLOWED), {})
    since = before.get("lastTransitionTime") if before.get("status") == "False" else None
    none_left = {
        "type": ALLOWED,
        "status": "False",
        "reason": "InsufficientPods",
        "message": "",
        "lastTransitionTime": since or format_time(ambient.now()),
        "observedGeneration": status.get("observedGeneration", 0),
    }
    conditions[:] = [each for each in conditions if each["type"] != ALLOWED] + [none_left]


def _forbidden(name: str, why: str) -> Failure:
    details = StatusDetails(name=name, group="policy", kind="poddisruptionbudget")
    return failure(403, "Forbidden", f'poddisruptionbudget.policy "{name}" is forbidden: {why}', details)


def _too_many_disruptions(why: str, *, retry_after: int = 0) -> Failure:
    cause = StatusCause(reason="DisruptionBudget", message=why)
    details = StatusDetails(causes=[cause], retry_after_seconds=retry_after)
    return failure(429, "TooManyRequests", WORDS, details)
