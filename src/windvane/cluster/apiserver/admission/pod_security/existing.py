"""Warnings about the existing pods of a namespace that gets a stricter standard."""

from collections import Counter
from collections.abc import Iterable, Sequence

from windvane import ambient
from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.pod_security.policy import Standard
from windvane.cluster.apiserver.admission.pod_security.standards import violations

MOST = 3000
TIMEOUT = 1.0
AT_ONCE = 100
"""How many pods are checked before the loop runs other tasks."""


async def warnings(namespace: str, pods: Sequence[Wire], standard: Standard) -> list[str]:
    """The warnings about the pods of a namespace. If there are too many, some of each controller are checked first."""
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    looked_at, until = 0, ambient.monotonic() + TIMEOUT
    for pod in _by_priority(pods)[:MOST]:
        looked_at += 1
        if reasons := ", ".join(each.reason for each in violations(pod, standard)):
            name = pod["metadata"]["name"]
            counts[reasons] += 1
            first[reasons] = min(name, first.get(reasons, name))
        if ambient.monotonic() > until:
            break
        if looked_at % AT_ONCE == 0:
            await ambient.sleep(0)
    told: list[str] = []
    if looked_at < len(pods):
        many = f"the first {looked_at} of {len(pods)} existing pods"
        told.append(f"new PodSecurity enforce level only checked against {many}")
    if counts:
        told.append(f'existing pods in namespace "{namespace}" violate the new PodSecurity enforce level "{standard}"')
    return told + sorted(f"{first[reasons]}{_others(count - 1)}: {reasons}" for reasons, count in counts.items())


def _others(count: int) -> str:
    if not count:
        return ""
    return f" (and {count} other pod{'s' if count > 1 else ''})"


def _by_priority(pods: Iterable[Wire]) -> list[Wire]:
    """First one pod of each controller, and pods without one: the others will hardly differ."""
    first: list[Wire] = []
    rest: list[Wire] = []
    known: set[str] = set()
    for pod in pods:
        owners = pod["metadata"].get("ownerReferences") or ()
        controller = next((owner["uid"] for owner in owners if owner.get("controller")), "")
        (rest if controller in known else first).append(pod)
        if controller:
            known.add(controller)
    return first + rest
