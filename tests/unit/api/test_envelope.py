"""Objects that are kept as they arrived, and what is known of them without decoding."""

from windvane.api.envelope import Item
from windvane.api.meta import OwnerReference
from windvane.k8s.core import ConfigMap

RAW = b"""{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b", "uid": "c",
  "resourceVersion": "7", "labels": {"d": "e"}, "annotations": {"f": "g"}, "finalizers": ["h"],
  "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "i", "uid": "j"}]}, "data": {"k": "l"}}"""


def test_a_bare_item_knows_what_it_is_and_whose() -> None:
    bare = Item(RAW, ConfigMap).bare()
    owner = OwnerReference(api_version="v1", kind="ConfigMap", name="i", uid="j")
    assert (bare.key, bare.kind, bare.meta.uid, bare.meta.resource_version) == (("b", "a"), "ConfigMap", "c", "7")
    assert (bare.meta.finalizers, bare.meta.owner_references) == (["h"], [owner])


def test_a_bare_item_keeps_nothing_else() -> None:
    bare = Item(RAW, ConfigMap).bare()
    assert (bare.raw, bare.meta.labels, bare.meta.annotations) == (b"", None, None)
