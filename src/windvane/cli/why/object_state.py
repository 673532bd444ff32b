"""How an object stands, as it says itself: whether it is well, and if not, in which words it says what is missing."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

Wire = Mapping[str, Any]
"""An object, as JSON has it."""

PHASE = "its phase is "
STARTS = "its containers start"
STARTING = frozenset({"ContainerCreating", "PodInitializing"})
GOOD = ("Ready", "Available", "Established", "Complete", "Succeeded", "Synced", "Healthy")
"""Conditions that should be true, the most telling first."""
BAD = ("Failed", "Stalled", "Degraded", "ReplicaFailure")
"""Conditions that should not be."""
MOST_PODS = 5


class Standing(NamedTuple):
    """Whether an object is well, and what it says."""

    well: bool | None
    """None: it doesn't say."""
    words: str = ""


def standing_of(thing: Wire) -> Standing:
    """How an object stands."""
    metadata = thing.get("metadata") or {}
    if metadata.get("deletionTimestamp"):
        left = ", ".join(metadata.get("finalizers") or ())
        return Standing(False, f"it is being deleted{f', and has the finalizers {left}' if left else ''}")
    judge = _BY_KIND.get(group_and_kind(thing), _by_conditions)
    return judge(thing)


def group_and_kind(thing: Wire) -> tuple[str, str]:
    """What an object is, whatever the version."""
    return str(thing.get("apiVersion", "")).rpartition("/")[0], str(thing.get("kind", ""))


def condition_of(thing: Wire, type_: str) -> Wire | None:
    """One of its conditions."""
    return next((each for each in conditions_of(thing) if each.get("type") == type_), None)


def conditions_of(thing: Wire) -> list[Wire]:
    """Its conditions, as far as they are what conditions are."""
    stated = _status(thing).get("conditions")
    return [each for each in stated if isinstance(each, dict)] if isinstance(stated, list) else []


def _status(thing: Wire) -> Wire:
    status = thing.get("status")
    return status if isinstance(status, dict) else {}


def _by_conditions(thing: Wire) -> Standing:
    for type_ in BAD:
        found = condition_of(thing, type_)
        if found is not None and found.get("status") == "True":
            return Standing(False, said(found))
    for type_ in GOOD:
        found = condition_of(thing, type_)
        if found is not None:
            well = found.get("status") == "True"
            if well and (late := _is_late(found, thing)):
                return Standing(False, late)
            return Standing(well, "" if well else said(found))
    others = [each for each in conditions_of(thing) if str(each.get("type", "")).endswith("Ready")]
    for each in others:
        if each.get("status") != "True":
            return Standing(False, said(each))
    return Standing(True if others else None)


def _is_late(condition: Wire, thing: Wire) -> str:
    """What to say of a condition that is about an older spec; empty if it is about this one."""
    observed, generation = condition.get("observedGeneration"), (thing.get("metadata") or {}).get("generation")
    if not isinstance(observed, int) or not isinstance(generation, int) or observed >= generation:
        return ""
    return f"its spec has changed, to generation {generation}, and what it says is still of generation {observed}"


def said(condition: Wire) -> str:
    """What a condition says, in the words of its author: the message, or else the reason."""
    type_, reason, message = (str(condition.get(name) or "") for name in ("type", "reason", "message"))
    return message or (f"{type_} is {condition.get('status')}" + (f": {reason}" if reason else ""))


# Pods


def _pod(pod: Wire) -> Standing:
    status = _status(pod)
    phase = status.get("phase")
    if phase == "Succeeded":
        return Standing(True)
    for container in _containers(status):
        if words := _stuck(container):
            return Standing(False, words)
    if phase == "Failed":
        return Standing(False, _joined(status) or "it has failed")
    scheduled = condition_of(pod, "PodScheduled")
    if scheduled is not None and scheduled.get("status") == "False":
        return Standing(False, said(scheduled))
    ready = condition_of(pod, "Ready")
    if ready is not None and ready.get("status") == "True":
        return Standing(True)
    waiting = [each.get("name") for each in status.get("containerStatuses") or () if not each.get("ready")]
    if phase == "Running" and waiting:
        return Standing(False, f"container {waiting[0]} runs and is not ready: its readiness probe has yet to succeed")
    if scheduled is None:
        return Standing(False, "no scheduler has looked at it yet")
    return Standing(False, _joined(status) or f"{STARTS} (phase {phase})")


def _containers(status: Wire) -> Iterable[Wire]:
    for name in ("initContainerStatuses", "containerStatuses"):
        yield from status.get(name) or ()


