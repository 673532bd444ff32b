"""Names, labels, annotations, owners and finalizers: what the server accepts of them."""

from datetime import datetime
from typing import Any

import pytest

from conformance.cases import Case, each
from conformance.crds import custom, gadget
from conformance.objects import config_map, deployment, pod, service
from conformance.requests import Raw, Refused, Shows
from windvane import ambient

OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}

NAMES = [
    Case("a name with capitals", "POST configmaps", config_map("Big"),
         Refused(422, "Invalid",
                 'ConfigMap "Big" is invalid: metadata.name: Invalid value: "Big": a lowercase RFC 1123 subdomain '
                 "must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
                 "alphanumeric character (e.g. 'example.com', regex used for validation is "
                 "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
                 "ConfigMap Big", ["FieldValueInvalid metadata.name"])),
    Case("a name with dots is fine for a config map", "POST configmaps", config_map("a.b"), Shows(201)),
    Case("a name that ends with a dash", "POST configmaps", config_map("a-"),
         Refused(422, "Invalid",
                 'ConfigMap "a-" is invalid: metadata.name: Invalid value: "a-": a lowercase RFC 1123 subdomain '
                 "must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
                 "alphanumeric character (e.g. 'example.com', regex used for validation is "
                 "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
                 "ConfigMap a-", ["FieldValueInvalid metadata.name"])),
    Case("a name with a slash", "POST configmaps", config_map("a/b"),
         Refused(422, "Invalid",
                 'ConfigMap "a/b" is invalid: metadata.name: Invalid value: "a/b": a lowercase RFC 1123 subdomain '
                 "must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
                 "alphanumeric character (e.g. 'example.com', regex used for validation is "
                 "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
                 "ConfigMap a/b", ["FieldValueInvalid metadata.name"])),
    Case("a service's name has no dots", "POST services", service("a.b"),
         Refused(422, "Invalid",
                 'Service "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots',
                 "Service a.b", ["FieldValueInvalid metadata.name"])),
    Case("a service's name may begin with a digit", "POST services", service("1a"), Shows(201)),
    Case("a namespace's name has no dots", "POST /api/v1/namespaces", {"metadata": {"name": "a.b"}},
         Refused(422, "Invalid",
                 'Namespace "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots',
                 "Namespace a.b", ["FieldValueInvalid metadata.name"])),
    Case("a role's name may have colons", "POST roles", {"metadata": {"name": "system:Any_thing"}}, Shows(201)),
    Case("a role's name has no slashes", "POST roles", {"metadata": {"name": "a/b"}},
         Refused(422, "Invalid",
                 'Role.rbac.authorization.k8s.io "a/b" is invalid: metadata.name: Invalid value: "a/b": may not '
                 "contain '/'",
                 "Role.rbac.authorization.k8s.io a/b", ["FieldValueInvalid metadata.name"])),
    Case("a role's name is not two dots", "POST roles", {"metadata": {"name": ".."}},
         Refused(422, "Invalid",
                 'Role.rbac.authorization.k8s.io ".." is invalid: metadata.name: Invalid value: "..": may not be '
                 "'..'",
                 "Role.rbac.authorization.k8s.io ..", ["FieldValueInvalid metadata.name"])),
    Case("a deployment's name with dots is warned about", "POST deployments", deployment("a.b"),
         Shows(201, warnings=[
             ('299 - "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; '
              'a DNS label is recommended: [must not contain dots]"')])),
    Case("a custom object's name has no capitals", "POST gadgets", gadget("Big"),
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "Big" is invalid: metadata.name: Invalid value: "Big": a '
                 "lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
                 "must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation "
                 "is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
                 "Gadget.conformance.windvane.dev Big", ["FieldValueInvalid metadata.name"])),
    Case("a custom object needs a name", "POST gadgets", {**gadget(), "metadata": {}},
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "" is invalid: metadata.name: Required value: name or '
                 "generateName is required",
                 "Gadget.conformance.windvane.dev", ["FieldValueRequired metadata.name"])),
    Case("a stateful set's name is a label", "POST statefulsets", deployment("a.b", serviceName="s"),
         Refused(422, "Invalid",
                 'StatefulSet.apps "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots',
                 "StatefulSet.apps a.b", ["FieldValueInvalid metadata.name"])),
]  # fmt: skip

