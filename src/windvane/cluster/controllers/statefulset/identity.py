"""The identity of a pod of a StatefulSet: its ordinal makes its name, its host name and the names of its claims.

A pod that is made anew is the same one to the others: it has the name, the address and the data of the one before.
"""

import re
from collections.abc import Sequence

import msgspec

from windvane.cluster.controllers.workloads.controller_revisions import REVISION_HASH
from windvane.cluster.controllers.workloads.pod_template import pod_from
from windvane.k8s.apps import StatefulSet
from windvane.k8s.core import (
    PersistentVolumeClaim,
    PersistentVolumeClaimVolumeSource,
    Pod,
    PodTemplateSpec,
    Volume,
)

POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"

_ORDINAL = re.compile(r"0|[1-9][0-9]{0,9}")


def ordinals(stateful: StatefulSet) -> range:
    """The ordinals that there should be pods for."""
    start = (stateful.spec.ordinals.start or 0) if stateful.spec.ordinals else 0
    return range(start, start + (1 if stateful.spec.replicas is None else stateful.spec.replicas))


def ordinal_in(name: str, stateful: StatefulSet) -> int | None:
    """The ordinal in the name of one of its pods; None if it is no such name."""
    digits = name.removeprefix(f"{stateful.metadata.name}-")
    return int(digits) if digits != name and _ORDINAL.fullmatch(digits) else None


def pod_name(stateful: StatefulSet, ordinal: int) -> str:
    """What the pod of an ordinal is called."""
    return f"{stateful.metadata.name}-{ordinal}"


def stateful_pod(stateful: StatefulSet, ordinal: int, template: PodTemplateSpec, revision: str) -> Pod:
    """The pod of an ordinal, made from the template of a revision."""
    name = pod_name(stateful, ordinal)
    pod = pod_from(template, stateful)
    pod.metadata.name = name
    pod.metadata.labels |= identity(stateful, ordinal) | {REVISION_HASH: revision}
    pod.spec = msgspec.structs.replace(
        pod.spec,
        hostname=name,
        subdomain=stateful.spec.service_name,
        volumes=volumes(stateful, ordinal, pod.spec.volumes),
    )
    return pod


def identity(stateful: StatefulSet, ordinal: int) -> dict[str, str]:
    """The labels that say which pod it is."""
    return {POD_NAME: pod_name(stateful, ordinal), POD_INDEX: str(ordinal)}


def claims(stateful: StatefulSet, ordinal: int) -> list[PersistentVolumeClaim]:
    """The claims of an ordinal, as they are made. They can be found by the labels that its pods are."""
    return [
        msgspec.structs.replace(
            template,
            metadata=msgspec.structs.replace(
                template.metadata,
                name=claim_name(stateful, template, ordinal),
                namespace=stateful.metadata.namespace,
                labels={**template.metadata.labels, **stateful.spec.selector.match_labels},
            ),
        )
        for template in stateful.spec.volume_claim_templates
    ]


def claim_name(stateful: StatefulSet, template: PersistentVolumeClaim, ordinal: int) -> str:
    """What the claim of an ordinal from a template is called."""
    return f"{template.metadata.name}-{pod_name(stateful, ordinal)}"


def is_claim_of(claim: PersistentVolumeClaim, stateful: StatefulSet) -> bool:
    """Whether a claim is one that its pods have."""
    name = claim.metadata.name
    prefixes = (f"{each.metadata.name}-" for each in stateful.spec.volume_claim_templates)
    return any(name.startswith(each) and ordinal_in(name.removeprefix(each), stateful) is not None for each in prefixes)


def volumes(stateful: StatefulSet, ordinal: int, stated: Sequence[Volume]) -> list[Volume]:
    """The volumes of a pod: those of its claims, which come before what the template calls the same, and the others."""
    mine = {
        each.metadata.name: Volume(
            name=each.metadata.name,
            persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=claim_name(stateful, each, ordinal)),
        )
        for each in stateful.spec.volume_claim_templates
    }
    return [*mine.values(), *(each for each in stated if each.name not in mine)]


def revision_of(pod: Pod) -> str:
    """The name of the revision that a pod was made from."""
    return pod.metadata.labels.get(REVISION_HASH, "")


def has_identity(pod: Pod) -> bool:
    """Whether it is labelled with its own name."""
    return pod.metadata.labels.get(POD_NAME) == pod.metadata.name


def has_storage(pod: Pod, stateful: StatefulSet, ordinal: int) -> bool:
    """Whether it has a volume for each of its claims."""
    claimed = {each.name: each.persistent_volume_claim for each in pod.spec.volumes}
    return all(
        (source := claimed.get(each.metadata.name)) is not None
        and source.claim_name == claim_name(stateful, each, ordinal)
        for each in stateful.spec.volume_claim_templates
    )
