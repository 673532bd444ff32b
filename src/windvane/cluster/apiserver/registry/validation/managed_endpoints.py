"""Which Endpoints and EndpointSlices a controller manages: of those, the server warns nobody."""

from windvane.api.json_value import Wire

MANAGED = {
    "Endpoints": ("endpoints.kubernetes.io/managed-by", ("endpoint-controller",)),
    "EndpointSlice": (
        "endpointslice.kubernetes.io/managed-by",
        ("endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"),
    ),
}


def is_managed(kind: str, obj: Wire) -> bool:
    label, controllers = MANAGED[kind]
    return (obj["metadata"].get("labels") or {}).get(label) in controllers