LABELS = [
    Case("a label's key with a space", "POST configmaps", config_map(metadata={"labels": {"a b": "c"}}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: metadata.labels: Invalid value: "a b": name part must consist of '
                 "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
                 "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
                 "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
                 "ConfigMap a", ["FieldValueInvalid metadata.labels"])),
    Case("a label's key with two slashes", "POST configmaps", config_map(metadata={"labels": {"a/b/c": "d"}}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: metadata.labels: Invalid value: "a/b/c": a valid label key must consist '
                 "of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
                 "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
                 "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. "
                 "'example.com/MyName')",
                 "ConfigMap a", ["FieldValueInvalid metadata.labels"])),
    Case("a label's key with an empty prefix", "POST configmaps", config_map(metadata={"labels": {"/b": "d"}}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: metadata.labels: Invalid value: "/b": prefix part must be non-empty',
                 "ConfigMap a", ["FieldValueInvalid metadata.labels"])),
    Case("a label's key with a prefix in capitals", "POST configmaps",
         config_map(metadata={"labels": {"A.com/b": "d"}}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: metadata.labels: Invalid value: "A.com/b": prefix part a lowercase RFC '
                 "1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
                 "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
                 "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
                 "ConfigMap a", ["FieldValueInvalid metadata.labels"])),
    Case("an empty label's key", "POST configmaps", config_map(metadata={"labels": {"": "d"}}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: [metadata.labels: Invalid value: "": name part must be non-empty, '
                 "metadata.labels: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' "
                 "or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
                 "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]",
                 "ConfigMap a", ["FieldValueInvalid metadata.labels", "FieldValueInvalid metadata.labels"])),
    Case("a label's value with a space", "POST configmaps", config_map(metadata={"labels": {"a": "b c"}}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: metadata.labels: Invalid value: "b c": a valid label must be an empty '
                 "string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
                 "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
                 "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
                 "ConfigMap a", ["FieldValueInvalid metadata.labels"])),
    Case("an empty label's value is fine", "POST configmaps", config_map(metadata={"labels": {"a": ""}}),
         Shows(201, {"metadata": {"labels": {"a": ""}}})),
    Case("a custom object's labels are checked too", "POST gadgets",
         {**gadget(), "metadata": {"name": "g", "labels": {"a": "b c"}}},
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: metadata.labels: Invalid value: "b c": a valid '
                 "label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
                 "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex "
                 "used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
                 "Gadget.conformance.windvane.dev g", ["FieldValueInvalid metadata.labels"])),
    Case("a pod template's labels are checked too", "POST deployments",
         deployment(selector={"matchLabels": {"app": "b c"}},
                    template={"metadata": {"labels": {"app": "b c"}},
                              "spec": {"containers": [{"name": "m", "image": "x"}]}}),
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: [spec.selector.matchLabels: Invalid value: "b c": a valid label '
                 "must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
                 "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
                 "for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'), spec.selector: Invalid value: "
                 '{"matchLabels":{"app":"b c"}}: invalid label selector]',
                 "Deployment.apps web",
                 ["FieldValueInvalid spec.selector.matchLabels", "FieldValueInvalid spec.selector"])),
    Case("an annotation's key with a space", "POST configmaps", config_map(metadata={"annotations": {"a b": "c"}}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: metadata.annotations: Invalid value: "a b": name part must consist of '
                 "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
                 "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
                 "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
                 "ConfigMap a", ["FieldValueInvalid metadata.annotations"])),
    Case("an annotation's key in capitals is fine", "POST configmaps",
         config_map(metadata={"annotations": {"A.com/B": "c d\n"}}),
         Shows(201, {"metadata": {"annotations": {"A.com/B": "c d\n"}}})),
    Case("annotations of more than 256 kibibytes", "POST configmaps",
         config_map(metadata={"annotations": {"a": "x" * 262144}}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes',
                 "ConfigMap a", ["FieldValueTooLong metadata.annotations"])),
    Case("a finalizer without a slash", "POST configmaps", config_map(metadata={"finalizers": ["x"]}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: metadata.finalizers[0]: Invalid value: "x": name is neither a standard '
                 "finalizer name nor is it fully qualified",
                 "ConfigMap a", ["FieldValueInvalid metadata.finalizers[0]"])),
    Case("a finalizer with a space", "POST configmaps", config_map(metadata={"finalizers": ["a.com/x y"]}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: metadata.finalizers: Invalid value: "a.com/x y": name part must consist '
                 "of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
                 "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
                 "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
                 "ConfigMap a", ["FieldValueInvalid metadata.finalizers"])),
    Case("a finalizer that is empty", "POST configmaps", config_map(metadata={"finalizers": [""]}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: [metadata.finalizers: Invalid value: "": name part must be non-empty, '
                 "metadata.finalizers: Invalid value: \"\": name part must consist of alphanumeric characters, '-', "
                 "'_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  "
                 "or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), "
                 'metadata.finalizers[0]: Invalid value: "": name is neither a standard finalizer name nor is it '
                 "fully qualified]",
                 "ConfigMap a", ["FieldValueInvalid metadata.finalizers", "FieldValueInvalid metadata.finalizers",
                  "FieldValueInvalid metadata.finalizers[0]"])),
    Case("the well-known finalizers have no slash", "POST configmaps",
         config_map(metadata={"finalizers": ["orphan"]}), Shows(201, {"metadata": {"finalizers": ["orphan"]}})),
    Case("orphan and foreground at once", "POST configmaps",
         config_map(metadata={"finalizers": ["orphan", "foregroundDeletion"]}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: '
                 "finalizer orphan and foregroundDeletion cannot be both set",
                 "ConfigMap a", ["FieldValueInvalid metadata.finalizers"])),
    Case("a custom object's finalizer without a slash", "POST gadgets",
         {**gadget(), "metadata": {"name": "g", "finalizers": ["x"]}},
         Shows(201, warnings=[
             ('299 - "metadata.finalizers: \\"x\\": prefer a domain-qualified finalizer name to avoid accidental '
              'conflicts with other finalizer writers"')])),
]  # fmt: skip

OWNERS = [
    Case("an owner is kept", "POST configmaps", config_map(metadata={"ownerReferences": [OWNER]}),
         Shows(201, {"metadata": {"ownerReferences": [OWNER]}})),
    Case("an owner needs all its fields", "POST configmaps", config_map(metadata={"ownerReferences": [{}]}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: [metadata.ownerReferences.apiVersion: Invalid value: "": version must '
                 'not be empty, metadata.ownerReferences.kind: Invalid value: "": must not be empty, '
                 'metadata.ownerReferences.name: Invalid value: "": must not be empty, '
                 'metadata.ownerReferences.uid: Invalid value: "": must not be empty]',
                 "ConfigMap a", ["FieldValueInvalid metadata.ownerReferences.apiVersion",
                  "FieldValueInvalid metadata.ownerReferences.kind",
                  "FieldValueInvalid metadata.ownerReferences.name",
                  "FieldValueInvalid metadata.ownerReferences.uid"])),
    Case("an owner of a version that can't be", "POST configmaps",
         config_map(metadata={"ownerReferences": [{**OWNER, "apiVersion": "a/b/c"}]}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version '
                 "must not be empty",
                 "ConfigMap a", ["FieldValueInvalid metadata.ownerReferences.apiVersion"])),
    Case("two controllers", "POST configmaps",
         config_map(metadata={"ownerReferences": [
{**OWNER, "controller": True}, {**OWNER, "name": "p", "uid": "v", "controller": True}]}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: metadata.ownerReferences: Invalid value: '
                 '[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u","controller":true},'
                 '{"apiVersion":"v1","kind":"ConfigMap","name":"p","uid":"v","controller":true}]: '
                 'Only one reference can have Controller set to true. Found "true" in references for ConfigMap/o '
                 "and ConfigMap/p",
                 "ConfigMap a", ["FieldValueInvalid metadata.ownerReferences"])),
    Case("one owner twice", "POST configmaps", config_map(metadata={"ownerReferences": [OWNER, OWNER]}),
         Shows(201, {"metadata": {"ownerReferences": [OWNER]}}, warnings=[
             ('299 - ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in '
              '1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) '
              'observed: u"')])),
    Case("an event can't be an owner", "POST configmaps",
         config_map(metadata={"ownerReferences": [{**OWNER, "kind": "Event"}]}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: metadata.ownerReferences: Invalid value: '
                 '{"apiVersion":"v1","kind":"Event","name":"o","uid":"u"}: /v1, Kind=Event is disallowed from being '
                 "an owner",
                 "ConfigMap a", ["FieldValueInvalid metadata.ownerReferences"])),
    Case("several complaints about metadata", "POST configmaps",
         config_map("Big", metadata={"labels": {"a": "b c"}, "finalizers": ["x"]}),
         Refused(422, "Invalid",
                 'ConfigMap "Big" is invalid: [metadata.name: Invalid value: "Big": a lowercase RFC 1123 subdomain '
                 "must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
                 "alphanumeric character (e.g. 'example.com', regex used for validation is "
                 "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), metadata.labels: Invalid "
                 "value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', "
                 "'_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
                 "'my_value',  or '12345', regex used for validation is "
                 "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'), metadata.finalizers[0]: Invalid value: \"x\": "
                 "name is neither a standard finalizer name nor is it fully qualified]",
                 "ConfigMap Big", ["FieldValueInvalid metadata.name", "FieldValueInvalid metadata.labels",
                  "FieldValueInvalid metadata.finalizers[0]"])),
]  # fmt: skip


@each(NAMES)
async def test_names(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


@each(LABELS)
async def test_labels_annotations_and_finalizers(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


@each(OWNERS)
async def test_owners(raw: Raw, case: Case) -> None:
    await case.check(raw)


LENGTHS = [
    ("configmaps", config_map, 253),
    ("services", service, 63),
    ("deployments", deployment, 253),
    ("pods", pod, 253),
]


@pytest.mark.parametrize(("plural", "made", "most"), LENGTHS, ids=[each[0] for each in LENGTHS])
async def test_the_longest_name(raw: Raw, plural: str, made: Any, most: int) -> None:
    assert (await raw(f"POST {plural}", made("x" * most))).code == 201
    refusal = (await raw(f"POST {plural}", made("x" * (most + 1)))).refusal
    complaint = refusal.message.replace("x" * (most + 1), "LONG").partition(": ")[2]
    assert complaint == f'metadata.name: Invalid value: "LONG": must be no more than {most} characters'


async def test_a_made_up_name_must_be_valid_too(raw: Raw) -> None:
    refusal = (await raw("POST configmaps", {"metadata": {"generateName": "Big-"}})).refusal
    assert refusal.causes == ["FieldValueInvalid metadata.generateName", "FieldValueInvalid metadata.name"]


async def test_the_longest_label(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a", metadata={"labels": {"x" * 63: "x" * 63}}))
    refusal = (await raw("POST configmaps", config_map("b", metadata={"labels": {"x" * 64: "y" * 64}}))).refusal
    assert refusal.message.replace("x" * 64, "KEY").replace("y" * 64, "VALUE") == (
        'ConfigMap "b" is invalid: [metadata.labels: Invalid value: "KEY": name part must be no more '
        'than 63 bytes, metadata.labels: Invalid value: "VALUE": must be no more than 63 bytes]'
    )


async def test_managed_fields_can_be_cleared(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map(data={"k": "v"}))
    assert len(made["metadata"]["managedFields"]) == 1
    cleared = {**made, "metadata": {**made["metadata"], "managedFields": [{}]}}
    assert "managedFields" not in (await raw.ok("PUT configmaps/a", cleared))["metadata"]


async def test_an_empty_list_of_managed_fields_clears_them_too(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map(data={"k": "v"}))
    cleared = {**made, "metadata": {**made["metadata"], "managedFields": []}}
    assert "managedFields" not in (await raw.ok("PUT configmaps/a", cleared))["metadata"]


async def test_an_update_without_managed_fields_keeps_them(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map(data={"k": "v"}))
    after = await raw.ok("PUT configmaps/a", config_map(data={"k": "v"}))
    assert after["metadata"]["managedFields"] == made["metadata"]["managedFields"]


async def test_who_wrote_a_field_is_remembered(raw: Raw) -> None:
    before = ambient.now().replace(microsecond=0)
    made = await raw.ok("POST configmaps?fieldManager=me", config_map(data={"k": "v"}))
    (entry,) = made["metadata"]["managedFields"]
    # A real server looks at the clock once more for when it was created: that may be a second later.
    assert before <= datetime.fromisoformat(entry.pop("time")) <= ambient.now()
    assert entry == {
        "manager": "me",
        "operation": "Update",
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {".": {}, "f:k": {}}},
    }


async def test_without_a_name_the_user_agent_is_the_manager(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map(data={"k": "v"}))
    assert made["metadata"]["managedFields"][0]["manager"] == "conformance"


async def test_finalizers_are_kept_in_order(raw: Raw) -> None:
    finalizers = ["b.example/x", "a.example/x"]
    made = await raw.ok("POST configmaps", config_map(metadata={"finalizers": finalizers}))
    assert made["metadata"]["finalizers"] == finalizers


async def test_unknown_metadata_of_a_custom_object_is_dropped(raw: Raw, crds: None) -> None:
    made = await raw.ok("POST openthings", custom("OpenThing", "o", metadata={"color": "red"}, anything=1))
    assert "color" not in made["metadata"]
    assert made["anything"] == 1
