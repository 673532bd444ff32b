"""The custom kinds that tests use.

Gadget has a schema and subresources, PlainThing and OpenThing have none, Ownable has every sort of list and map.
"""

import asyncio
from typing import Any

from conformance.requests import SECONDS, Raw
from conformance.servers import Server
from windvane import ambient

GROUP = "conformance.windvane.dev"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def definition(plural: str, kind: str, schema: dict[str, Any], **version: Any) -> dict[str, Any]:
    """A CRD with one version, v1."""
    first = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [first],
        },
    }


GADGET_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 10, "description": "How large it is."},
                "color": {"type": "string", "enum": ["red", "green"], "default": "red"},
                "code": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3, "x-kubernetes-list-type": "set"},
                "ports": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}, "port": {"type": "integer", "default": 80}},
                    },
                },
                "note": {"type": "string", "nullable": True},
                "when": {"type": "string", "format": "date-time"},
                "target": {"x-kubernetes-int-or-string": True},
                "ratio": {"type": "number", "multipleOf": 0.5},
                "extra": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "settings": {"type": "object", "additionalProperties": {"type": "string"}},
                "replicas": {"type": "integer", "format": "int32"},
                "limits": {"type": "object", "default": {}, "properties": {"cpu": {"type": "string", "default": "1"}}},
            },
        },
        "status": {
            "type": "object",
            "properties": {
                "phase": {"type": "string"},
                "replicas": {"type": "integer"},
                "selector": {"type": "string"},
            },
        },
    },
}
GADGET = definition(
    "gadgets",
    "Gadget",
    GADGET_SCHEMA,
    subresources={
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        },
    },
    additionalPrinterColumns=[
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "description": "How large it is."},
        {"name": "Color", "type": "string", "jsonPath": ".spec.color"},
        {"name": "Code", "type": "string", "jsonPath": ".spec.code", "priority": 1},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ],
    selectableFields=[{"jsonPath": ".spec.color"}],
)
GADGET["spec"]["names"] |= {"shortNames": ["gd"], "categories": ["toys"]}
GADGET["spec"]["versions"].append(
    {
        "name": "v1beta1",
        "served": True,
        "storage": False,
        "deprecated": True,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
)
PLAIN_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
PLAIN = definition("plainthings", "PlainThing", PLAIN_SCHEMA)
OPEN = definition("openthings", "OpenThing", {"type": "object", "x-kubernetes-preserve-unknown-fields": True})


def _map_list(properties: dict[str, Any], *keys: str) -> dict[str, Any]:
    items = {"type": "object", "required": list(keys), "properties": properties}
    return {
        "type": "array",
        "items": items,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": list(keys),
    }


TEXTS = {"type": "array", "items": {"type": "string"}}
TEXT_MAP = {"type": "object", "additionalProperties": {"type": "string"}}
OWNABLE = definition(
    "ownables",
    "Ownable",
    {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "size": {"type": "integer", "maximum": 10},
                    "filled": {"type": "string", "default": "by default"},
                    "listed": TEXTS,
                    "set": {**TEXTS, "x-kubernetes-list-type": "set"},
                    "numbers": {"type": "array", "items": {"type": "integer"}, "x-kubernetes-list-type": "set"},
                    "items": _map_list(
                        {"name": {"type": "string"}, "port": {"type": "integer"}, "note": {"type": "string"}}, "name"
                    ),
                    "pairs": _map_list(
                        {"a": {"type": "string"}, "b": {"type": "integer"}, "note": {"type": "string"}}, "a", "b"
                    ),
                    "labels": TEXT_MAP,
                    "whole": {**TEXT_MAP, "x-kubernetes-map-type": "atomic"},
                    "nested": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
                    "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            },
            "status": {
                "type": "object",
                "properties": {
                    "phase": {"type": "string"},
                    "conditions": _map_list({"type": {"type": "string"}, "status": {"type": "string"}}, "type"),
                },
            },
        },
    },
    subresources={"status": {}},
)
# In a group of its own: tests list what is in the other.
OWNERSHIP = "ownership.windvane.dev"
OWNABLE["metadata"]["name"], OWNABLE["spec"]["group"] = f"ownables.{OWNERSHIP}", OWNERSHIP
OWNABLE["spec"]["versions"].append({**OWNABLE["spec"]["versions"][0], "name": "v2", "storage": False})
KINDS = (GADGET, PLAIN, OPEN, OWNABLE)


def gadget(name: str = "g", /, **spec: Any) -> dict[str, Any]:
    return custom("Gadget", name, spec={"size": 1, **spec})


def plain(name: str = "t", /, **rest: Any) -> dict[str, Any]:
    return custom("PlainThing", name, **rest)


def custom(kind: str, name: str, /, **rest: Any) -> dict[str, Any]:
    """A custom object. Its kind and version must be said: nothing else tells the server how to read it."""
    metadata = {"name": name, **rest.pop("metadata", {})}
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": metadata, **rest}


async def serve_all(server: Server) -> None:
    """Serve all of these, and wait until kubectl finds and explains them."""
    async with Raw(server.url, server.ca_file, server.token) as raw:
        for crd in KINDS:
            await serve(raw, crd)
        for crd in KINDS:
            await until_discovered(raw, crd)
            await until_described(raw, crd)


async def serve(raw: Raw, crd: dict[str, Any]) -> None:
    """Create a CRD and return when it is established, and its objects can be listed in every version that is served."""
    await raw.ok(f"POST {CRDS}", crd)
    # A real server may list objects before it says so, and until then it takes changes that it refuses later.
    async with asyncio.timeout(SECONDS):
        while not _is_established(await raw.ok(f"GET {CRDS}/{crd['metadata']['name']}")):
            await ambient.sleep(0.02)
    await until_listed(raw, crd)


def _is_established(crd: dict[str, Any]) -> bool:
    conditions = crd.get("status", {}).get("conditions") or ()
    return ("Established", "True") in [(each["type"], each["status"]) for each in conditions]


async def until_listed(raw: Raw, crd: dict[str, Any]) -> None:
    """Wait until the objects of a CRD can be listed in every version that is served."""
    spec = crd["spec"]
    for version in spec["versions"]:
        place = f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}"
        # Established says that the server will serve it, not that it already does.
        async with asyncio.timeout(SECONDS):
            while version["served"] and (await raw(f"GET {place}")).code != 200:
                pass


async def until_discovered(raw: Raw, crd: dict[str, Any]) -> None:
    """Wait until the document of all groups has a CRD's kind: the real server may serve objects before."""
    spec = crd["spec"]
    wanted = {(spec["group"], each["name"], spec["names"]["plural"]) for each in spec["versions"] if each["served"]}
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    async with asyncio.timeout(SECONDS):
        while not wanted <= _discovered(await raw.ok("GET /apis", accept=accept)):
            pass


async def until_described(raw: Raw, crd: dict[str, Any]) -> None:
    """Wait until OpenAPI has a CRD's kind, which `kubectl explain` reads: in the real server that takes a second."""
    spec = crd["spec"]
    path = f"/{spec['names']['plural']}/{{name}}"
    for version in spec["versions"]:
        document = f"GET /openapi/v3/apis/{spec['group']}/{version['name']}"
        async with asyncio.timeout(SECONDS):
            while version["served"] and path not in (await raw(document)).body.decode():
                await ambient.sleep(0.02)


def _discovered(document: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {
        (group["metadata"]["name"], version["version"], each["resource"])
        for group in document["items"]
        for version in group["versions"]
        for each in version.get("resources") or ()
    }
