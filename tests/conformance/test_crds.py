"""Custom kinds: what a CRD must be, what it makes of objects, and how it comes and goes."""

import asyncio
from copy import deepcopy
from typing import Any

import pytest

from conformance.cases import Case, each
from conformance.crds import CRDS, GROUP, custom, definition, gadget, serve
from conformance.objects import Thing
from conformance.requests import SECONDS, Raw, Refused, Shows

ADD_UNTYPED = {"op": "add", "path": "/status/conditions/-", "value": {"message": "whatever"}}
ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

SCHEMA = [
    Case("a missing required field", "POST gadgets", custom("Gadget", "g", spec={}),
         Refused(422, "Invalid", 'Gadget.conformance.windvane.dev "g" is invalid: spec.size: Required value',
                 "Gadget.conformance.windvane.dev g", ["FieldValueRequired spec.size"])),
    Case("a missing spec", "POST gadgets", custom("Gadget", "g"),
         Refused(422, "Invalid", 'Gadget.conformance.windvane.dev "g" is invalid: spec: Required value',
                 "Gadget.conformance.windvane.dev g", ["FieldValueRequired spec"])),
    Case("a number below the minimum", "POST gadgets", gadget(size=0),
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: spec.size: Invalid value: 0: spec.size in body '
                 "should be greater than or equal to 1",
                 "Gadget.conformance.windvane.dev g", ["FieldValueInvalid spec.size"])),
    Case("a number above the maximum", "POST gadgets", gadget(size=11),
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: spec.size: Invalid value: 11: spec.size in body '
                 "should be less than or equal to 10",
                 "Gadget.conformance.windvane.dev g", ["FieldValueInvalid spec.size"])),
    Case("text where a number belongs in a custom object", "POST gadgets", gadget(size="x"),
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: spec.size: Invalid value: "string": spec.size in '
                 'body must be of type integer: "string"',
                 "Gadget.conformance.windvane.dev g", ["FieldValueTypeInvalid spec.size"])),
    Case("a fraction where an integer belongs", "POST gadgets", gadget(size=1.5),
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: [spec.size: Invalid value: "number": spec.size in '
                 'body must be of type integer: "number", <nil>: Invalid value: "": Checked value must be of type '
                 "integer (default format) in spec.size]",
                 "Gadget.conformance.windvane.dev g", ["FieldValueTypeInvalid spec.size", "FieldValueInvalid <nil>"])),
    Case("a whole number written as a fraction", "POST gadgets", gadget(size=2.0), Shows(201, {"spec": {"size": 2}})),
    Case("a value that is not in the enumeration", "POST gadgets", gadget(color="blue"),
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: spec.color: Unsupported value: "blue": supported '
                 'values: "red", "green"',
                 "Gadget.conformance.windvane.dev g", ["FieldValueNotSupported spec.color"])),
    Case("a text that does not match", "POST gadgets", gadget(code="ABC"),
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: spec.code: Invalid value: "ABC": spec.code in '
                 "body should match '^[a-z]+$'",
                 "Gadget.conformance.windvane.dev g", ["FieldValueInvalid spec.code"])),
    Case("a text that is too long and does not match", "POST gadgets", gadget(code="ABCDEFG"),
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: spec.code: Too long: may not be more than 5 bytes',
                 "Gadget.conformance.windvane.dev g", ["FieldValueTooLong spec.code"])),
    Case("too many items", "POST gadgets", gadget(tags=["a", "b", "c", "d"]),
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: spec.tags: Too many: 4: must have at most 3 items',
                 "Gadget.conformance.windvane.dev g", ["FieldValueTooMany spec.tags"])),
    Case("an item twice in a set", "POST gadgets", gadget(tags=["a", "a"]),
         Refused(422, "Invalid", 'Gadget.conformance.windvane.dev "g" is invalid: spec.tags[1]: Duplicate value: "a"',
                 "Gadget.conformance.windvane.dev g", ["FieldValueDuplicate spec.tags[1]"])),
    Case("a key twice in a map", "POST gadgets", gadget(ports=[{"name": "x"}, {"name": "x"}]),
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: spec.ports[1]: Duplicate value: {"name":"x"}',
                 "Gadget.conformance.windvane.dev g", ["FieldValueDuplicate spec.ports[1]"])),
    Case("an item without its key", "POST gadgets", gadget(ports=[{"port": 1}]),
         Refused(422, "Invalid", 'Gadget.conformance.windvane.dev "g" is invalid: spec.ports[0].name: Required value',
                 "Gadget.conformance.windvane.dev g", ["FieldValueRequired spec.ports[0].name"])),
    Case("an item of a wrong type", "POST gadgets", gadget(tags=["a", 1]),
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: spec.tags[1]: Invalid value: "integer": '
                 'spec.tags[1] in body must be of type string: "integer"',
                 "Gadget.conformance.windvane.dev g", ["FieldValueTypeInvalid spec.tags[1]"])),
    Case("text that is no time in a custom object", "POST gadgets", gadget(when="yesterday"),
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: spec.when: Invalid value: "yesterday": spec.when '
                 'in body must be of type date-time: "yesterday"',
                 "Gadget.conformance.windvane.dev g", ["FieldValueTypeInvalid spec.when"])),
    Case("a number that is no multiple", "POST gadgets", gadget(ratio=0.7),
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: spec.ratio: Invalid value: 0.7: spec.ratio in '
                 "body should be a multiple of 0.5",
                 "Gadget.conformance.windvane.dev g", ["FieldValueInvalid spec.ratio"])),
    Case("neither number nor text", "POST gadgets", gadget(target=True),
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: spec.target: Invalid value: "boolean": '
                 'spec.target in body must be of type integer,string: "boolean"',
                 "Gadget.conformance.windvane.dev g", ["FieldValueTypeInvalid spec.target"])),
    Case("a map's value of a wrong type", "POST gadgets", gadget(settings={"a": 1}),
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: spec.settings.a: Invalid value: "integer": '
                 'spec.settings.a in body must be of type string: "integer"',
                 "Gadget.conformance.windvane.dev g", ["FieldValueTypeInvalid spec.settings.a"])),
    Case("an integer that is too large for its format", "POST gadgets", gadget(replicas=2**31),
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: [<nil>: Invalid value: "": Checked value must be '
                 "of type integer with format int32 in spec.replicas, .spec.replicas: Invalid value: 2147483648: "
                 "should be less than or equal to 2147483647]",
                 "Gadget.conformance.windvane.dev g",
                 ["FieldValueInvalid <nil>", "FieldValueInvalid .spec.replicas"])),
    Case("null where it is not allowed is dropped for the default", "POST gadgets", gadget(color=None),
         Shows(201, {"spec": {"color": "red"}})),
    Case("null where it is not allowed and there is no default", "POST gadgets", gadget(code=None),
         Shows(201, {"spec": {"code": None}})),
    Case("null where it is allowed", "POST gadgets", gadget(note=None), Shows(201, {"spec": {"note": None}})),
    Case("a number or a text", "POST gadgets", gadget(target="80%"), Shows(201, {"spec": {"target": "80%"}})),
    Case("defaults are filled in", "POST gadgets", gadget(ports=[{"name": "x"}]),
         Shows(201, {"spec": {"color": "red", "limits": {"cpu": "1"}, "ports": [{"name": "x", "port": 80}]}})),
    Case("unknown fields are kept where a schema says so", "POST gadgets", gadget(extra={"a": {"b": [1]}}),
         Shows(201, {"spec": {"extra": {"a": {"b": [1]}}}})),
    Case("any key goes into a map", "POST gadgets", gadget(settings={"a": "b"}),
         Shows(201, {"spec": {"settings": {"a": "b"}}})),
    Case("an invalid update", "PATCH gadgets/g", {"spec": {"size": 0}},
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: spec.size: Invalid value: 0: spec.size in body '
                 "should be greater than or equal to 1",
                 "Gadget.conformance.windvane.dev g", ["FieldValueInvalid spec.size"]),
         before=[("POST gadgets", gadget())], patch="merge"),
    Case("a required field that is removed", "PATCH gadgets/g", {"spec": {"size": None}},
         Refused(422, "Invalid", 'Gadget.conformance.windvane.dev "g" is invalid: spec.size: Required value',
                 "Gadget.conformance.windvane.dev g", ["FieldValueRequired spec.size"]),
         before=[("POST gadgets", gadget())], patch="merge"),
]  # fmt: skip