def _stuck(container: Wire) -> str:
    """Why a container does not run; empty if it does, or is only starting."""
    name, state = container.get("name"), container.get("state") or {}
    waiting, terminated = state.get("waiting") or {}, state.get("terminated") or {}
    if waiting.get("reason") and (waiting["reason"] not in STARTING or waiting.get("message")):
        last = (container.get("lastState") or {}).get("terminated") or {}
        why = _joined(
            {**last, "reason": ""} if last.get("reason") == "Error" else last
        )  # which the exit code says, too
        ended = (
            f"; it ended with exit code {last['exitCode']}{f' ({why})' if why else ''}" if "exitCode" in last else ""
        )
        restarts = f", after {container['restartCount']} restarts" if container.get("restartCount") else ""
        return f"container {name}: {_joined(waiting)}{ended}{restarts}"
    if terminated.get("exitCode"):
        return f"container {name} has ended with exit code {terminated['exitCode']}: {_joined(terminated)}"
    return ""


def _joined(of: Wire) -> str:
    return ": ".join(filter(None, (str(of.get("reason") or ""), str(of.get("message") or ""))))


# Workloads


def _replicas(have: str, noun: str) -> Callable[[Wire], Standing]:
    def judge(thing: Wire) -> Standing:
        failed = condition_of(thing, "ReplicaFailure")
        if failed is not None and failed.get("status") == "True":
            return Standing(False, said(failed))
        status, spec = _status(thing), thing.get("spec") or {}
        wanted = spec.get("replicas")
        wanted = 1 if wanted is None else wanted
        ready = status.get(have) or 0
        if ready < wanted:
            progressing = condition_of(thing, "Progressing")
            late = progressing is not None and progressing.get("status") == "False"
            more = f"; {said(progressing)}" if late and progressing is not None else ""
            return Standing(False, f"{ready} of {wanted} replicas are {noun}{more}")
        observed, generation = status.get("observedGeneration"), (thing.get("metadata") or {}).get("generation")
        if observed is not None and generation is not None and observed < generation:
            return Standing(False, "its last change has yet to be seen by its controller")
        return Standing(True)

    return judge


def _daemon_set(thing: Wire) -> Standing:
    status = _status(thing)
    wanted, ready = status.get("desiredNumberScheduled") or 0, status.get("numberReady") or 0
    return Standing(ready >= wanted, "" if ready >= wanted else f"{ready} of {wanted} nodes have a pod that is ready")


def has_failed(thing: Wire) -> bool:
    """Whether it is a Job that has failed: it waits for nothing any more."""
    failed = condition_of(thing, "Failed")
    return group_and_kind(thing) == ("batch", "Job") and failed is not None and failed.get("status") == "True"


def _job(thing: Wire) -> Standing:
    failed, complete = condition_of(thing, "Failed"), condition_of(thing, "Complete")
    if failed is not None and failed.get("status") == "True":
        return Standing(False, said(failed))
    if complete is not None and complete.get("status") == "True":
        return Standing(True)
    if (thing.get("spec") or {}).get("suspend"):
        return Standing(False, "it is suspended")
    return Standing(False, f"it is not complete; pods that are active: {_status(thing).get('active') or 0}")


def _autoscaler(thing: Wire) -> Standing:
    for type_ in ("AbleToScale", "ScalingActive"):
        found = condition_of(thing, type_)
        if found is None or found.get("status") != "True":
            return Standing(False, said(found) if found is not None else f"its status has no {type_} yet")
    return Standing(True)


def service_standing(service: Wire, slices: Iterable[Wire]) -> Standing:
    """Whether a Service leads to pods, as its EndpointSlices say."""
    selector = (service.get("spec") or {}).get("selector") or {}
    if not selector:
        return Standing(None)
    endpoints = [each for one in slices for each in one.get("endpoints") or ()]
    if any((each.get("conditions") or {}).get("ready", True) for each in endpoints):
        return Standing(True)
    if pods := sorted({str((each.get("targetRef") or {}).get("name", "")) for each in endpoints}):
        return Standing(False, f"of its pods, none is ready: {', '.join(pods[:MOST_PODS])}")
    labels = ",".join(f"{name}={value}" for name, value in selector.items())
    return Standing(False, f"there is no pod with the labels of its selector: {labels}")


def _phase(*good: str) -> Callable[[Wire], Standing]:
    def judge(thing: Wire) -> Standing:
        phase = str(_status(thing).get("phase") or "")
        return Standing(True) if phase in good else Standing(False, f"{PHASE}{phase or 'not known'}")

    return judge


_BY_KIND: Mapping[tuple[str, str], Callable[[Wire], Standing]] = {
    ("", "Pod"): _pod,
    ("", "PersistentVolumeClaim"): _phase("Bound"),
    ("", "PersistentVolume"): _phase("Bound", "Available"),
    ("", "Namespace"): _phase("Active"),
    ("", "ReplicationController"): _replicas("readyReplicas", "ready"),
    ("apps", "Deployment"): _replicas("availableReplicas", "available"),
    ("apps", "ReplicaSet"): _replicas("readyReplicas", "ready"),
    ("apps", "StatefulSet"): _replicas("readyReplicas", "ready"),
    ("apps", "DaemonSet"): _daemon_set,
    ("batch", "Job"): _job,
    ("autoscaling", "HorizontalPodAutoscaler"): _autoscaler,
}
