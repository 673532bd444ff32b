"""From client-side to server-side apply: the annotation in which kubectl keeps what it applied last.

Only the manager `kubectl` is concerned. What the annotation says, and the object still has, kubectl may take over from
the manager that wrote it, which was kubectl itself under another name. As long as there is such an annotation, it is
kept up to date, so that client-side apply finds its way back.
"""

import msgspec

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.managedfields.apply_configuration import misfit
from windvane.cluster.apiserver.managedfields.comparison import compare
from windvane.cluster.apiserver.managedfields.field_set import FOR_HTML, FieldSet, difference
from windvane.cluster.apiserver.managedfields.shape import Shape
from windvane.cluster.apiserver.managedfields.typed_value import stated_fields

KUBECTL = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
LARGEST = 256 * 1024


def applied_before(shape: Shape, live: Wire, api_version: str) -> FieldSet:
    """The fields that are still as kubectl applied them on the client's side; none if it didn't, or can't be read."""
    text = _annotations(live).get(ANNOTATION)
    if not text:
        return {}
    try:
        before = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    if not isinstance(before, dict) or before.get("apiVersion") != api_version or misfit(shape, before):
        return {}
    changes = compare(shape, before, live)
    same = stated_fields(shape, before)
    for lost in (changes.modified, changes.added, changes.removed):
        same = difference(same, lost)
    return same


def remember(wire: Wire, config: Wire) -> None:
    """Write what is applied now into the annotation, if there is one."""
    annotations = _annotations(wire)
    if not annotations.get(ANNOTATION):
        return
    metadata = dict(config.get("metadata") or {})
    if metadata.get("annotations") is not None:
        metadata["annotations"] = {name: each for name, each in metadata["annotations"].items() if name != ANNOTATION}
    text = msgspec.json.encode({**config, "metadata": metadata}, order="sorted").decode().translate(FOR_HTML) + "\n"
    annotations = {**annotations, ANNOTATION: text}
    if sum(len(name.encode()) + len(each.encode()) for name, each in annotations.items()) > LARGEST:
        del annotations[ANNOTATION]
    wire["metadata"] = {**wire["metadata"], "annotations": annotations}


def _annotations(wire: Wire) -> dict[str, str]:
    return (wire.get("metadata") or {}).get("annotations") or {}
