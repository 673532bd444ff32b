"""Server-side apply and managedFields: who owns which field, what becomes of it, and who is told that it is taken."""

import asyncio
import json
from typing import Any

import pytest

from conformance.crds import definition, serve
from conformance.objects import Thing, config_map, deployment, pod, service
from conformance.ownership import RESET, Owned, Story, applied_thing, conflicts, each, misfit, owners, send
from conformance.requests import Raw, Refused
from conformance.servers import Server
from windvane import Client, Conflict, ObjectMeta
from windvane.k8s.core import ConfigMap

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
GROUP = "ownership.windvane.dev"
V2 = f"/apis/{GROUP}/v2/namespaces/{{ns}}/ownables/o"

ITEM = {"name": {"type": "string"}, "port": {"type": "integer"}, "note": {"type": "string"}}
PAIR = {"a": {"type": "string"}, "b": {"type": "integer"}, "note": {"type": "string"}}
TEXTS = {"type": "array", "items": {"type": "string"}}
TEXT_MAP = {"type": "object", "additionalProperties": {"type": "string"}}


def map_list(properties: Thing, *keys: str) -> Thing:
    items = {"type": "object", "required": list(keys), "properties": properties}
    return {
        "type": "array",
        "items": items,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": list(keys),
    }


CONDITION = {"type": {"type": "string"}, "status": {"type": "string"}}
OWNABLE_SCHEMA = {
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
                "items": map_list(ITEM, "name"),
                "pairs": map_list(PAIR, "a", "b"),
                "labels": TEXT_MAP,
                "whole": {**TEXT_MAP, "x-kubernetes-map-type": "atomic"},
                "nested": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
                "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        },
        "status": {
            "type": "object",
            "properties": {"phase": {"type": "string"}, "conditions": map_list(CONDITION, "type")},
        },
    },
}
OWNABLE = definition("ownables", "Ownable", OWNABLE_SCHEMA, subresources={"status": {}})
# In a group of its own: other tests list what is in theirs.
OWNABLE["metadata"]["name"], OWNABLE["spec"]["group"] = f"ownables.{GROUP}", GROUP
OWNABLE["spec"]["versions"].append({**OWNABLE["spec"]["versions"][0], "name": "v2", "storage": False})


@pytest.fixture(scope="session")
def ownables(server: Server) -> None:
    """A custom kind with every sort of list and map is served, in two versions."""

    async def serve_it() -> None:
        async with Raw(server.url, server.ca_file, server.token) as raw:
            await serve(raw, OWNABLE)

    asyncio.run(serve_it())


def applied(**data: str) -> Thing:
    return applied_thing("ConfigMap", **({"data": data} if data else {}))


def labelled(labels: Thing, annotations: Thing) -> Thing:
    return applied_thing("ConfigMap", metadata={"labels": labels, "annotations": annotations})


def owner(uid: str) -> Thing:
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": uid}


def entry(manager: str) -> Thing:
    fields: Thing = {"f:data": {".": {}, "f:k": {}}}
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2020-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }


def remembered(data: Thing, before: Thing) -> Thing:
    """A ConfigMap as client-side apply makes it."""
    config = json.dumps(applied(**before))
    return config_map(data=data, metadata={"annotations": {LAST_APPLIED: config}})


def ownable(*, version: str = "v1", **spec: Any) -> Thing:
    return {"apiVersion": f"{GROUP}/{version}", "kind": "Ownable", "metadata": {"name": "o"}, "spec": spec}


def ownable_status(metadata: Thing | None = None, /, **status: Any) -> Thing:
    named = {"name": "o", **(metadata or {})}
    return {"apiVersion": f"{GROUP}/v1", "kind": "Ownable", "metadata": named, "status": status}


def condition(type_: str) -> Thing:
    return {"type": type_, "status": "True"}


