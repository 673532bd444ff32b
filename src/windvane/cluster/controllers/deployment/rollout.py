"""How large each ReplicaSet of a Deployment should be next: the arithmetic of rolling updates and of scaling.

In a rolling update there are never more pods than desired + maxSurge, and, as far as it is up to the Deployment, never
fewer available than desired - maxUnavailable. Each function looks at the ReplicaSets as they are and returns the sizes
of those that should have another one, so that a rollout can be taken up at any point.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from windvane import scaled_value
from windvane.k8s.apps import Deployment, ReplicaSet

DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS = "deployment.kubernetes.io/max-replicas"

Sizes = Mapping[str, int]
"""How large ReplicaSets should be, by their names."""


class RolloutLimits(NamedTuple):
    """How far a Deployment may be from its number of replicas while it is updated."""

    surge: int
    unavailable: int


def replicas_of(owner: Deployment | ReplicaSet) -> int:
    """How many pods it asks for."""
    return 1 if owner.spec.replicas is None else owner.spec.replicas


def is_rolling(deployment: Deployment) -> bool:
    """Whether old and new pods may run side by side."""
    return deployment.spec.strategy is None or deployment.spec.strategy.type != "Recreate"


def limits_of(deployment: Deployment) -> RolloutLimits:
    """maxSurge, shares rounded up, and maxUnavailable, shares rounded down; not both are 0, or nothing would move."""
    if not is_rolling(deployment):
        return RolloutLimits(0, 0)
    desired = replicas_of(deployment)
    rolling = deployment.spec.strategy.rolling_update if deployment.spec.strategy else None
    surge = scaled_value((rolling and rolling.max_surge) or 0, desired, round_up=True)
    unavailable = scaled_value((rolling and rolling.max_unavailable) or 0, desired, round_up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1
    return RolloutLimits(surge, min(unavailable, desired))


def by_age(sets: Iterable[ReplicaSet]) -> list[ReplicaSet]:
    """The oldest first."""
    return sorted(sets, key=_age)


def _age(rs: ReplicaSet) -> tuple[float, str]:
    made = rs.metadata.creation_timestamp
    return made.timestamp() if made else 0.0, rs.metadata.name


def active(sets: Iterable[ReplicaSet]) -> list[ReplicaSet]:
    """Those that ask for pods."""
    return [each for each in sets if replicas_of(each) > 0]


def total(sets: Iterable[ReplicaSet]) -> int:
    """How many pods these ask for together."""
    return sum(map(replicas_of, sets))


def available(rs: ReplicaSet) -> int:
    """How many of the pods that it asks for are available. Those that are about to go don't count."""
    return min(rs.status.available_replicas or 0, replicas_of(rs))


# A rolling update


def rolling_sizes(deployment: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet]) -> Sizes:
    """The next step: more new pods if there may be more at all, else fewer old ones if enough are available."""
    if (size := new_size(deployment, replicas_of(new), old)) != replicas_of(new):
        return {new.metadata.name: size}
    return _fewer_old(deployment, new, by_age(active(old)))


def new_size(deployment: Deployment, now: int, old: Sequence[ReplicaSet]) -> int:
    """How large the new ReplicaSet, which asks for `now` pods, may be."""
    desired = replicas_of(deployment)
    if now >= desired or not is_rolling(deployment):
        return desired
    room = desired + limits_of(deployment).surge - now - total(old)
    return now + max(0, min(room, desired - now))


def _fewer_old(deployment: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet]) -> Sizes:
    enough = replicas_of(deployment) - limits_of(deployment).unavailable
    # New pods that are not up yet may never be: what they leave open must be counted as if it stayed so.
    spare = total(old) + available(new) - enough
    if not old or spare <= 0:
        return {}
    sizes = {each.metadata.name: replicas_of(each) for each in old}
    # First those that are not available: they cost nothing, and could hold up the rollout for ever.
    for each in old:
        down = min(spare, replicas_of(each) - available(each))
        sizes[each.metadata.name] -= down
        spare -= down
    spare = sum(map(available, old)) + available(new) - enough
    for each in old:
        down = max(0, min(spare, sizes[each.metadata.name]))
        sizes[each.metadata.name] -= down
        spare -= down
    before = {each.metadata.name: replicas_of(each) for each in old}
    return {name: size for name, size in sizes.items() if size < before[name]}


# Scaling


def is_scaled(deployment: Deployment, sets: Iterable[ReplicaSet]) -> bool:
    """Whether the Deployment asks for another number of replicas than when its ReplicaSets were last resized."""
    asked = (_number(each, DESIRED_REPLICAS) for each in active(sets))
    return any(each is not None and each != replicas_of(deployment) for each in asked)


def scaled_sizes(deployment: Deployment, new: ReplicaSet | None, old: Sequence[ReplicaSet]) -> Sizes:
    """Sizes after the number of replicas changed, without going on with the rollout: all keep their shares.

    To scale a Deployment in the middle of a bad rollout must not make it worse.
    """
    desired = replicas_of(deployment)
    every = [*old, new] if new else list(old)
    if not every:
        return {}
    running = active(every)
    if len(running) <= 1:
        only = running[0] if running else new or by_age(old)[-1]
        return {only.metadata.name: desired}
    if new is not None and _is_saturated(new, desired):
        return {each.metadata.name: 0 for each in active(old)}
    return _shares(deployment, running) if is_rolling(deployment) else {}


def _shares(deployment: Deployment, sets: Sequence[ReplicaSet]) -> Sizes:
    desired = replicas_of(deployment)
    most = desired + limits_of(deployment).surge if desired > 0 else 0
    change = most - total(sets)
    # The largest first; of the same size, the newest are the first to grow and the oldest the first to shrink.
    ordered = sorted(sorted(sets, key=_age, reverse=change > 0), key=replicas_of, reverse=True)
    sizes = {each.metadata.name: replicas_of(each) for each in ordered}
    left = change
    for each in ordered:
        share = _share(deployment, each, most)
        share = min(share, left) if change > 0 else max(share, left)
        share = share if left else 0
        sizes[each.metadata.name] += share
        left -= share
    largest = ordered[0].metadata.name
    sizes[largest] = max(0, sizes[largest] + left)
    return sizes


def _share(deployment: Deployment, rs: ReplicaSet, most: int) -> int:
    """By how much a ReplicaSet must change to keep its share of all pods."""
    size = replicas_of(rs)
    if replicas_of(deployment) == 0:
        return -size
    before = _number(rs, MAX_REPLICAS) or deployment.status.replicas
    if not before:
        return 0
    return math.floor(size * most / before + 0.5) - size


def _is_saturated(new: ReplicaSet, desired: int) -> bool:
    asked = _number(new, DESIRED_REPLICAS)
    return replicas_of(new) == asked == (new.status.available_replicas or 0) == desired


def _number(rs: ReplicaSet, annotation: str) -> int | None:
    text = rs.metadata.annotations.get(annotation, "")
    return int(text) if text.isascii() and text.isdigit() and int(text) < 2**31 else None


# Recreation


def recreated_sizes(deployment: Deployment, new: ReplicaSet | None, old: Sequence[ReplicaSet], pods_run: bool) -> Sizes:
    """The next step: no old pods; and new ones once the last old one has ended."""
    if running := active(old):
        return {each.metadata.name: 0 for each in running}
    if pods_run or new is None or replicas_of(new) == replicas_of(deployment):
        return {}
    return {new.metadata.name: replicas_of(deployment)}
