"""Pods made from a template, and the short hash by which the pods of different templates are told apart."""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from windvane import Object, ObjectMeta, ambient, owner_reference, to_wire
from windvane.k8s.core import Pod, PodTemplateSpec

LONGEST_NAME = 253
HASH_LENGTH = 10


def pod_from(template: PodTemplateSpec, owner: Object) -> Pod:
    """A pod as the template says, controlled by `owner`; the server completes its name."""
    mine = template.metadata or ObjectMeta()
    name = owner.metadata.name
    return Pod(
        metadata=ObjectMeta(
            generate_name=f"{name}-" if len(name) < LONGEST_NAME else name,
            namespace=owner.metadata.namespace,
            labels=dict(mine.labels),
            annotations=dict(mine.annotations),
            finalizers=list(mine.finalizers),
            owner_references=[owner_reference(owner)],
        ),
        spec=template.spec,
    )


def template_hash(template: PodTemplateSpec, collision_count: int | None = None) -> str:
    """A short word for what a template says: the same for the same template, in every version of windvane.

    It is not the word that Kubernetes' own controllers would choose. Where two templates have the same one, the
    collision count makes another.
    """
    return short_hash(to_wire(template), collision_count)


def short_hash(content: Mapping[str, Any], collision_count: int | None = None) -> str:
    """A short word for any JSON value, of letters and digits that make no words."""
    said = msgspec.json.encode(in_order(content)) + (b"" if collision_count is None else b"#%d" % collision_count)
    number = int.from_bytes(hashlib.sha256(said).digest()[:8], "big")
    letters = []
    for _ in range(HASH_LENGTH):
        number, digit = divmod(number, len(ambient.SAFE_ALPHABET))
        letters.append(ambient.SAFE_ALPHABET[digit])
    return "".join(letters)


def in_order(value: Any) -> Any:
    """The same JSON value with the keys of all objects in order, so that bytes can be compared."""
    if isinstance(value, Mapping):
        return {key: in_order(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [in_order(each) for each in value]
    return value
