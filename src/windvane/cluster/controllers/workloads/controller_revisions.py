"""ControllerRevisions: every template that a DaemonSet or StatefulSet had, numbered, so that one can go back to it.

What is kept is the patch that would bring a template back, which is what `kubectl rollout undo` sends.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from windvane import AlreadyExists, Context, ObjectMeta, Selector, owner_reference, to_wire
from windvane.cluster.controllers.workloads.controller_refs import (
    ORPHAN,
    is_controlled_by,
    revisions_by_controller,
    settle_claims,
)
from windvane.cluster.controllers.workloads.pod_template import LONGEST_NAME, in_order, template_hash
from windvane.k8s.apps import ControllerRevision, DaemonSet, StatefulSet
from windvane.k8s.core import PodTemplateSpec

Revised: TypeAlias = DaemonSet | StatefulSet

REVISION_HASH = "controller-revision-hash"
"""The label of a pod that says which revision it was made from."""


class RevisionHistory(NamedTuple):
    """The revision of the template as it is, and all others."""

    current: ControllerRevision
    old: list[ControllerRevision]


def template_patch(template: PodTemplateSpec) -> dict[str, Any]:
    """The strategic merge patch that brings a template back, byte for byte as Kubernetes' own controllers write it."""
    patch: dict[str, Any] = in_order({"spec": {"template": to_wire(template) | {"$patch": "replace"}}})
    return patch


def new_revision(owner: Revised, number: int, hash_label: str) -> ControllerRevision:
    """A revision of the template as it is; its hash is in its name and in that label."""
    template = owner.spec.template
    word = template_hash(template, owner.status.collision_count)
    labels = template.metadata.labels if template.metadata else {}
    return ControllerRevision(
        metadata=ObjectMeta(
            name=f"{owner.metadata.name[: LONGEST_NAME - 1 - len(word)]}-{word}",
            namespace=owner.metadata.namespace,
            labels=labels | {hash_label: word},
            annotations=dict(owner.metadata.annotations),
            owner_references=[owner_reference(owner)],
        ),
        data=template_patch(template),
        revision=number,
    )


def next_number(old: Iterable[ControllerRevision]) -> int:
    """The number of the current revision, given all others."""
    return max((each.revision for each in old), default=0) + 1


def split(
    template: PodTemplateSpec, revisions: Iterable[ControllerRevision]
) -> tuple[ControllerRevision | None, list[ControllerRevision]]:
    """The revision of that template, of several the latest, and all others."""
    in_order = sorted(revisions, key=lambda each: each.revision)
    patch = template_patch(template)
    current = next((each for each in reversed(in_order) if each.data == patch), None)
    return current, [each for each in in_order if each is not current]


def to_drop(old: Sequence[ControllerRevision], limit: int | None, live: Collection[str]) -> list[ControllerRevision]:
    """The earliest revisions beyond revisionHistoryLimit, but for those that pods are made from, named in `live`."""
    if limit is None:
        return []
    dead = [each for each in sorted(old, key=lambda each: each.revision) if each.metadata.name not in live]
    return dead[: max(0, len(old) - limit)]


async def keep_history(owner: Revised, selector: Selector, ctx: Context, *, hash_label: str) -> RevisionHistory | None:
    """Have a revision of the template as it is, with the highest number.

    None if its name is taken by that of another template: then the collision count was raised, and another pass is
    due, which has another hash.
    """
    around = ctx.find(revisions_by_controller, owner.metadata.uid) + ctx.find(revisions_by_controller, ORPHAN)
    current, old = split(owner.spec.template, await settle_claims(owner, selector, around, ctx))
    number = next_number(old)
    if current is None:
        current = await _create(owner, new_revision(owner, number, hash_label), ctx)
    elif current.revision < number:
        patch = {"revision": number}
        current = await ctx.client.patch(ControllerRevision, current.metadata.name, patch)
    return RevisionHistory(current, old) if current else None


async def _create(owner: Revised, wanted: ControllerRevision, ctx: Context) -> ControllerRevision | None:
    try:
        return await ctx.client.create(wanted)
    except AlreadyExists:
        there = await ctx.client.get(ControllerRevision, wanted.metadata.name)
    if there.data == wanted.data and is_controlled_by(there, owner):
        return there
    owner.status.collision_count = (owner.status.collision_count or 0) + 1
    return None