# One kind, its data in a map: the simplest there is
CONFIG_MAPS = [
    Story("what is applied is made and owned", [("apply one configmaps/a", applied(k="v"))],
          Owned({"data": {"k": "v"}}, {"one Apply v1": ".data.k"})),
    Story("what two managers want alike belongs to both", [("apply one configmaps/a", applied(k="v")),
          ("apply two configmaps/a", applied(k="v"))], Owned({"data": {"k": "v"}}, {"two Apply v1": ".data.k",
          "one Apply v1": ".data.k"})),
    Story("another value is a conflict", [("apply one configmaps/a", applied(k="v")), ("apply two configmaps/a",
          applied(k="w"))], conflicts(('"one"', ".data.k"))),
    Story("conflicts over two fields are listed", [("apply one configmaps/a", applied(k="v", l="v")),
          ("apply two configmaps/a", applied(k="w", l="w"))], conflicts(('"one"', ".data.k .data.l"))),
    Story("conflicts with two managers are listed by manager", [("apply two configmaps/a", applied(k="v")),
          ("apply one configmaps/a", applied(k="v")), ("apply three configmaps/a", applied(k="w"))],
          conflicts(('"one"', ".data.k"), ('"two"', ".data.k"))),
    Story("force takes a field from its owner", [("apply one configmaps/a", applied(k="v", l="v")),
          ("force two configmaps/a", applied(k="w"))], Owned({"data": {"k": "w", "l": "v"}},
          {"one Apply v1": ".data.l", "two Apply v1": ".data.k"})),
    Story("force takes a field from all its owners", [("apply one configmaps/a", applied(k="v")),
          ("apply two configmaps/a", applied(k="v")), ("force three configmaps/a", applied(k="w"))],
          Owned({"data": {"k": "w"}}, {"three Apply v1": ".data.k"})),
    Story("a field that its only owner no longer states is removed", [("apply one configmaps/a", applied(k="v",
          l="v")), ("apply one configmaps/a", applied(k="v"))], Owned({"data": {"k": "v"}},
          {"one Apply v1": ".data.k"})),
    Story("a field that another owner states stays with that one", [("apply one configmaps/a", applied(k="v", l="v")),
          ("apply two configmaps/a", applied(k="v")), ("apply one configmaps/a", applied(l="v"))],
          Owned({"data": {"k": "v", "l": "v"}}, {"two Apply v1": ".data.k", "one Apply v1": ".data.l"})),
    Story("a field that somebody has updated stays when its applier drops it", [("create two configmaps",
          config_map(data={"k": "v"})), ("apply one configmaps/a", applied(k="v")), ("apply one configmaps/a",
          applied())], Owned({"data": {"k": "v"}}, {"two Update v1": ".data .data.k"})),
    Story("an applier who states nothing owns nothing", [("apply one configmaps/a", applied(k="v")),
          ("apply one configmaps/a", applied())], Owned({"data": None}, {})),
    Story("an empty map is stated as a whole", [("apply one configmaps/a", applied_thing("ConfigMap", data={}))],
          Owned({"data": None}, {"one Apply v1": ".data"})),
    Story("a null is stated too", [("apply one configmaps/a", applied_thing("ConfigMap", data=None))],
          Owned({"data": None}, {"one Apply v1": ".data"})),
    Story("a null in a map is an empty text", [("apply one configmaps/a", applied_thing("ConfigMap",
          data={"k": None}))], Owned({"data": {"k": ""}}, {"one Apply v1": ".data.k"})),
    Story("a field that an applier gives up is free for others", [("apply one configmaps/a", applied(k="v")),
          ("apply one configmaps/a", applied(l="v")), ("apply two configmaps/a", applied(k="w"))],
          Owned({"data": {"k": "w", "l": "v"}}, {"one Apply v1": ".data.l", "two Apply v1": ".data.k"})),
    Story("what an applier has lost by force it can't have back without", [("apply one configmaps/a", applied(k="v")),
          ("force two configmaps/a", applied(k="w")), ("apply one configmaps/a", applied(k="v"))], conflicts(('"two"',
          ".data.k"))),
    Story("what an applier has lost by force it does not remove", [("apply one configmaps/a", applied(k="v")),
          ("force two configmaps/a", applied(k="w")), ("apply one configmaps/a", applied())],
          Owned({"data": {"k": "w"}}, {"two Apply v1": ".data.k"})),
    Story("labels and annotations have owners one by one", [("apply one configmaps/a", labelled({"x": "1"},
          {"n": "1"})), ("apply two configmaps/a", labelled({"y": "2"}, {"m": "2"}))], Owned({"data": None,
          "metadata": {"labels": {"x": "1", "y": "2"}, "annotations": {"m": "2", "n": "1"}}},
          {"one Apply v1": ".metadata.annotations.n .metadata.labels.x",
          "two Apply v1": ".metadata.annotations.m .metadata.labels.y"})),
    Story("finalizers are a set", [("apply one configmaps/a", applied_thing("ConfigMap",
          metadata={"finalizers": ["a.example/x", "a.example/y"]})), ("apply two configmaps/a",
          applied_thing("ConfigMap", metadata={"finalizers": ["a.example/z", "a.example/x"]})),
          ("apply one configmaps/a", applied_thing("ConfigMap", metadata={"finalizers": ["a.example/y"]}))],
          Owned({"data": None, "metadata": {"finalizers": ["a.example/z", "a.example/x", "a.example/y"]}},
          {"one Apply v1": ".metadata.finalizers[a.example/y]",
          "two Apply v1": ".metadata.finalizers[a.example/x] .metadata.finalizers[a.example/z]"})),
    Story("owner references are known by their uid and owned as a whole", [("apply one configmaps/a",
          applied_thing("ConfigMap", metadata={"ownerReferences": [owner("u1")]})), ("apply two configmaps/a",
          applied_thing("ConfigMap", metadata={"ownerReferences": [owner("u2")]})), ("apply two configmaps/a",
          applied_thing("ConfigMap", metadata={"ownerReferences": [owner("u2"), {**owner("u1"), "name": "n"}]}))],
          conflicts(('"one"', '.metadata.ownerReferences[uid="u1"]'))),
]  # fmt: skip
# Creates, updates and patches take what they change, and nothing else
UPDATES = [
    Story("who creates an object owns all of it", [("create one configmaps", config_map(data={"k": "v"},
          metadata={"labels": {"x": "1"}}))], Owned({"data": {"k": "v"}, "metadata": {"labels": {"x": "1"}}},
          {"one Update v1": ".data .data.k .metadata.labels .metadata.labels.x"})),
    Story("a generated name has an owner and the name has none", [("create one configmaps",
          {"metadata": {"generateName": "g"}})], Owned({"data": None}, {"one Update v1": ".metadata.generateName"})),
    Story("an update owns what it changes", [("apply one configmaps/a", applied(k="v", l="v")),
          ("update two configmaps/a", config_map(data={"k": "w", "l": "v"}))], Owned({"data": {"k": "w", "l": "v"}},
          {"one Apply v1": ".data.l", "two Update v1": ".data.k"})),
    Story("an update that changes nothing owns nothing", [("apply one configmaps/a", applied(k="v")),
          ("update two configmaps/a", config_map(data={"k": "v"}))], Owned({"data": {"k": "v"}},
          {"one Apply v1": ".data.k"})),
    Story("what an update removes is nobody's", [("apply one configmaps/a", applied(k="v", l="v")),
          ("update two configmaps/a", config_map(data={"k": "v"}))], Owned({"data": {"k": "v"}},
          {"one Apply v1": ".data.k"})),
    Story("a merge patch owns what it changes", [("apply one configmaps/a", applied(k="v", l="v")),
          ("merge two configmaps/a", {"data": {"k": "v", "l": None, "m": "v"}})], Owned({"data": {"k": "v",
          "m": "v"}}, {"one Apply v1": ".data.k", "two Update v1": ".data.m"})),
    Story("a JSON patch owns what it changes", [("apply one configmaps/a", applied(k="v", l="v")),
          ("json two configmaps/a", [{"op": "replace", "path": "/data/k", "value": "w"}, {"op": "remove",
          "path": "/data/l"}])], Owned({"data": {"k": "w"}}, {"two Update v1": ".data.k"})),
    Story("a strategic patch owns what it changes", [("apply one configmaps/a", applied(k="v", l="v")),
          ("strategic two configmaps/a", {"data": {"k": "w", "l": "v"}, "metadata": {"labels": {"x": "1"}}})],
          Owned({"data": {"k": "w", "l": "v"}, "metadata": {"labels": {"x": "1"}}}, {"one Apply v1": ".data.l",
          "two Update v1": ".data.k .metadata.labels .metadata.labels.x"})),
    Story("updates of one manager add up", [("create one configmaps", config_map(data={"k": "v"})),
          ("merge one configmaps/a", {"data": {"l": "v"}}), ("merge one configmaps/a",
          {"metadata": {"labels": {"x": "1"}}})], Owned({"data": {"k": "v", "l": "v"},
          "metadata": {"labels": {"x": "1"}}},
          {"one Update v1": ".data .data.k .data.l .metadata.labels .metadata.labels.x"})),
    Story("who updates and applies is two managers", [("create one configmaps", config_map(data={"k": "v"})),
          ("apply one configmaps/a", applied(k="v"))], Owned({"data": {"k": "v"}}, {"one Apply v1": ".data.k",
          "one Update v1": ".data .data.k"})),
    Story("who updates and applies conflicts with itself", [("create one configmaps", config_map(data={"k": "v"})),
          ("apply one configmaps/a", applied(k="w"))], conflicts(('"one" using v1', ".data.k"))),
    Story("a conflict with an update says which version it was in", [("apply one configmaps/a", applied(k="v")),
          ("merge two configmaps/a", {"data": {"k": "w"}}), ("apply one configmaps/a", applied(k="v"))],
          conflicts(('"two" using v1', ".data.k"))),
    Story("an update takes a field from its applier without asking", [("apply one configmaps/a", applied(k="v")),
          ("merge two configmaps/a", {"data": {"k": "w"}})], Owned({"data": {"k": "w"}},
          {"two Update v1": ".data.k"})),
    Story("managed fields that an update states are taken", [("create one configmaps", config_map(data={"k": "v"})),
          ("update two configmaps/a", config_map(data={"k": "v", "l": "v"},
          metadata={"managedFields": [entry("three")]}))], Owned({"data": {"k": "v", "l": "v"}},
          {"three Update v1": ".data .data.k", "two Update v1": ".data.l"})),
    Story("managed fields that can't be read are not taken", [("create one configmaps", config_map(data={"k": "v"})),
          ("update two configmaps/a", config_map(data={"k": "v", "l": "v"},
          metadata={"managedFields": [{**entry("three"), "operation": "Guess"}]}))], Owned({"data": {"k": "v",
          "l": "v"}}, {"one Update v1": ".data .data.k", "two Update v1": ".data.l"})),
    Story("managed fields with a step that can't be read are not taken", [("create one configmaps",
          config_map(data={"k": "v"})), ("update two configmaps/a", config_map(data={"k": "v", "l": "v"},
          metadata={"managedFields": [{**entry("three"), "fieldsV1": {"data": {}}}]}))], Owned({"data": {"k": "v",
          "l": "v"}}, {"one Update v1": ".data .data.k", "two Update v1": ".data.l"})),
    Story("managed fields of a version that there is none of are dropped", [("create one configmaps",
          config_map(data={"k": "v"})), ("update two configmaps/a", config_map(data={"k": "v", "l": "v"},
          metadata={"managedFields": [{**entry("three"), "apiVersion": "v7"}]}))], Owned({"data": {"k": "v",
          "l": "v"}}, {"two Update v1": ".data.l"})),
    Story("managed fields that a new object states are kept", [("create one configmaps", config_map(data={"k": "v"},
          metadata={"managedFields": [{**entry("three"), "fieldsV1": {"f:data": {"f:z": {}}}}]}))],
          Owned({"data": {"k": "v"}}, {"three Update v1": ".data.z", "one Update v1": ".data .data.k"})),
    Story("a null for managed fields keeps them", [("create one configmaps", config_map(data={"k": "v"})),
          ("merge two configmaps/a", {"metadata": {"managedFields": None}})], Owned({"data": {"k": "v"}},
          {"one Update v1": ".data .data.k"})),
    Story("after a reset an update is not tracked", [("create one configmaps", config_map(data={"k": "v"})),
          ("json one configmaps/a", RESET), ("merge two configmaps/a", {"data": {"k": "w"}})],
          Owned({"data": {"k": "w"}}, {})),
    Story("after a reset the first apply meets what was there before", [("create one configmaps",
          config_map(data={"k": "v", "l": "v"})), ("json one configmaps/a", RESET), ("apply two configmaps/a",
          applied(k="v"))], Owned({"data": {"k": "v", "l": "v"}}, {"two Apply v1": ".data.k",
          "before-first-apply Update v1": ".data .data.k .data.l"})),
    Story("what was there before the first apply is a conflict too", [("create one configmaps",
          config_map(data={"k": "v", "l": "v"})), ("json one configmaps/a", RESET), ("apply two configmaps/a",
          applied(k="w"))], conflicts(('"before-first-apply" using v1', ".data.k"))),
    Story("with the eleventh updater the oldest become one", [("create m00 configmaps", config_map(data={"k0": "v"})),
          ("merge m01 configmaps/a", {"data": {"k1": "v"}}), ("merge m02 configmaps/a", {"data": {"k2": "v"}}),
          ("merge m03 configmaps/a", {"data": {"k3": "v"}}), ("merge m04 configmaps/a", {"data": {"k4": "v"}}),
          ("merge m05 configmaps/a", {"data": {"k5": "v"}}), ("merge m06 configmaps/a", {"data": {"k6": "v"}}),
          ("merge m07 configmaps/a", {"data": {"k7": "v"}}), ("merge m08 configmaps/a", {"data": {"k8": "v"}}),
          ("merge m09 configmaps/a", {"data": {"k9": "v"}}), ("merge m10 configmaps/a", {"data": {"k10": "v"}}),
          ("merge m11 configmaps/a", {"data": {"k11": "v"}})], Owned({"data": {"k0": "v", "k1": "v", "k10": "v",
          "k11": "v", "k2": "v", "k3": "v", "k4": "v", "k5": "v", "k6": "v", "k7": "v", "k8": "v", "k9": "v"}},
          {"ancient-changes Update v1": ".data .data.k0 .data.k1 .data.k2", "m03 Update v1": ".data.k3",
          "m04 Update v1": ".data.k4", "m05 Update v1": ".data.k5", "m06 Update v1": ".data.k6",
          "m07 Update v1": ".data.k7", "m08 Update v1": ".data.k8", "m09 Update v1": ".data.k9",
          "m10 Update v1": ".data.k10", "m11 Update v1": ".data.k11"})),
]  # fmt: skip
# A custom kind with every sort of list and map
LISTS_AND_MAPS = [
    Story("a custom object's spec is owned by who creates it", [("create one ownables", ownable(size=1,
          labels={"x": "1"}))], Owned({"spec": {"filled": "by default", "labels": {"x": "1"}, "size": 1}},
          {"one Update ownership.windvane.dev/v1": ".spec .spec.filled .spec.labels .spec.labels.x .spec.size"})),
    Story("an atomic list is one value", [("apply one ownables/o", ownable(listed=["a"])), ("apply two ownables/o",
          ownable(listed=["a", "b"]))], conflicts(('"one"', ".spec.listed"))),
    Story("an atomic list is replaced by force", [("apply one ownables/o", ownable(listed=["a"])),
          ("force two ownables/o", ownable(listed=["b"]))], Owned({"spec": {"filled": "by default", "listed": ["b"]}},
          {"two Apply ownership.windvane.dev/v1": ".spec.listed"})),
    Story("an atomic map is one value", [("apply one ownables/o", ownable(whole={"x": "1"})), ("apply two ownables/o",
          ownable(whole={"y": "1"}))], conflicts(('"one"', ".spec.whole"))),
    Story("an atomic map is replaced by force", [("apply one ownables/o", ownable(whole={"x": "1"})),
          ("force two ownables/o", ownable(whole={"y": "1"}))], Owned({"spec": {"filled": "by default",
          "whole": {"y": "1"}}}, {"two Apply ownership.windvane.dev/v1": ".spec.whole"})),
    Story("the values of a set have owners one by one", [("apply one ownables/o", ownable(set=["a", "b"])),
          ("apply two ownables/o", ownable(set=["c", "a"])), ("apply one ownables/o", ownable(set=["b"]))],
          Owned({"spec": {"filled": "by default", "set": ["c", "a", "b"]}},
          {"one Apply ownership.windvane.dev/v1": ".spec.set[b]",
          "two Apply ownership.windvane.dev/v1": ".spec.set[a] .spec.set[c]"})),
    Story("the last values of a set take it along", [("apply one ownables/o", ownable(set=["a", "b"], size=1)),
          ("apply one ownables/o", ownable(size=1))], Owned({"spec": {"filled": "by default", "size": 1}},
          {"one Apply ownership.windvane.dev/v1": ".spec.size"})),
    Story("a value can't be in an applied set twice", [("apply one ownables/o", ownable(set=["a", "b", "a"]))],
          misfit("/o; ownership.windvane.dev/v1, Kind=Ownable", '.spec.set: duplicate entries for key [="a"]')),
    Story("a set of numbers", [("apply one ownables/o", ownable(numbers=[2, 10, 1])), ("apply two ownables/o",
          ownable(numbers=[10, 3]))], Owned({"spec": {"filled": "by default", "numbers": [2, 10, 1, 3]}},
          {"one Apply ownership.windvane.dev/v1": ".spec.numbers[10] .spec.numbers[1] .spec.numbers[2]",
          "two Apply ownership.windvane.dev/v1": ".spec.numbers[10] .spec.numbers[3]"})),
    Story("the items of a map list are merged by their keys", [("apply one ownables/o", ownable(items=[{"name": "a",
          "port": 1}, {"name": "b", "port": 2}])), ("apply two ownables/o", ownable(items=[{"name": "c"},
          {"name": "a", "note": "n"}]))], Owned({"spec": {"filled": "by default", "items": [{"name": "c"},
          {"name": "a", "note": "n", "port": 1}, {"name": "b", "port": 2}]}},
          {"one Apply ownership.windvane.dev/v1":
          ".spec.items[name=a] .spec.items[name=a].name .spec.items[name=a].port .spec.items[name=b] "
          ".spec.items[name=b].name .spec.items[name=b].port", "two Apply ownership.windvane.dev/v1":
          ".spec.items[name=a] .spec.items[name=a].name .spec.items[name=a].note .spec.items[name=c] "
          ".spec.items[name=c].name"})),
    Story("a field of an item can be a conflict", [("apply one ownables/o", ownable(items=[{"name": "a",
          "port": 1}])), ("apply two ownables/o", ownable(items=[{"name": "a", "port": 2}]))], conflicts(('"one"',
          '.spec.items[name="a"].port'))),
    Story("an item goes with its last owner", [("apply one ownables/o", ownable(items=[{"name": "a", "port": 1},
          {"name": "b", "port": 2}])), ("apply one ownables/o", ownable(items=[{"name": "b", "port": 2}]))],
          Owned({"spec": {"filled": "by default", "items": [{"name": "b", "port": 2}]}},
          {"one Apply ownership.windvane.dev/v1":
          ".spec.items[name=b] .spec.items[name=b].name .spec.items[name=b].port"})),
    Story("an item stays as long as somebody has a part of it", [("apply one ownables/o", ownable(items=[{"name": "a",
          "port": 1}])), ("apply two ownables/o", ownable(items=[{"name": "a", "note": "n"}])),
          ("apply one ownables/o", ownable(items=[]))], Owned({"spec": {"filled": "by default",
          "items": [{"name": "a", "note": "n"}]}},
          {"two Apply ownership.windvane.dev/v1":
          ".spec.items[name=a] .spec.items[name=a].name .spec.items[name=a].note"})),
    Story("merged items are in the applier's order with the others between them", [("apply one ownables/o",
          ownable(items=[{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d"}])), ("apply two ownables/o",
          ownable(items=[{"name": "d"}, {"name": "x"}, {"name": "b"}]))], Owned({"spec": {"filled": "by default",
          "items": [{"name": "a"}, {"name": "c"}, {"name": "d"}, {"name": "x"}, {"name": "b"}]}},
          {"one Apply ownership.windvane.dev/v1":
          ".spec.items[name=a] .spec.items[name=a].name .spec.items[name=b] .spec.items[name=b].name "
          ".spec.items[name=c] .spec.items[name=c].name .spec.items[name=d] .spec.items[name=d].name",
          "two Apply ownership.windvane.dev/v1":
          ".spec.items[name=b] .spec.items[name=b].name .spec.items[name=d] .spec.items[name=d].name "
          ".spec.items[name=x] .spec.items[name=x].name"})),
    Story("an item with two keys", [("apply one ownables/o", ownable(pairs=[{"a": "x", "b": 1}, {"a": "x", "b": 2,
          "note": "n"}])), ("apply two ownables/o", ownable(pairs=[{"a": "x", "b": 2, "note": "n"}]))],
          Owned({"spec": {"filled": "by default", "pairs": [{"a": "x", "b": 1}, {"a": "x", "b": 2, "note": "n"}]}},
          {"two Apply ownership.windvane.dev/v1":
          ".spec.pairs[a=x,b=2] .spec.pairs[a=x,b=2].a .spec.pairs[a=x,b=2].b .spec.pairs[a=x,b=2].note",
          "one Apply ownership.windvane.dev/v1":
          ".spec.pairs[a=x,b=1] .spec.pairs[a=x,b=1].a .spec.pairs[a=x,b=1].b .spec.pairs[a=x,b=2] "
          ".spec.pairs[a=x,b=2].a .spec.pairs[a=x,b=2].b .spec.pairs[a=x,b=2].note"})),
    Story("an item without its key", [("apply one ownables/o", ownable(items=[{"port": 1}]))],
          misfit("/o; ownership.windvane.dev/v1, Kind=Ownable",
          '.spec.items: element 0: associative list with keys has an element that omits all key fields '
          '["name"] (and doesn\'t have default values for any key fields)')),
    Story("an item can't be applied twice", [("apply one ownables/o", ownable(items=[{"name": "a"}, {"name": "a"}]))],
          misfit("/o; ownership.windvane.dev/v1, Kind=Ownable",
          '.spec.items: duplicate entries for key [name="a"]')),
    Story("a granular map has owners key by key", [("apply one ownables/o", ownable(labels={"x": "1", "y": "1"})),
          ("apply two ownables/o", ownable(labels={"z": "1", "x": "1"})), ("apply one ownables/o",
          ownable(labels={"y": "1"}))], Owned({"spec": {"filled": "by default", "labels": {"x": "1", "y": "1",
          "z": "1"}}}, {"one Apply ownership.windvane.dev/v1": ".spec.labels.y",
          "two Apply ownership.windvane.dev/v1": ".spec.labels.x .spec.labels.z"})),
    Story("a struct goes with its last field", [("apply one ownables/o", ownable(nested={"a": "x", "b": "y"},
          size=1)), ("apply one ownables/o", ownable(size=1))], Owned({"spec": {"filled": "by default", "size": 1}},
          {"one Apply ownership.windvane.dev/v1": ".spec.size"})),
    Story("a struct stays with another's field", [("apply one ownables/o", ownable(nested={"a": "x"})),
          ("apply two ownables/o", ownable(nested={"b": "y"})), ("apply one ownables/o", ownable())],
          Owned({"spec": {"filled": "by default", "nested": {"b": "y"}}},
          {"one Apply ownership.windvane.dev/v1": ".spec",
          "two Apply ownership.windvane.dev/v1": ".spec.nested.b"})),
    Story("an empty struct is a value", [("apply one ownables/o", ownable(nested={}))],
          Owned({"spec": {"filled": "by default", "nested": {}}},
          {"one Apply ownership.windvane.dev/v1": ".spec.nested"})),
    Story("an empty list of items is not", [("apply one ownables/o", ownable(items=[], set=[]))],
          Owned({"spec": {"filled": "by default", "items": [], "set": []}}, {})),
    Story("where the schema says nothing maps are granular and lists are not", [("apply one ownables/o",
          ownable(open={"a": {"b": [1, {"c": 2}]}, "d": 1})), ("apply two ownables/o", ownable(open={"a": {"e": "f"},
          "d": 1}))], Owned({"spec": {"filled": "by default", "open": {"a": {"b": [1, {"c": 2}], "e": "f"}, "d": 1}}},
          {"one Apply ownership.windvane.dev/v1": ".spec.open.a .spec.open.a.b .spec.open.d",
          "two Apply ownership.windvane.dev/v1": ".spec.open.a .spec.open.a.e .spec.open.d"})),
    Story("where the schema says nothing a value can change its type by force", [("apply one ownables/o",
          ownable(open={"a": {"b": 1}})), ("force two ownables/o", ownable(open={"a": "text"}))],
          Owned({"spec": {"filled": "by default", "open": {"a": "text"}}},
          {"two Apply ownership.windvane.dev/v1": ".spec.open.a"})),
    Story("defaults are nobody's if the object is applied", [("apply one ownables/o", ownable(size=1))],
          Owned({"spec": {"filled": "by default", "size": 1}},
          {"one Apply ownership.windvane.dev/v1": ".spec.size"})),
    Story("a default can be stated by whoever wants to own it", [("apply one ownables/o", ownable(size=1)),
          ("apply two ownables/o", ownable(filled="by default"))], Owned({"spec": {"filled": "by default",
          "size": 1}}, {"two Apply ownership.windvane.dev/v1": ".spec.filled",
          "one Apply ownership.windvane.dev/v1": ".spec.size"})),
    Story("a default comes back when its owner drops another value", [("apply one ownables/o",
          ownable(filled="by me")), ("apply one ownables/o", ownable())], Refused(422, "Invalid",
          'Ownable.ownership.windvane.dev "o" is invalid: spec: Invalid value: "null": spec in body '
          'must be of type object: "null"', "Ownable.ownership.windvane.dev o", ["FieldValueTypeInvalid spec"])),
    Story("a null where none is allowed", [("apply one ownables/o", ownable(nested=None))], Refused(422, "Invalid",
          'Ownable.ownership.windvane.dev "o" is invalid: spec.nested: Invalid value: "null": '
          'spec.nested in body must be of type object: "null"', "Ownable.ownership.windvane.dev o",
          ["FieldValueTypeInvalid spec.nested"])),
    Story("a field that the schema does not know", [("apply one ownables/o", ownable(bogus=1))],
          misfit("/o; ownership.windvane.dev/v1, Kind=Ownable", ".spec.bogus: field not declared in schema")),
    Story("a text that should be a number", [("apply one ownables/o", ownable(size="large"))],
          misfit("/o; ownership.windvane.dev/v1, Kind=Ownable",
          ".spec.size: expected numeric (int or float), got string")),
    Story("a number that should be a text", [("apply one ownables/o", ownable(nested={"a": 1}))],
          misfit("/o; ownership.windvane.dev/v1, Kind=Ownable",
          ".spec.nested.a: expected string, got &value.valueUnstructured{Value:1}")),
    Story("a list that should be a map", [("apply one ownables/o", ownable(nested=[]))],
          misfit("/o; ownership.windvane.dev/v1, Kind=Ownable", ".spec.nested: expected map, got &{[]}")),
    Story("a map that should be a list", [("apply one ownables/o", ownable(listed={}))],
          misfit("/o; ownership.windvane.dev/v1, Kind=Ownable", ".spec.listed: expected list, got &{map[]}")),
    Story("what breaks the schema's rules", [("apply one ownables/o", ownable(size=100))], Refused(422, "Invalid",
          'Ownable.ownership.windvane.dev "o" is invalid: spec.size: Invalid value: 100: spec.size in '
          'body should be less than or equal to 10', "Ownable.ownership.windvane.dev o",
          ["FieldValueInvalid spec.size"])),
    Story("an update takes items from an applier", [("apply one ownables/o", ownable(items=[{"name": "a", "port": 1}],
          set=["x"])), ("merge two ownables/o", {"spec": {"items": [{"name": "a", "port": 2}, {"name": "b"}],
          "set": ["x", "y"]}})], Owned({"spec": {"filled": "by default", "items": [{"name": "a", "port": 2},
          {"name": "b"}], "set": ["x", "y"]}},
          {"one Apply ownership.windvane.dev/v1": ".spec.items[name=a] .spec.items[name=a].name .spec.set[x]",
          "two Update ownership.windvane.dev/v1":
          ".spec.items[name=a].port .spec.items[name=b] .spec.items[name=b].name .spec.set[y]"})),
]  # fmt: skip
# Subresources and versions have managers of their own
DOORS = [
    Story("status is owned through its own door", [("apply one ownables/o", ownable(size=1)),
          ("apply one ownables/o/status", ownable_status(phase="x"))], Owned({"spec": {"filled": "by default",
          "size": 1}, "status": {"phase": "x"}}, {"one Apply ownership.windvane.dev/v1": ".spec.size",
          "one Apply ownership.windvane.dev/v1 status": ".status.phase"})),
    Story("a spec in an applied status is not owned", [("apply one ownables/o", ownable(size=1)),
          ("apply two ownables/o/status", {**ownable(size=2), "status": {"phase": "x"}})],
          Owned({"spec": {"filled": "by default", "size": 1}, "status": {"phase": "x"}},
          {"one Apply ownership.windvane.dev/v1": ".spec.size",
          "two Apply ownership.windvane.dev/v1 status": ".status.phase"})),
    Story("metadata in an applied status is not owned", [("apply one ownables/o", ownable(size=1)),
          ("apply two ownables/o/status", ownable_status({"labels": {"x": "1"}}, phase="x"))],
          Owned({"spec": {"filled": "by default", "size": 1}, "status": {"phase": "x"}},
          {"one Apply ownership.windvane.dev/v1": ".spec.size",
          "two Apply ownership.windvane.dev/v1 status": ".status.phase"})),
    Story("a status in an applied spec is not owned", [("apply one ownables/o", {**ownable(size=1),
          "status": {"phase": "x"}})], Owned({"spec": {"filled": "by default", "size": 1}},
          {"one Apply ownership.windvane.dev/v1": ".spec.size"})),
    Story("a conflict in a status says so", [("apply one ownables/o", ownable(size=1)),
          ("apply one ownables/o/status", ownable_status(phase="x")), ("apply two ownables/o/status",
          ownable_status(phase="y"))], conflicts(('"one" with subresource "status"', ".status.phase"))),
    Story("conditions of a status are merged by their type", [("apply one ownables/o", ownable(size=1)),
          ("apply one ownables/o/status", ownable_status(conditions=[condition("A")])),
          ("apply two ownables/o/status", ownable_status(conditions=[condition("B")]))],
          Owned({"spec": {"filled": "by default", "size": 1}, "status": {"conditions": [{"status": "True",
          "type": "A"}, {"status": "True", "type": "B"}]}}, {"one Apply ownership.windvane.dev/v1": ".spec.size",
          "one Apply ownership.windvane.dev/v1 status":
          ".status.conditions[type=A] .status.conditions[type=A].status .status.conditions[type=A].type",
          "two Apply ownership.windvane.dev/v1 status":
          ".status.conditions[type=B] .status.conditions[type=B].status .status.conditions[type=B].type"})),
    Story("a patch of a status owns what it changes", [("apply one ownables/o", ownable(size=1)),
          ("merge two ownables/o/status", {"spec": {"size": 2}, "status": {"phase": "x"}})],
          Owned({"spec": {"filled": "by default", "size": 1}, "status": {"phase": "x"}},
          {"one Apply ownership.windvane.dev/v1": ".spec.size",
          "two Update ownership.windvane.dev/v1 status": ".status .status.phase"})),
    Story("a status can't be applied to what is not there", [("apply one ownables/o/status",
          ownable_status(phase="x"))], Refused(404, "NotFound", 'ownables.ownership.windvane.dev "o" not found',
          "ownables.ownership.windvane.dev o")),
    Story("managed fields in a status write are not taken", [("create one ownables", ownable(size=1)),
          ("merge two ownables/o/status", {"metadata": {"managedFields": [{}]}, "status": {"phase": "x"}})],
          Owned({"spec": {"filled": "by default", "size": 1}, "status": {"phase": "x"}},
          {"one Update ownership.windvane.dev/v1": ".spec .spec.filled .spec.size",
          "two Update ownership.windvane.dev/v1 status": ".status .status.phase"})),
    Story("an applier has one share in whatever version", [("apply one ownables/o", ownable(size=1,
          labels={"x": "1"})), (f"apply one {V2}", ownable(size=1, version="v2"))],
          Owned({"spec": {"filled": "by default", "size": 1}},
          {"one Apply ownership.windvane.dev/v2": ".spec.size"})),
    Story("appliers in two versions conflict", [("apply one ownables/o", ownable(size=1)), (f"apply two {V2}",
          ownable(size=2, version="v2"))], conflicts(('"one"', ".spec.size"))),
    Story("an updater has a share in each version", [("create one ownables", ownable(size=1)), (f"merge one {V2}",
          {"spec": {"size": 2}})], Owned({"spec": {"filled": "by default", "size": 2}},
          {"one Update ownership.windvane.dev/v1": ".spec .spec.filled",
          "one Update ownership.windvane.dev/v2": ".spec.size"})),
    Story("an object of another version than its path", [(f"apply one {V2}", ownable(size=1))], Refused(400,
          "BadRequest", "invalid object type: ownership.windvane.dev/v1, Kind=Ownable")),
]  # fmt: skip
# Built-in kinds are merged as their types say
BUILT_IN = [
    Story("defaults of a deployment are nobody's if it is applied", [("apply one deployments/web",
          applied_thing("Deployment", **deployment()))], Owned({"spec": {"replicas": 1}}, {"one Apply apps/v1":
          ".spec.selector .spec.template.metadata.labels.app .spec.template.spec.containers[name=main] "
          ".spec.template.spec.containers[name=main].image .spec.template.spec.containers[name=main].name"})),
    Story("defaults of a deployment belong to who creates it", [("create one deployments", deployment())],
          Owned({"spec": {"replicas": 1}}, {"one Update apps/v1":
          ".spec.progressDeadlineSeconds .spec.replicas .spec.revisionHistoryLimit .spec.selector "
          ".spec.strategy.rollingUpdate .spec.strategy.rollingUpdate.maxSurge "
          ".spec.strategy.rollingUpdate.maxUnavailable .spec.strategy.type .spec.template.metadata.labels "
          ".spec.template.metadata.labels.app .spec.template.spec.containers[name=main] "
          ".spec.template.spec.containers[name=main].image "
          ".spec.template.spec.containers[name=main].imagePullPolicy "
          ".spec.template.spec.containers[name=main].name .spec.template.spec.containers[name=main].resources "
          ".spec.template.spec.containers[name=main].terminationMessagePath "
          ".spec.template.spec.containers[name=main].terminationMessagePolicy "
          ".spec.template.spec.dnsPolicy .spec.template.spec.restartPolicy "
          ".spec.template.spec.schedulerName .spec.template.spec.securityContext "
          ".spec.template.spec.terminationGracePeriodSeconds"})),
    Story("the status of a deployment is not owned by who creates it", [("create one deployments", {**deployment(),
          "status": {"replicas": 3}})], Owned({"spec": {"replicas": 1}}, {"one Update apps/v1":
          ".spec.progressDeadlineSeconds .spec.replicas .spec.revisionHistoryLimit .spec.selector "
          ".spec.strategy.rollingUpdate .spec.strategy.rollingUpdate.maxSurge "
          ".spec.strategy.rollingUpdate.maxUnavailable .spec.strategy.type .spec.template.metadata.labels "
          ".spec.template.metadata.labels.app .spec.template.spec.containers[name=main] "
          ".spec.template.spec.containers[name=main].image "
          ".spec.template.spec.containers[name=main].imagePullPolicy "
          ".spec.template.spec.containers[name=main].name .spec.template.spec.containers[name=main].resources "
          ".spec.template.spec.containers[name=main].terminationMessagePath "
          ".spec.template.spec.containers[name=main].terminationMessagePolicy "
          ".spec.template.spec.dnsPolicy .spec.template.spec.restartPolicy "
          ".spec.template.spec.schedulerName .spec.template.spec.securityContext "
          ".spec.template.spec.terminationGracePeriodSeconds"})),
    Story("containers are merged by their names", [("apply one deployments/web", applied_thing("Deployment",
          **deployment())), ("apply two deployments/web", applied_thing("Deployment", metadata={"name": "web"},
          spec={"template": {"spec": {"containers": [{"name": "side", "image": "i"}]}}}))],
          Owned({"spec": {"replicas": 1}}, {"one Apply apps/v1":
          ".spec.selector .spec.template.metadata.labels.app .spec.template.spec.containers[name=main] "
          ".spec.template.spec.containers[name=main].image .spec.template.spec.containers[name=main].name",
          "two Apply apps/v1":
          ".spec.template.spec.containers[name=side] .spec.template.spec.containers[name=side].image "
          ".spec.template.spec.containers[name=side].name"})),
    Story("the image of a container is a conflict", [("apply one deployments/web", applied_thing("Deployment",
          **deployment())), ("apply two deployments/web", applied_thing("Deployment", metadata={"name": "web"},
          spec={"template": {"spec": {"containers": [{"name": "main", "image": "i"}]}}}))], conflicts(('"one"',
          '.spec.template.spec.containers[name="main"].image'))),
    Story("who drops replicas leaves them as they are if the server has a default", [("apply one deployments/web",
          applied_thing("Deployment", **deployment(replicas=3))), ("apply one deployments/web",
          applied_thing("Deployment", **deployment()))], Owned({"spec": {"replicas": 1}}, {"one Apply apps/v1":
          ".spec.selector .spec.template.metadata.labels.app .spec.template.spec.containers[name=main] "
          ".spec.template.spec.containers[name=main].image .spec.template.spec.containers[name=main].name"})),
    Story("who hands replicas over leaves them to the other", [("apply one deployments/web",
          applied_thing("Deployment", **deployment(replicas=3))), ("apply two deployments/web",
          applied_thing("Deployment", metadata={"name": "web"}, spec={"replicas": 3})), ("apply one deployments/web",
          applied_thing("Deployment", **deployment()))], Owned({"spec": {"replicas": 3}},
          {"two Apply apps/v1": ".spec.replicas", "one Apply apps/v1":
          ".spec.selector .spec.template.metadata.labels.app .spec.template.spec.containers[name=main] "
          ".spec.template.spec.containers[name=main].image .spec.template.spec.containers[name=main].name"})),
    Story("a selector is one value", [("apply one services/s", applied_thing("Service",
          **service(selector={"a": "b"}))), ("apply two services/s", applied_thing("Service", metadata={"name": "s"},
          spec={"selector": {"c": "d"}}))], conflicts(('"one"', ".spec.selector"))),
    Story("ports of a service are known by port and protocol", [("apply one services/s", applied_thing("Service",
          **service())), ("apply two services/s", applied_thing("Service", metadata={"name": "s"},
          spec={"ports": [{"port": 80, "protocol": "TCP", "targetPort": 81}]}))], Owned({},
          {"one Apply v1": ".spec.ports[port=80,protocol=TCP] .spec.ports[port=80,protocol=TCP].port", "two Apply v1":
          ".spec.ports[port=80,protocol=TCP] .spec.ports[port=80,protocol=TCP].port "
          ".spec.ports[port=80,protocol=TCP].protocol .spec.ports[port=80,protocol=TCP].targetPort"})),
    Story("what a service is assigned is nobody's", [("create one services", service())], Owned({}, {"one Update v1":
          ".spec.internalTrafficPolicy .spec.ports .spec.ports[port=80,protocol=TCP] "
          ".spec.ports[port=80,protocol=TCP].port .spec.ports[port=80,protocol=TCP].protocol "
          ".spec.ports[port=80,protocol=TCP].targetPort .spec.sessionAffinity .spec.type"})),
    Story("a pod's defaults belong to who creates it", [("create one pods", pod())], Owned({}, {"one Update v1":
          ".spec.containers[name=main] .spec.containers[name=main].image "
          ".spec.containers[name=main].imagePullPolicy .spec.containers[name=main].name "
          ".spec.containers[name=main].resources .spec.containers[name=main].terminationMessagePath "
          ".spec.containers[name=main].terminationMessagePolicy .spec.dnsPolicy .spec.enableServiceLinks "
          ".spec.restartPolicy .spec.schedulerName .spec.securityContext .spec.terminationGracePeriodSeconds"})),
    Story("a pod's defaults are nobody's if it is applied", [("apply one pods/p", applied_thing("Pod", **pod()))],
          Owned({}, {"one Apply v1":
          ".spec.containers[name=main] .spec.containers[name=main].image .spec.containers[name=main].name"})),
    Story("a secret's text stays with who states it", [("apply one secrets/a", applied_thing("Secret",
          stringData={"k": "v"}))], Owned({}, {"one Apply v1": ".stringData.k"})),
    Story("what a deployment does not have", [("apply one deployments/web", applied_thing("Deployment",
          metadata={"name": "web"}, spec={"bogus": 1}))], misfit("/web; apps/v1, Kind=Deployment",
          ".spec.bogus: field not declared in schema")),
    Story("a deployment without what it needs", [("apply one deployments/web", applied_thing("Deployment",
          metadata={"name": "web"}, spec={"replicas": 1}))], Refused(422, "Invalid",
          'Deployment.apps "web" is invalid: [spec.selector: Required value, '
          'spec.template.metadata.labels: Invalid value: null: `selector` does not match template '
          '`labels`, spec.template.spec.containers: Required value]', "Deployment.apps web",
          ["FieldValueInvalid spec.template.metadata.labels", "FieldValueRequired spec.selector",
          "FieldValueRequired spec.template.spec.containers"])),
    Story("the status of a deployment", [("apply one deployments/web", applied_thing("Deployment", **deployment())),
          ("apply two deployments/web/status", applied_thing("Deployment", metadata={"name": "web"},
          status={"replicas": 3}))], Owned({"spec": {"replicas": 1}, "status": {"replicas": 3}}, {"one Apply apps/v1":
          ".spec.selector .spec.template.metadata.labels.app .spec.template.spec.containers[name=main] "
          ".spec.template.spec.containers[name=main].image .spec.template.spec.containers[name=main].name",
          "two Apply apps/v1 status": ".status.replicas"})),
]  # fmt: skip
# From client-side to server-side apply: only the manager `kubectl` reads the annotation
KUBECTL = [
    Story("kubectl takes over what it applied on the client's side", [("create kubectl-client-side-apply configmaps",
          remembered({"k": "v"}, {"k": "v"})), ("apply kubectl configmaps/a", applied(k="w"))],
          Owned({"data": {"k": "w"},
          "metadata": {"annotations": {LAST_APPLIED:
          '{"apiVersion":"v1","data":{"k":"w"},"kind":"ConfigMap","metadata":{"name":"a"}}\n'}}},
          {"kubectl Apply v1": ".data.k", "kubectl-client-side-apply Update v1": ".data .metadata.annotations "
          ".metadata.annotations.kubectl.kubernetes.io/last-applied-configuration"})),
    Story("others don't", [("create kubectl-client-side-apply configmaps", remembered({"k": "v"}, {"k": "v"})),
          ("apply other configmaps/a", applied(k="w"))], conflicts(('"kubectl-client-side-apply" using v1',
          ".data.k"))),
    Story("kubectl does not take over what somebody has changed since",
          [("create kubectl-client-side-apply configmaps", remembered({"k": "v", "l": "v"}, {"k": "v", "l": "v"})),
          ("merge two configmaps/a", {"data": {"k": "z"}}), ("apply kubectl configmaps/a", applied(k="w", l="w"))],
          conflicts(('"two" using v1', ".data.k"))),
    Story("the annotation is kept up to date", [("create kubectl-client-side-apply configmaps", remembered({"k": "v"},
          {"k": "v"})), ("apply kubectl configmaps/a", applied(k="v", l="v"))], Owned({"data": {"k": "v", "l": "v"},
          "metadata": {"annotations": {LAST_APPLIED:
          '{"apiVersion":"v1","data":{"k":"v","l":"v"},"kind":"ConfigMap","metadata":{"name":"a"}}\n'}}},
          {"kubectl Apply v1": ".data.k .data.l", "kubectl-client-side-apply Update v1":
          ".data .data.k .metadata.annotations "
          ".metadata.annotations.kubectl.kubernetes.io/last-applied-configuration"})),
    Story("no annotation is made where there is none", [("apply kubectl configmaps/a", applied(k="v", l="v"))],
          Owned({"data": {"k": "v", "l": "v"}}, {"kubectl Apply v1": ".data.k .data.l"})),
    Story("an annotation that can't be read", [("create one configmaps", config_map(data={"k": "v"},
          metadata={"annotations": {LAST_APPLIED: "{"}})), ("apply kubectl configmaps/a", applied(k="w"))],
          conflicts(('"one" using v1', ".data.k"))),
]  # fmt: skip
# What can't be applied
REFUSED = [
    Story("an object of another name", [("apply one configmaps/b", applied())], Refused(400, "BadRequest",
          "the name of the object (a) does not match the name on the URL (b)")),
    Story("an object of no name that is not there", [("apply one configmaps/a", {"apiVersion": "v1",
          "kind": "ConfigMap"})], Refused(400, "BadRequest",
          "the name of the object (a based on URL) was undeterminable: name must be provided")),
    Story("an object of another namespace", [("apply one configmaps/a", applied_thing("ConfigMap",
          metadata={"namespace": "other"}))], Refused(400, "BadRequest",
          "the namespace of the provided object does not match the namespace sent on the request")),
    Story("an object of no kind", [("apply one configmaps/a", config_map())], Refused(400, "BadRequest",
          "invalid object type: /, Kind=")),
    Story("an object of another kind", [("apply one configmaps/a", applied_thing("Secret"))], Refused(400,
          "BadRequest", "invalid object type: /v1, Kind=Secret")),
    Story("an object with managed fields", [("apply one configmaps/a", applied_thing("ConfigMap",
          metadata={"managedFields": []}))], Refused(400, "BadRequest", "metadata.managedFields must be nil")),
    Story("an object with a uid that is not there", [("apply one configmaps/a", applied_thing("ConfigMap",
          metadata={"uid": "u"}))], Refused(409, "Conflict",
          'Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object specified '
          'uid u, and no existing object was found', "configmaps a")),
    Story("an object with another uid", [("apply one configmaps/a", applied()), ("apply one configmaps/a",
          applied_thing("ConfigMap", metadata={"uid": "u"}))], Refused(422, "Invalid",
          'ConfigMap "a" is invalid: metadata.uid: Invalid value: "u": field is immutable', "ConfigMap a",
          ["FieldValueInvalid metadata.uid", "FieldValueInvalid metadata.uid"])),
    Story("an object of an old version", [("apply one configmaps/a", applied()), ("apply one configmaps/a",
          applied_thing("ConfigMap", metadata={"resourceVersion": "1"}))], Refused(409, "Conflict",
          'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply '
          'your changes to the latest version and try again', "configmaps a")),
    Story("a list", [("apply one configmaps/a", [])], Refused(400, "BadRequest",
          "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
          "array into Go value of type map[string]interface {}")),
    Story("a text", [("apply one configmaps/a", "text")], Refused(400, "BadRequest",
          "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
          "string into Go value of type map[string]interface {}")),
    Story("nothing", [("apply one configmaps/a", "")], Refused(400, "BadRequest", "invalid object type: /, Kind=")),
    Story("YAML that is none", [("apply one configmaps/a", "a: b: c")], Refused(400, "BadRequest",
          "error decoding YAML: error converting YAML to JSON: yaml: mapping values are not allowed in "
          "this context")),
    Story("a manager with a name that is too long", [(f"apply {'x' * 129} configmaps/a", applied())], Refused(422,
          "Invalid", 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
          "PatchOptions.meta.k8s.io", ["FieldValueTooLong fieldManager"])),
    Story("a manager that can't be printed", [("apply a%07b configmaps/a", applied())], Refused(422, "Invalid",
          'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\\ab": invalid '
          'character U+0007 (at position 1)', "PatchOptions.meta.k8s.io", ["FieldValueInvalid fieldManager"])),
    Story("a patch of another sort can't be forced", [("merge one configmaps/a?force=true", {})], Refused(422,
          "Invalid", 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply '
          'patch', "PatchOptions.meta.k8s.io", ["FieldValueForbidden force"])),
    Story("an unknown field below a known one", [("apply one deployments/web", applied_thing("Deployment",
          metadata={"name": "web", "color": "red"}))], misfit("/web; apps/v1, Kind=Deployment",
          ".metadata.color: field not declared in schema")),
]  # fmt: skip


@each(CONFIG_MAPS)
async def test_applying(raw: Raw, story: Story) -> None:
    await story.check(raw)


@each(UPDATES)
async def test_updating(raw: Raw, story: Story) -> None:
    await story.check(raw)


@each(LISTS_AND_MAPS)
async def test_lists_and_maps(raw: Raw, ownables: None, story: Story) -> None:
    await story.check(raw)


@each(DOORS)
async def test_subresources_and_versions(raw: Raw, ownables: None, story: Story) -> None:
    await story.check(raw)


@each(BUILT_IN)
async def test_built_in_kinds(raw: Raw, story: Story) -> None:
    await story.check(raw)


@each(KUBECTL)
async def test_the_annotation_of_client_side_apply(raw: Raw, story: Story) -> None:
    await story.check(raw)


@each(REFUSED)
async def test_what_can_not_be_applied(raw: Raw, story: Story) -> None:
    await story.check(raw)


async def test_applying_makes_what_is_not_there_with_201(raw: Raw) -> None:
    assert (await send(raw, "apply one configmaps/a", applied(k="v"))).code == 201
    assert (await send(raw, "apply one configmaps/a", applied(k="w"))).code == 200


async def test_applying_the_same_again_changes_neither_version_nor_time(raw: Raw) -> None:
    first = await send(raw, "apply one configmaps/a", applied(k="v"))
    again = await send(raw, "apply one configmaps/a", applied(k="v"))
    assert again.json == first.json


async def test_sharing_a_field_changes_the_version_but_the_new_owner_has_no_time(raw: Raw) -> None:
    first = (await send(raw, "apply one configmaps/a", applied(k="v"))).json
    shared = (await send(raw, "apply two configmaps/a", applied(k="v"))).json
    assert shared["metadata"]["resourceVersion"] != first["metadata"]["resourceVersion"]
    times = {entry["manager"]: entry.get("time") for entry in shared["metadata"]["managedFields"]}
    (owned,) = first["metadata"]["managedFields"]
    assert times == {"one": owned["time"], "two": None}


async def test_a_dry_run_shows_what_applying_would_lead_to_and_leaves_it(raw: Raw) -> None:
    first = await send(raw, "apply one configmaps/a", applied(k="v"))
    tried = await send(raw, "apply one configmaps/a?dryRun=All", applied(k="w"))
    assert tried.json["data"] == {"k": "w"}
    assert tried.json["metadata"]["resourceVersion"] == first.json["metadata"]["resourceVersion"]
    assert await raw.ok("GET configmaps/a") == first.json


async def test_a_dry_run_of_what_is_not_there(raw: Raw) -> None:
    tried = await send(raw, "apply one configmaps/a?dryRun=All", applied(k="v"))
    assert tried.code == 201
    assert owners(tried.json) == {"one Apply v1": ".data.k"}
    assert (await raw("GET configmaps/a")).code == 404


async def test_a_dry_run_conflicts_all_the_same(raw: Raw) -> None:
    await send(raw, "apply one configmaps/a", applied(k="v"))
    assert (await send(raw, "apply two configmaps/a?dryRun=All", applied(k="w"))).code == 409


async def test_applying_with_the_current_version_stated(raw: Raw) -> None:
    first = (await send(raw, "apply one configmaps/a", applied(k="v"))).json
    version = {"resourceVersion": first["metadata"]["resourceVersion"], "uid": first["metadata"]["uid"]}
    again = await send(raw, "apply one configmaps/a", applied_thing("ConfigMap", metadata=version, data={"k": "w"}))
    assert owners(again.json) == {"one Apply v1": ".data.k"}


async def test_a_version_of_what_is_not_there_is_ignored(raw: Raw) -> None:
    made = await send(raw, "apply one configmaps/a", applied_thing("ConfigMap", metadata={"resourceVersion": "1"}))
    assert made.code == 201


async def test_the_generation_moves_with_what_is_applied(raw: Raw, ownables: None) -> None:
    generations = []
    for size in (1, 1, 2):
        made = await send(raw, "apply one ownables/o", ownable(size=size))
        generations.append(made.json["metadata"]["generation"])
    shared = await send(raw, "apply two ownables/o", ownable(size=2))
    assert [*generations, shared.json["metadata"]["generation"]] == [1, 1, 2, 2]


async def test_force_is_said_in_many_ways(raw: Raw) -> None:
    await send(raw, "apply one configmaps/a", applied(k="0"))
    for word, code in (("1", 200), ("true", 200), ("yes", 200), ("", 200), ("0", 409), ("False", 409)):
        answer = await send(raw, f"apply two{word} configmaps/a?force={word}", applied(k=f"v{word}"))
        assert answer.code == code, word


async def test_nobody_can_not_apply(raw: Raw) -> None:
    answer = await raw("PATCH configmaps/a", applied(), patch="apply")
    required = "fieldManager: Required value: is required for apply patch"
    assert answer.refusal == Refused(
        422,
        "Invalid",
        f'PatchOptions.meta.k8s.io "" is invalid: {required}',
        "PatchOptions.meta.k8s.io",
        ["FieldValueRequired fieldManager"],
    )


@pytest.mark.parametrize(
    ("agent", "manager"),
    [("kubectl/v1.36 (linux)", "kubectl"), ("a b", "a b"), ("x" * 200, "x" * 128), ("/v1", "unknown")],
)
async def test_the_manager_of_a_program_that_names_none(raw: Raw, agent: str, manager: str) -> None:
    made = await raw("POST configmaps", config_map(data={"k": "v"}), headers={"User-Agent": agent})
    assert owners(made.json) == {f"{manager} Update v1": ".data .data.k"}


async def test_the_oldest_entries_of_managed_fields_come_first(raw: Raw) -> None:
    await send(raw, "create z configmaps", config_map(data={"k": "v"}))
    await send(raw, "apply y configmaps/a", applied(k="v"))
    shown = (await send(raw, "apply b configmaps/a", applied(l="v"))).json
    order = [(entry["operation"], entry["manager"]) for entry in shown["metadata"]["managedFields"]]
    # Who has no time because nothing was changed counts as oldest.
    assert order == [("Apply", "y"), ("Apply", "b"), ("Update", "z")]


async def test_the_default_namespace_is_the_servers_own(raw: Raw) -> None:
    shown = await raw.ok("GET /api/v1/namespaces/default")
    paths = ".metadata.labels .metadata.labels.kubernetes.io/metadata.name"
    assert owners(shown) == {"kube-apiserver Update v1": paths}


async def test_the_client_applies(raw: Raw, client: Client) -> None:
    def thing(**data: str) -> ConfigMap:
        return ConfigMap(metadata=ObjectMeta(name="a", namespace=raw.namespace), data=data)

    made = await client.apply(thing(k="v"), field_manager="one")
    again = await client.apply(thing(k="v"), field_manager="one")
    assert again.metadata.resource_version == made.metadata.resource_version
    with pytest.raises(Conflict, match=r'conflict with "one": \.data\.k'):
        await client.apply(thing(k="w"), field_manager="two")
    forced = await client.apply(thing(k="w"), field_manager="two", force=True)
    assert [entry.manager for entry in forced.metadata.managed_fields] == ["two"]


@pytest.mark.parametrize(
    ("how", "code", "warnings"),
    [("", 201, ['299 - "line 6: key \\"k\\" already set in map"']), ("Ignore", 201, []), ("Strict", 400, [])],
)
async def test_yaml_with_a_key_that_comes_twice(raw: Raw, how: str, code: int, warnings: list[str]) -> None:
    body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: "1"\n  k: "2"\n'
    answer = await raw(f"PATCH configmaps/a?fieldManager=one&fieldValidation={how}", body, patch="apply")
    assert (answer.code, answer.warnings) == (code, warnings)
    if code == 400:
        problem = 'error converting YAML to JSON: yaml: unmarshal errors:\n  line 6: key "k" already set in map'
        assert answer.json["message"] == f"error strict decoding YAML: {problem}"
    else:
        assert answer.json["data"] == {"k": "2"}


@pytest.mark.parametrize(
    ("place", "thing", "problem"),
    [
        (
            "secrets/a",
            applied_thing("Secret", data={"k": "%"}),
            "error decoding from json: illegal base64 data at input byte 0",
        ),
        ("deployments/web", applied_thing("Deployment", **deployment(replicas=1.5)), "cannot convert float64 to int32"),
        (
            "services/s",
            applied_thing("Service", **service(ports=[{"port": 80, "targetPort": 1.5}])),
            "json: cannot unmarshal number 1.5 into Go value of type int32",
        ),
    ],
    ids=["bytes", "a number", "a number or a name"],
)
async def test_what_the_schema_lets_through_must_fit_the_type(raw: Raw, place: str, thing: Thing, problem: str) -> None:
    answer = await raw(f"PATCH {place}?fieldManager=one", thing, patch="apply")
    version = thing["apiVersion"] if "/" in thing["apiVersion"] else f"/{thing['apiVersion']}"
    kind = f"{version}, Kind={thing['kind']}"
    why = f"unable to convert unstructured object to {kind}: {problem}"
    what = f"failed to convert new object (/{thing['metadata']['name']}; {kind}) to proper version: {why}"
    assert answer.refusal == Refused(500, "", what)


async def test_who_defines_a_kind_does_not_own_its_status(raw: Raw, ownables: None) -> None:
    shown = await raw.ok(f"GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/ownables.{GROUP}")
    found = owners(shown)
    assert set(found) == {
        "conformance Update apiextensions.k8s.io/v1",
        "kube-apiserver Update apiextensions.k8s.io/v1 status",
    }
    accepted = [path for path in found["kube-apiserver Update apiextensions.k8s.io/v1 status"].split() if "." in path]
    assert all(path.startswith(".status.") for path in accepted)


async def test_a_generated_namespace_has_a_label_of_nobody(raw: Raw) -> None:
    shown = await raw.ok(f"GET /api/v1/namespaces/{raw.namespace}")
    assert shown["metadata"]["labels"] == {"kubernetes.io/metadata.name": raw.namespace}
    assert owners(shown) == {"conformance Update v1": ".metadata.generateName"}


async def test_a_daemon_sets_template_is_counted(raw: Raw) -> None:
    count = "deprecated.daemonset.template.generation"
    made = await raw.ok("POST daemonsets?fieldManager=one", deployment())
    same = await raw.ok("PUT daemonsets/web?fieldManager=two", deployment())
    changed = await raw.ok(
        "PATCH daemonsets/web?fieldManager=three", {"spec": {"template": {"spec": {"hostPID": True}}}}, patch="merge"
    )
    assert [each["metadata"]["annotations"][count] for each in (made, same, changed)] == ["1", "1", "2"]
    assert f".metadata.annotations.{count}" in owners(made)["one Update apps/v1"]
    assert owners(same)["two Update apps/v1"] == f".metadata.annotations.{count}"


async def test_deleting_takes_nobodys_fields(raw: Raw) -> None:
    finalized = applied_thing("ConfigMap", metadata={"finalizers": ["a.example/x"]}, data={"k": "v"})
    made = (await send(raw, "apply one configmaps/a", finalized)).json
    await raw.ok("DELETE configmaps/a")
    leaving = await raw.ok("GET configmaps/a")
    assert leaving["metadata"]["managedFields"] == made["metadata"]["managedFields"]
