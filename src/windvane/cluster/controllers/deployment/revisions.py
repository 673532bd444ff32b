"""The revisions of a Deployment: which ReplicaSet is the current one, and how all are numbered, kept and dropped.

A ReplicaSet is the current one if its template is the Deployment's, but for the hash among the labels. So a user who
goes back to an earlier template gets the ReplicaSet that has it, which then gets the highest number.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from windvane import LabelSelector, ObjectMeta, owner_reference
from windvane.cluster.controllers.deployment.rollout import (
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    by_age,
    limits_of,
    new_size,
    replicas_of,
)
from windvane.cluster.controllers.workloads.pod_template import LONGEST_NAME, template_hash
from windvane.k8s.apps import Deployment, ReplicaSet, ReplicaSetSpec
from windvane.k8s.core import PodTemplateSpec

POD_TEMPLATE_HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
REVISION_HISTORY = "deployment.kubernetes.io/revision-history"
NOT_COPIED = (
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    REVISION_HISTORY,
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    "deprecated.deployment.rollback.to",
)
LONGEST_HISTORY = 2000
"""How many characters the numbers that a ReplicaSet had before may take."""
UNLIMITED = 2**31 - 1


def current(deployment: Deployment, sets: Iterable[ReplicaSet]) -> ReplicaSet | None:
    """The ReplicaSet that has the Deployment's template; of several, the oldest, so that the choice stays the same."""
    return next((each for each in by_age(sets) if has_template(each, deployment.spec.template)), None)


def has_template(rs: ReplicaSet, template: PodTemplateSpec) -> bool:
    """Whether a ReplicaSet makes the same pods as a template, but for the hash."""
    return rs.spec.template is not None and _without_hash(rs.spec.template) == _without_hash(template)


def _without_hash(template: PodTemplateSpec) -> PodTemplateSpec:
    metadata = template.metadata or ObjectMeta()
    labels = {key: value for key, value in metadata.labels.items() if key != POD_TEMPLATE_HASH}
    return PodTemplateSpec(metadata=msgspec.structs.replace(metadata, labels=labels), spec=template.spec)


def revision(rs: ReplicaSet) -> int:
    """Its number; 0 if it has none."""
    text = rs.metadata.annotations.get(REVISION, "")
    return int(text) if text.isascii() and text.isdigit() else 0


def next_revision(old: Iterable[ReplicaSet]) -> int:
    """The number of the current ReplicaSet, given all the others."""
    return max(map(revision, old), default=0) + 1


def new_replicaset(deployment: Deployment, old: Sequence[ReplicaSet]) -> ReplicaSet:
    """The ReplicaSet for a template that none has yet, as large as it may be at first."""
    template, selector = deployment.spec.template, deployment.spec.selector
    word = template_hash(template, deployment.status.collision_count)
    metadata = template.metadata or ObjectMeta()
    labels = metadata.labels | {POD_TEMPLATE_HASH: word}
    name = deployment.metadata.name[: LONGEST_NAME - 1 - len(word)]
    return ReplicaSet(
        metadata=ObjectMeta(
            name=f"{name}-{word}",
            namespace=deployment.metadata.namespace,
            labels=labels,
            annotations=_copied(deployment) | {REVISION: str(next_revision(old))} | size_annotations(deployment),
            owner_references=[owner_reference(deployment)],
        ),
        spec=ReplicaSetSpec(
            replicas=new_size(deployment, 0, old),
            min_ready_seconds=deployment.spec.min_ready_seconds,
            selector=LabelSelector(
                match_labels=selector.match_labels | {POD_TEMPLATE_HASH: word},
                match_expressions=selector.match_expressions,
            ),
            template=PodTemplateSpec(metadata=msgspec.structs.replace(metadata, labels=labels), spec=template.spec),
        ),
    )


def size_annotations(deployment: Deployment) -> dict[str, str]:
    """What a ReplicaSet remembers of the Deployment's size: it tells later that it was scaled, and by how much."""
    desired = replicas_of(deployment)
    return {DESIRED_REPLICAS: str(desired), MAX_REPLICAS: str(desired + limits_of(deployment).surge)}


def missing_annotations(deployment: Deployment, rs: ReplicaSet, old: Sequence[ReplicaSet]) -> dict[str, str]:
    """What the current ReplicaSet's annotations lack: the Deployment's own, and the highest number."""
    there = rs.metadata.annotations
    wanted = _copied(deployment)
    if (number := next_revision(old)) > revision(rs):
        wanted[REVISION] = str(number)
        if REVISION in there:
            wanted[REVISION_HISTORY] = _history(there)
    return {key: value for key, value in wanted.items() if there.get(key) != value}


def _copied(deployment: Deployment) -> dict[str, str]:
    return {key: value for key, value in deployment.metadata.annotations.items() if key not in NOT_COPIED}


def _history(annotations: Mapping[str, str]) -> str:
    """The numbers that a ReplicaSet had, its last one included; as many of the latest as fit."""
    numbers = [each for each in annotations.get(REVISION_HISTORY, "").split(",") if each] + [annotations[REVISION]]
    while len(",".join(numbers)) > LONGEST_HISTORY:
        del numbers[0]
    return ",".join(numbers)


def to_drop(deployment: Deployment, old: Iterable[ReplicaSet]) -> list[ReplicaSet]:
    """The old ReplicaSets that revisionHistoryLimit has no room for, and that surely have no pods."""
    limit = deployment.spec.revision_history_limit
    if limit is None or limit == UNLIMITED:
        return []
    kept = [each for each in old if each.metadata.deletion_timestamp is None]
    surplus = sorted(by_age(kept), key=revision)[: max(0, len(kept) - limit)]
    return [each for each in surplus if _is_empty(each)]


def _is_empty(rs: ReplicaSet) -> bool:
    seen = (rs.status.observed_generation or 0) >= rs.metadata.generation
    return seen and replicas_of(rs) == 0 and rs.status.replicas == 0