@each(SCHEMA)
async def test_a_schema(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


def broken(**changes: Any) -> Thing:
    """A CRD with some fields of its spec replaced."""
    made = definition("things", "Thing", ANY)
    made["spec"] |= changes
    return made


def schema(**properties: Any) -> Thing:
    return definition("things", "Thing", {"type": "object", "properties": properties})


def versions(*each_version: Thing) -> Thing:
    return broken(
        versions=[{"served": True, "storage": False, "schema": {"openAPIV3Schema": ANY}, **one} for one in each_version]
    )


BAD = [
    Case("a name that is not plural and group", f"POST {CRDS}", {**broken(), "metadata": {"name": "other"}},
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "other" is invalid: metadata.name: Invalid value: '
                 '"other": must be spec.names.plural+"."+spec.group',
                 "CustomResourceDefinition.apiextensions.k8s.io other", ["FieldValueInvalid metadata.name"])),
    Case("no group", f"POST {CRDS}", broken(group=""),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 '[metadata.name: Invalid value: "things.conformance.windvane.dev": must be '
                 'spec.names.plural+"."+spec.group, spec.group: Required value]',
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueInvalid metadata.name", "FieldValueRequired spec.group"])),
    Case("a scope that there is none of", f"POST {CRDS}", broken(scope="Galaxy"),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 'spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"',
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueNotSupported spec.scope"])),
    Case("no names", f"POST {CRDS}", broken(names={}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 '[metadata.name: Invalid value: "things.conformance.windvane.dev": must be '
                 'spec.names.plural+"."+spec.group, spec.names.plural: Required value, spec.names.singular: '
                 "Required value, spec.names.kind: Required value, spec.names.listKind: Required value]",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueInvalid metadata.name", "FieldValueRequired spec.names.plural",
                  "FieldValueRequired spec.names.singular", "FieldValueRequired spec.names.kind",
                  "FieldValueRequired spec.names.listKind"])),
    Case("a plural with capitals", f"POST {CRDS}", broken(names={"plural": "Things", "kind": "Thing"}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 '[metadata.name: Invalid value: "things.conformance.windvane.dev": must be '
                 'spec.names.plural+"."+spec.group, spec.names.plural: Invalid value: "Things": a DNS-1035 label '
                 "must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
                 "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation "
                 "is '[a-z]([-a-z0-9]*[a-z0-9])?')]",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueInvalid metadata.name", "FieldValueInvalid spec.names.plural"])),
    Case("no versions", f"POST {CRDS}", broken(versions=[]),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 "[spec.versions: Invalid value: []: must have exactly one version marked as storage version, "
                 "status.storedVersions: Invalid value: null: must have at least one stored version]",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueInvalid spec.versions", "FieldValueInvalid status.storedVersions"])),
    Case("a version's name that can't be", f"POST {CRDS}", versions({"name": "V 1", "storage": True}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 '[spec.versions[0].name: Invalid value: "V 1": a DNS-1035 label must consist of lower case '
                 "alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric "
                 "character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
                 "'[a-z]([-a-z0-9]*[a-z0-9])?'), spec.version: Invalid value: \"V 1\": a DNS-1035 label must "
                 "consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end "
                 "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
                 "'[a-z]([-a-z0-9]*[a-z0-9])?')]",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueInvalid spec.versions[0].name", "FieldValueInvalid spec.version"])),
    Case("no schema", f"POST {CRDS}", versions({"name": "v1", "storage": True, "schema": None}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 "spec.versions[0].schema.openAPIV3Schema: Required value",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueRequired spec.versions[0].schema.openAPIV3Schema"])),
    Case("a schema that is no object", f"POST {CRDS}", definition("things", "Thing", {"type": "string"}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 'spec.validation.openAPIV3Schema.type: Invalid value: "string": must be object at the root',
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueInvalid spec.validation.openAPIV3Schema.type"])),
    Case("a schema without types", f"POST {CRDS}", schema(a={"properties": {"b": {}}}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 "[spec.validation.openAPIV3Schema.properties[a].properties[b].type: Required value: must not be "
                 "empty for specified object fields, spec.validation.openAPIV3Schema.properties[a].type: Required "
                 "value: must not be empty for specified object fields]",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueRequired spec.validation.openAPIV3Schema.properties[a].properties[b].type",
                  "FieldValueRequired spec.validation.openAPIV3Schema.properties[a].type"])),
    Case("a schema of a type that there is none of", f"POST {CRDS}", schema(a={"type": "float"}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 'spec.validation.openAPIV3Schema.properties[a].type: Unsupported value: "float": supported values: '
                 '"array", "boolean", "integer", "number", "object", "string"',
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueNotSupported spec.validation.openAPIV3Schema.properties[a].type"])),
    Case("an array without items", f"POST {CRDS}", schema(a={"type": "array"}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 "spec.validation.openAPIV3Schema.properties[a].items: Required value: must be specified",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueRequired spec.validation.openAPIV3Schema.properties[a].items"])),
    Case("properties and additional properties", f"POST {CRDS}",
         schema(a={"type": "object", "properties": {"b": {"type": "string"}},
                   "additionalProperties": {"type": "string"}}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 "spec.validation.openAPIV3Schema.properties[a].additionalProperties: Forbidden: "
                 "additionalProperties and properties are mutual exclusive",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueForbidden spec.validation.openAPIV3Schema.properties[a].additionalProperties"])),
    Case("a default of a wrong type", f"POST {CRDS}", schema(a={"type": "string", "default": 1}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 'spec.validation.openAPIV3Schema.properties[a].default: Invalid value: "integer":  in body must be '
                 'of type string: "integer"',
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueTypeInvalid spec.validation.openAPIV3Schema.properties[a].default"])),
    Case("a default that breaks a rule", f"POST {CRDS}", schema(a={"type": "integer", "minimum": 5, "default": 1}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 "spec.validation.openAPIV3Schema.properties[a].default: Invalid value: 1:  in body should be "
                 "greater than or equal to 5",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueInvalid spec.validation.openAPIV3Schema.properties[a].default"])),
    Case("a default with unknown fields", f"POST {CRDS}", schema(a={"type": "object", "default": {"b": 1}}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 'spec.validation.openAPIV3Schema.properties[a].default: Invalid value: {"b":1}: must not have '
                 "unknown fields",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueInvalid spec.validation.openAPIV3Schema.properties[a].default"])),
    Case("a reference", f"POST {CRDS}", schema(a={"$ref": "#/x"}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 "spec.validation.openAPIV3Schema.properties[a].$ref: Forbidden: $ref is not supported",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueForbidden spec.validation.openAPIV3Schema.properties[a].$ref"])),
    Case("unique items", f"POST {CRDS}",
         schema(a={"type": "array", "uniqueItems": True, "items": {"type": "string"}}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 "spec.validation.openAPIV3Schema.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set "
                 "to true since the runtime complexity becomes quadratic",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueForbidden spec.validation.openAPIV3Schema.properties[a].uniqueItems"])),
    Case("a pattern that can't be read", f"POST {CRDS}", schema(a={"type": "string", "pattern": "("}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 'spec.validation.openAPIV3Schema.properties[a].pattern: Invalid value: "(": must be a valid '
                 "regular expression, but isn't: error parsing regexp: missing closing ): `(`",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueInvalid spec.validation.openAPIV3Schema.properties[a].pattern"])),
    Case("a list map without keys", f"POST {CRDS}",
         schema(a={"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "object"}}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 "spec.validation.openAPIV3Schema.properties[a].x-kubernetes-list-map-keys: Required value: must "
                 "not be empty if x-kubernetes-list-type is map",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueRequired spec.validation.openAPIV3Schema.properties[a].x-kubernetes-list-map-keys"])),
    Case("a column without a path", f"POST {CRDS}",
         versions({"name": "v1", "storage": True, "additionalPrinterColumns": [{"name": "A", "type": "string"}]}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 "spec.additionalPrinterColumns[0].JSONPath: Required value",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueRequired spec.additionalPrinterColumns[0].JSONPath"])),
    Case("a column of a type that there is none of", f"POST {CRDS}",
         versions({"name": "v1", "storage": True,
                   "additionalPrinterColumns": [{"name": "A", "type": "text", "jsonPath": ".a"}]}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of '
                 "boolean,date,integer,number,string",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueInvalid spec.additionalPrinterColumns[0].type"])),
    Case("a scale without paths", f"POST {CRDS}",
         versions({"name": "v1", "storage": True, "subresources": {"scale": {}}}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 "[spec.subresources.scale.specReplicasPath: Required value, "
                 "spec.subresources.scale.statusReplicasPath: Required value]",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueRequired spec.subresources.scale.specReplicasPath",
                  "FieldValueRequired spec.subresources.scale.statusReplicasPath"])),
    Case("a selectable field that the schema lacks", f"POST {CRDS}",
         versions({"name": "v1", "storage": True, "selectableFields": [{"jsonPath": ".spec.x"}]}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 'spec.selectableFields[0].jsonPath: Invalid value: ".spec.x": is an invalid path: does not refer '
                 "to a valid field",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueInvalid spec.selectableFields[0].jsonPath"])),
    Case("a webhook conversion without a webhook", f"POST {CRDS}", broken(conversion={"strategy": "Webhook"}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 "[spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook, "
                 "spec.conversion.conversionReviewVersions: Required value]",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueRequired spec.conversion.webhookClientConfig",
                  "FieldValueRequired spec.conversion.conversionReviewVersions"])),
    Case("unknown fields preserved for all", f"POST {CRDS}", broken(preserveUnknownFields=True),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
                 "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueInvalid spec.preserveUnknownFields"])),
    Case("a protected group", f"POST {CRDS}",
         {**broken(group="things.k8s.io"), "metadata": {"name": "things.things.k8s.io"}},
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.things.k8s.io" is invalid: '
                 "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have "
                 'approval annotation "api-approved.kubernetes.io", see '
                 "https://github.com/kubernetes/enhancements/pull/1111",
                 "CustomResourceDefinition.apiextensions.k8s.io things.things.k8s.io",
                 ["FieldValueRequired metadata.annotations[api-approved.kubernetes.io]"])),
    Case("metadata with rules of its own", f"POST {CRDS}",
         schema(metadata={"type": "object", "properties": {"labels": {"type": "object"}}}),
         Refused(422, "Invalid",
                 'CustomResourceDefinition.apiextensions.k8s.io "things.conformance.windvane.dev" is invalid: '
                 "spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other "
                 "than name and generateName, but metadata is implicitly specified",
                 "CustomResourceDefinition.apiextensions.k8s.io things.conformance.windvane.dev",
                 ["FieldValueForbidden spec.validation.openAPIV3Schema.properties[metadata]"])),
]  # fmt: skip


@each(BAD)
async def test_a_bad_crd(raw: Raw, case: Case) -> None:
    await case.check(raw)


VERSIONS = [
    (versions({"name": "v1", "storage": True}, {"name": "v2", "storage": True}),
     ["FieldValueInvalid spec.versions", "FieldValueInvalid status.storedVersions"]),
    (versions({"name": "v1"}), ["FieldValueInvalid spec.versions", "FieldValueInvalid status.storedVersions"]),
    (versions({"name": "v1", "storage": True}, {"name": "v1"}), ["FieldValueInvalid spec.versions"]),
]  # fmt: skip


@pytest.mark.parametrize(("crd", "causes"), VERSIONS, ids=["two-storage-versions", "no-storage-version", "one-twice"])
async def test_versions_that_contradict_each_other(raw: Raw, crd: Thing, causes: list[str]) -> None:
    assert (await raw(f"POST {CRDS}", crd)).refusal.causes == causes


async def test_several_complaints_about_a_custom_object_come_in_any_order(raw: Raw, crds: None) -> None:
    refusal = (await raw("POST gadgets", gadget(size=0, color="blue", tags="x"))).refusal
    assert sorted(refusal.causes) == [
        "FieldValueInvalid spec.size",
        "FieldValueNotSupported spec.color",
        "FieldValueTypeInvalid spec.tags",
    ]


def own(raw: Raw, kind_schema: Thing = ANY, **version: Any) -> tuple[Thing, str]:
    """A CRD that no other test has, and the place of its objects in the test's namespace."""
    plural = raw.namespace.replace("-", "")
    crd = definition(plural, plural.capitalize(), kind_schema, **version)
    return crd, f"/apis/{GROUP}/v1/namespaces/{{ns}}/{plural}"


def thing(crd: Thing, name: str = "x", **rest: Any) -> Thing:
    return custom(crd["spec"]["names"]["kind"], name, **rest)


async def test_a_crd_is_filled_with_defaults(raw: Raw) -> None:
    crd, _ = own(raw)
    made = await raw.ok(f"POST {CRDS}", crd)
    kind = crd["spec"]["names"]["kind"]
    names = {"plural": kind.lower(), "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    assert made["spec"]["names"] == names
    assert made["spec"]["conversion"] == {"strategy": "None"}
    assert made["status"]["storedVersions"] == ["v1"]
    assert made["metadata"]["generation"] == 1


async def test_a_crd_becomes_established(raw: Raw) -> None:
    crd, _ = own(raw)
    await serve(raw, crd)
    status = (await raw.ok(f"GET {CRDS}/{crd['metadata']['name']}"))["status"]
    conditions = sorted(status["conditions"], key=lambda each: str(each["type"]))
    for condition in conditions:
        assert condition.pop("lastTransitionTime")
        condition.pop("observedGeneration", None)
    assert conditions == [
        {
            "type": "Established",
            "status": "True",
            "reason": "InitialNamesAccepted",
            "message": "the initial names have been accepted",
        },
        {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found"},
    ]
    assert status["acceptedNames"]["kind"] == crd["spec"]["names"]["kind"]


async def test_a_condition_without_a_type_harms_nobody(raw: Raw) -> None:
    crd, _ = own(raw)
    await serve(raw, crd)
    place = f"{CRDS}/{crd['metadata']['name']}"
    patched = await raw.ok(f"PATCH {place}/status", [ADD_UNTYPED], patch="json")
    assert patched["status"]["conditions"][-1]["message"] == "whatever"
    await raw.ok(f"DELETE {place}")
    async with asyncio.timeout(SECONDS):
        while (await raw(f"GET {place}")).code != 404:
            pass


async def test_two_crds_can_not_have_one_kind(raw: Raw) -> None:
    crd, _ = own(raw)
    await serve(raw, crd)
    second = deepcopy(crd)
    plural = f"other{crd['spec']['names']['plural']}"
    second["metadata"]["name"] = f"{plural}.{GROUP}"
    second["spec"]["names"]["plural"] = plural
    await raw.ok(f"POST {CRDS}", second)
    condition = await condition_of(raw, second, "NamesAccepted")
    kind = crd["spec"]["names"]["kind"]
    assert (condition["status"], condition["reason"]) == ("False", "ListKindConflict")
    assert condition["message"] == f'"{kind}List" is already in use'


async def condition_of(raw: Raw, crd: Thing, kind: str) -> Any:
    """A condition of a CRD, as soon as it has it."""
    async with asyncio.timeout(SECONDS):
        while True:
            status = (await raw.ok(f"GET {CRDS}/{crd['metadata']['name']}"))["status"]
            for condition in status.get("conditions") or []:
                if condition["type"] == kind:
                    return condition


async def test_deleting_a_crd_deletes_its_objects(raw: Raw) -> None:
    crd, place = own(raw)
    await serve(raw, crd)
    made = await raw.ok(f"POST {place}", thing(crd))
    since = made["metadata"]["resourceVersion"]
    async with raw.watch(place, resourceVersion=since) as events:
        leaving = await raw.ok(f"DELETE {CRDS}/{crd['metadata']['name']}")
        assert leaving["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
        assert (await events.next())[0] == "DELETED"
    # The real server takes the paths away a moment after the CRD is gone.
    async with asyncio.timeout(SECONDS):
        for gone in (f"{CRDS}/{crd['metadata']['name']}", place):
            while (await raw(f"GET {gone}")).code != 404:
                pass


async def test_a_crd_that_leaves_takes_no_new_objects(raw: Raw) -> None:
    crd, place = own(raw)
    await serve(raw, crd)
    held = thing(crd, metadata={"finalizers": ["a.example/x"]})
    await raw.ok(f"POST {place}", held)
    await raw.ok(f"DELETE {CRDS}/{crd['metadata']['name']}")
    condition = await condition_of(raw, crd, "Terminating")
    assert condition["status"] == "True"
    # Not in earnest: what a real server takes before it knows, but after it has deleted all, it waits for a minute for.
    new = {**held, "metadata": {"generateName": "x"}}
    async with asyncio.timeout(SECONDS):
        while (await raw(f"POST {place}?dryRun=All", new)).code == 201:
            pass
    refused = await raw(f"POST {place}", new)
    assert (refused.refusal.code, refused.refusal.reason) == (403, "Forbidden")
    told = refused.refusal.message.partition(" is forbidden: ")[2]
    assert told == "create not allowed while custom resource definition is terminating"
    async with asyncio.timeout(SECONDS):
        while "deletionTimestamp" not in (await raw.ok(f"GET {place}/x"))["metadata"]:
            pass
    await raw.ok(f"PATCH {place}/x", {"metadata": {"finalizers": None}}, patch="merge")
    async with asyncio.timeout(SECONDS):
        while (await raw(f"GET {CRDS}/{crd['metadata']['name']}")).code != 404:
            pass


async def test_defaults_are_filled_in_when_old_objects_are_read(raw: Raw) -> None:
    spec = {"type": "object", "properties": {"a": {"type": "string"}}}
    crd, place = own(raw, {"type": "object", "properties": {"spec": spec}})
    await serve(raw, crd)
    made = await raw.ok(f"POST {place}", thing(crd, spec={}))
    change = {"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/b",
              "value": {"type": "string", "default": "x"}}  # fmt: skip
    await raw.ok(f"PATCH {CRDS}/{crd['metadata']['name']}", [change], patch="json")
    async with asyncio.timeout(SECONDS):
        while (read := await raw.ok(f"GET {place}/x"))["spec"] != {"b": "x"}:
            pass
    assert read["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


async def test_fields_that_are_gone_from_the_schema_are_not_read_any_more(raw: Raw) -> None:
    spec = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    crd, place = own(raw, {"type": "object", "properties": {"spec": spec}})
    await serve(raw, crd)
    made = await raw.ok(f"POST {place}", thing(crd, spec={"a": "1", "b": "2"}))
    change = {"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/b"}
    await raw.ok(f"PATCH {CRDS}/{crd['metadata']['name']}", [change], patch="json")
    async with asyncio.timeout(SECONDS):
        while (read := await raw.ok(f"GET {place}/x"))["spec"] != {"a": "1"}:
            pass
    assert read["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    async with asyncio.timeout(SECONDS):
        while (listed := await raw(f"GET {place}")).code != 200:
            pass
    assert [each["spec"] for each in listed.json["items"]] == [{"a": "1"}]
    written = await raw.ok(f"PATCH {place}/x", {}, patch="merge")
    assert written["metadata"]["resourceVersion"] != made["metadata"]["resourceVersion"]


async def test_unchanged_fields_may_stay_invalid(raw: Raw) -> None:
    spec = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    crd, place = own(raw, {"type": "object", "properties": {"spec": spec}})
    await serve(raw, crd)
    await raw.ok(f"POST {place}", thing(crd, spec={"a": "long"}))
    change = {
        "op": "add",
        "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/maxLength",
        "value": 2,
    }
    await raw.ok(f"PATCH {CRDS}/{crd['metadata']['name']}", [change], patch="json")
    async with asyncio.timeout(SECONDS):
        while (await raw(f"POST {place}?dryRun=All", thing(crd, "y", spec={"a": "long"}))).code != 422:
            pass
    assert (await raw.ok(f"PATCH {place}/x", {"spec": {"b": "new"}}, patch="merge"))["spec"] == {
        "a": "long",
        "b": "new",
    }
    assert (await raw(f"PATCH {place}/x", {"spec": {"a": "longer"}}, patch="merge")).refusal.causes == [
        "FieldValueTooLong spec.a"
    ]


async def test_what_lacks_a_new_default_is_stored_with_it_by_a_change_of_nothing(raw: Raw) -> None:
    spec = {"type": "object", "properties": {"a": {"type": "string"}}}
    crd, place = own(raw, {"type": "object", "properties": {"spec": spec}})
    await serve(raw, crd)
    made = await raw.ok(f"POST {place}", thing(crd, spec={}))
    default = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/default"
    change = [{"op": "add", "path": default, "value": "x"}]
    await raw.ok(f"PATCH {CRDS}/{crd['metadata']['name']}", change, patch="json")
    async with asyncio.timeout(SECONDS):
        while (await raw.ok(f"GET {place}/x"))["spec"] != {"a": "x"}:
            pass
    again = await raw.ok(f"PATCH {place}/x", {}, patch="merge")
    assert again["metadata"]["resourceVersion"] != made["metadata"]["resourceVersion"]
    same = await raw.ok(f"PATCH {place}/x", {}, patch="merge")
    assert same["metadata"]["resourceVersion"] == again["metadata"]["resourceVersion"]


async def test_a_version_is_served_and_no_longer(raw: Raw) -> None:
    crd, place = own(raw)
    second = {**crd["spec"]["versions"][0], "name": "v2", "storage": False}
    crd["spec"]["versions"].append(second)
    await serve(raw, crd)
    await raw.ok(f"POST {place}", thing(crd))
    newer = place.replace("/v1/", "/v2/")
    assert (await raw.ok(f"GET {newer}/x"))["apiVersion"] == f"{GROUP}/v2"
    stop = [{"op": "replace", "path": "/spec/versions/1/served", "value": False}]
    await raw.ok(f"PATCH {CRDS}/{crd['metadata']['name']}", stop, patch="json")
    async with asyncio.timeout(SECONDS):
        while (await raw(f"GET {newer}/x")).code != 404:
            pass
    assert (await raw.ok(f"GET {place}/x"))["apiVersion"] == f"{GROUP}/v1"


async def test_a_deprecated_version_warns(raw: Raw, crds: None) -> None:
    await raw.ok("POST gadgets", gadget())
    answer = await raw(f"GET /apis/{GROUP}/v1beta1/namespaces/{{ns}}/gadgets/g")
    assert answer.warnings == [
        ('299 - "conformance.windvane.dev/v1beta1 Gadget is deprecated; use conformance.windvane.dev/v1 Gadget"')
    ]
    assert answer.json["apiVersion"] == f"{GROUP}/v1beta1"


async def test_a_watch_in_another_version_shows_that_version(raw: Raw, crds: None) -> None:
    async with raw.watch(f"/apis/{GROUP}/v1beta1/namespaces/{{ns}}/gadgets") as events:
        await raw.ok("POST gadgets", gadget())
        _, seen = await events.next()
        assert seen["apiVersion"] == f"{GROUP}/v1beta1"


async def test_a_cluster_wide_kind(raw: Raw) -> None:
    crd, _ = own(raw)
    crd["spec"]["scope"] = "Cluster"
    await serve(raw, crd)
    place = f"/apis/{GROUP}/v1/{crd['spec']['names']['plural']}"
    made = await raw.ok(f"POST {place}", thing(crd))
    assert "namespace" not in made["metadata"]
    inside = f"/apis/{GROUP}/v1/namespaces/{{ns}}/{crd['spec']['names']['plural']}"
    name = made["metadata"]["name"]
    for request in (f"GET {inside}", f"POST {inside}", f"GET {inside}/{name}", f"DELETE {inside}/{name}"):
        assert (await raw(request)).body == b"404 page not found\n"
    answer = await raw(f"GET {place}?fieldSelector=metadata.namespace=x")
    assert answer.refusal == Refused(400, "BadRequest", "field label not supported: metadata.namespace")


async def test_an_embedded_object_is_checked_for_its_kind(raw: Raw) -> None:
    inner = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    crd, place = own(raw, {"type": "object", "properties": {"inner": inner}})
    await serve(raw, crd)
    refusal = (await raw(f"POST {place}", thing(crd, inner={"a": 1}))).refusal
    assert refusal.causes == ["FieldValueRequired inner.apiVersion", "FieldValueRequired inner.kind"]


async def test_the_scope_and_names_of_a_crd_stay(raw: Raw) -> None:
    crd, _ = own(raw)
    await serve(raw, crd)
    place = f"{CRDS}/{crd['metadata']['name']}"
    answer = await raw(f"PATCH {place}", {"spec": {"scope": "Cluster"}}, patch="merge")
    assert (
        answer.refusal.message.partition(" is invalid: ")[2]
        == 'spec.scope: Invalid value: "Cluster": field is immutable'
    )
    answer = await raw(f"PATCH {place}", {"spec": {"group": "other.example"}}, patch="merge")
    assert [cause for cause in answer.refusal.causes if "spec.group" in cause] == ["FieldValueInvalid spec.group"]


async def test_a_stored_version_can_not_be_removed(raw: Raw) -> None:
    crd, _ = own(raw)
    await serve(raw, crd)
    change = [{"op": "replace", "path": "/spec/versions/0/name", "value": "v2"}]
    answer = await raw(f"PATCH {CRDS}/{crd['metadata']['name']}", change, patch="json")
    assert answer.refusal.message.partition(" is invalid: ")[2] == (
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a '
        "storage version, and must remain in spec.versions until a storage migration ensures no data "
        "remains persisted in v1 and removes v1 from status.storedVersions"
    )
