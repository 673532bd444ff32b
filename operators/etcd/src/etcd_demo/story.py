"""What to tell when an object has changed: what a person would want to know, and nothing twice. No I/O."""

from collections.abc import Iterator

from etcd_operator.api import EtcdCluster, Member
from windvane import Condition, find_condition
from windvane.k8s import events

OURS = ("EtcdCluster", "EtcdBackup")
TOLD = ("Available", "BackupReady", "Progressing", "Degraded", "Ready")
TOO_SOON = ": unhealthy cluster"
"""What etcd says then, of a cluster in which nothing is wrong."""
OBVIOUS = {
    "Available": ("Starting",),  # its first member is told of
    "BackupReady": ("NoSchedule", "Pending"),  # so it was asked for
    "Degraded": ("MemberUnhealthy", "AllHealthy", "NoLeader"),  # so are all others
}
"""Reasons of conditions that say what other lines have said."""


def of_cluster(before: EtcdCluster | None, after: EtcdCluster) -> Iterator[str]:
    """What has changed of a cluster."""
    was = {each.name: each for each in before.status.members} if before else {}
    for member in after.status.members:
        yield from _of_member(was.pop(member.name, None), member)
    for name in was:
        yield f"{name} is gone"
    for kind in TOLD:
        yield from _of_condition(
            find_condition(before.status.conditions, kind) if before else None,
            find_condition(after.status.conditions, kind),
        )


def _of_member(was: Member | None, member: Member) -> Iterator[str]:
    if was is not None and was.id and was.id != member.id and member.id:
        yield f"{member.name} has another identity: {was.id} has left, {member.id} has come"
        was = None
    if not member.healthy:
        if was is None or was.healthy:
            yield f"{member.name} {'is not well' if was else 'is coming'}: {member.message or 'it is starting'}"
    elif was is None or not was.healthy:
        yield f"{member.name} is healthy: {member.role.lower()}, etcd {member.version}, id {member.id}"
    elif was.role != member.role:
        yield f"{member.name} leads" if member.role == "Leader" else f"{member.name} is a {member.role.lower()} now"
    elif was.version != member.version:
        yield f"{member.name} runs etcd {member.version}"


def _of_condition(before: Condition | None, after: Condition | None) -> Iterator[str]:
    if after is None or (before and (before.status, before.reason) == (after.status, after.reason)):
        return
    if after.reason in OBVIOUS.get(after.type, ()):
        return
    if after.type == "Ready":
        if after.status == "True":
            yield "everything is as asked for"
    elif after.type == "Progressing":
        if after.reason in ("Deferred", "Paused"):  # what it does is told in Events
            yield f"{after.reason.lower()}: {after.message}"
        elif TOO_SOON in after.message:
            yield "etcd takes no other member until the last one has been connected for five seconds"
    else:
        yield f"{after.type} is {after.status} ({after.reason}): {after.message}"


def of_event(event: events.Event) -> Iterator[tuple[str, str]]:
    """What an Event tells, and of what."""
    about = event.regarding
    if about is None:
        return
    if about.kind in OURS:
        yield about.name or "", f"{event.reason}: {event.note}"
    elif about.kind == "Service" and event.reason == "NotReachable":
        yield about.name or "", f"{event.note}"
