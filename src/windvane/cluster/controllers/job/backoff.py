"""How long a Job waits after failures: ten seconds after the first, twice that after the next, up to ten minutes."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from windvane.k8s.core import Pod

FIRST = timedelta(seconds=10)
LONGEST = timedelta(minutes=10)


class JobBackoff(NamedTuple):
    """How many pods have failed since one succeeded, and when the last of them did."""

    failures: int = 0
    last: datetime | None = None

    def after(self, succeeded: Sequence[Pod], failed: Sequence[Pod]) -> "JobBackoff":
        """The same after these pods have finished, too. A success makes up for all failures before it."""
        since = max(map(finished_at, succeeded), default=None)
        times = sorted(time for time in map(finished_at, failed) if since is None or time > since)
        before = self if since is None else JobBackoff()
        return JobBackoff(before.failures + len(times), times[-1]) if times else before

    def remaining(self, now: datetime) -> float:
        """In how many seconds the next pod may be made; 0 if now."""
        if not self.failures or self.last is None:
            return 0.0
        # Past ten doublings the longest has long been reached; and numbers must not grow without end.
        delay = min(FIRST * (1 << min(self.failures - 1, 10)), LONGEST)
        return max((self.last + delay - now).total_seconds(), 0.0)


def finished_at(pod: Pod) -> datetime:
    """When a pod finished, as well as can be told: by its containers, its readiness, its deletion, its creation."""
    if ended := _containers_ended_at(pod):
        return ended
    for condition in pod.status.conditions:
        if condition.type == "Ready" and condition.status == "False" and condition.last_transition_time:
            return condition.last_transition_time
    if pod.metadata.deletion_timestamp is not None:
        return pod.metadata.deletion_timestamp - timedelta(seconds=pod.metadata.deletion_grace_period_seconds or 0)
    if pod.metadata.creation_timestamp is None:
        raise ValueError(f"Pod {pod.metadata.name} has no metadata.creationTimestamp; the server sets one")
    return pod.metadata.creation_timestamp


def _containers_ended_at(pod: Pod) -> datetime | None:
    """When the last container ended; None unless all have. Sidecars end after the others, and count."""
    sidecars = {each.name for each in pod.spec.init_containers if each.restart_policy == "Always"}
    statuses = [
        *pod.status.container_statuses,
        *(each for each in pod.status.init_container_statuses if each.name in sidecars),
    ]
    ended = [each.state.terminated.finished_at if each.state and each.state.terminated else None for each in statuses]
    times = [each for each in ended if each is not None]
    return max(times) if times and len(times) == len(ended) else None
