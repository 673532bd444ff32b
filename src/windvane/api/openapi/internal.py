"""CRDs as the server keeps them itself, which it shows where it complains about all versions or a whole schema."""

from typing import Any

from windvane.api.wording import Record

Wire = dict[str, Any]

# The fields in the server's order, with what they hold when they are not set.
_SCHEMA: dict[str, tuple[str, Any]] = {
    "ID": ("id", ""), "Schema": ("$schema", ""), "Ref": ("$ref", None), "Description": ("description", ""),
    "Type": ("type", ""), "Nullable": ("nullable", False), "Format": ("format", ""), "Title": ("title", ""),
    "Default": ("default", None), "Maximum": ("maximum", None), "ExclusiveMaximum": ("exclusiveMaximum", False),
    "Minimum": ("minimum", None), "ExclusiveMinimum": ("exclusiveMinimum", False), "MaxLength": ("maxLength", None),
    "MinLength": ("minLength", None), "Pattern": ("pattern", ""), "MaxItems": ("maxItems", None),
    "MinItems": ("minItems", None), "UniqueItems": ("uniqueItems", False), "MultipleOf": ("multipleOf", None),
    "Enum": ("enum", None), "MaxProperties": ("maxProperties", None), "MinProperties": ("minProperties", None),
    "Required": ("required", None), "Items": ("items", None), "AllOf": ("allOf", None), "OneOf": ("oneOf", None),
    "AnyOf": ("anyOf", None), "Not": ("not", None), "Properties": ("properties", None),
    "AdditionalProperties": ("additionalProperties", None), "PatternProperties": ("patternProperties", None),
    "Dependencies": ("dependencies", None), "AdditionalItems": ("additionalItems", None),
    "Definitions": ("definitions", None), "ExternalDocs": ("externalDocs", None), "Example": ("example", None),
    "XPreserveUnknownFields": ("x-kubernetes-preserve-unknown-fields", None),
    "XEmbeddedResource": ("x-kubernetes-embedded-resource", False),
    "XIntOrString": ("x-kubernetes-int-or-string", False), "XListMapKeys": ("x-kubernetes-list-map-keys", None),
    "XListType": ("x-kubernetes-list-type", None), "XMapType": ("x-kubernetes-map-type", None),
    "XValidations": ("x-kubernetes-validations", None),
}  # fmt: skip
_RULE = {"Rule": "", "Message": "", "MessageExpression": "", "Reason": None, "FieldPath": "", "OptionalOldSelf": None}
_COLUMN = {"Name": "", "Type": "", "Format": "", "Description": "", "Priority": 0, "JSONPath": ""}
_SCALE = {"SpecReplicasPath": "", "StatusReplicasPath": "", "LabelSelectorPath": None}


def internal_versions(versions: list[Wire]) -> list[Record]:
    """The versions of a CRD."""
    return [
        Record(
            Name=version.get("name") or "",
            Served=version.get("served") is True,
            Storage=version.get("storage") is True,
            Deprecated=version.get("deprecated") is True,
            DeprecationWarning=version.get("deprecationWarning"),
            Schema=_validation(version.get("schema")),
            Subresources=_subresources(version.get("subresources")),
            AdditionalPrinterColumns=_records(version.get("additionalPrinterColumns"), _COLUMN),
            SelectableFields=_records(version.get("selectableFields"), {"JSONPath": ""}),
        )
        for version in versions
    ]


def stated_keywords(of: Wire) -> list[str]:
    """The names that the keywords of a schema have there, of those that say something."""
    return [name for name, (keyword, unset) in _SCHEMA.items() if of.get(keyword, unset) not in (unset, None)]


def internal_schema(of: Wire) -> Record:
    """A schema."""
    return Record({name: _keyword(name, of.get(keyword, unset)) for name, (keyword, unset) in _SCHEMA.items()})


def _keyword(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name == "Not":
        return internal_schema(value)
    if name in ("AllOf", "OneOf", "AnyOf"):
        return [internal_schema(each) for each in value]
    if name in ("Properties", "PatternProperties", "Definitions"):
        return {key: internal_schema(each) for key, each in value.items()}
    if name in ("AdditionalProperties", "AdditionalItems"):
        given = isinstance(value, dict)
        return Record(Allows=given or value is True, Schema=internal_schema(value) if given else None)
    if name == "Items":
        several = isinstance(value, list)
        return Record(
            Schema=None if several else internal_schema(value),
            JSONSchemas=[internal_schema(each) for each in value] if several else None,
        )
    if name == "XValidations":
        return _records(value, _RULE)
    return value


def internal_rule(rule: Wire) -> Record:
    """A validation rule."""
    return _record(rule, _RULE)


def _validation(schema: Wire | None) -> Record | None:
    if schema is None:
        return None
    of = schema.get("openAPIV3Schema")
    return Record(OpenAPIV3Schema=None if of is None else internal_schema(of))


def _subresources(subresources: Wire | None) -> Record | None:
    if subresources is None:
        return None
    scale = subresources.get("scale")
    return Record(
        Status={} if subresources.get("status") is not None else None,
        Scale=None if scale is None else _record(scale, _SCALE),
    )


def _records(values: list[Wire] | None, fields: Wire) -> list[Record] | None:
    return [_record(each, fields) for each in values] if values else None


def _record(value: Wire, fields: Wire) -> Record:
    return Record({name: value.get(_wire_name(name), unset) for name, unset in fields.items()})


def _wire_name(name: str) -> str:
    return "jsonPath" if name == "JSONPath" else name[0].lower() + name[1:]
