"""What each column of a built-in kind is about: the field whose documentation the real server shows as its description.

Columns that are not here are described in sentences of the real server's own, and have no description in ours.
"""

from collections.abc import Mapping

from windvane.cluster.apiserver.documentation import field_description

METADATA: Mapping[str, str] = {
    "Name": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.name",
    "Age": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.creationTimestamp",
    "Created At": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.creationTimestamp",
}


def describe(fields: Mapping[str, str], column: str) -> str:
    """The description of a built-in kind's column; empty if there is none. In `fields`, `io.k8s.api.` is left out."""
    if (field := fields.get(column)) is not None:
        return field_description(f"io.k8s.api.{field}")
    return field_description(METADATA[column]) if column in METADATA else ""
