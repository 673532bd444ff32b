from copy import deepcopy
from typing import Any

import pytest

from everything import Everything, EverythingV1Beta1
from schema_cases import DEFINITIONS, Causes, Json, as_tuples, definition, label
from windvane import crd, object_to_wire
from windvane.cluster.apiserver.registry.apiextensions.definition.validation import (
    check_definition,
    definition_warnings,
)


@pytest.mark.parametrize(
    ("wire", "causes"), DEFINITIONS, ids=[label(case[0]["spec"]["versions"]) for case in DEFINITIONS]
)
def test_what_is_wrong_with_a_definition_is_said_in_the_servers_words(wire: Json, causes: Causes) -> None:
    assert as_tuples(check_definition(wire)) == causes


def test_what_windvane_makes_of_a_class_is_fine() -> None:
    assert check_definition(object_to_wire(crd(Everything, EverythingV1Beta1))) == []


def test_checking_changes_nothing() -> None:
    wire = definition({"type": "object", "default": {"x": 1}, "properties": {"a": {"type": "string"}}})
    before = deepcopy(wire)
    check_definition(wire)
    assert wire == before


def test_formats_that_nobody_checks_are_warned_of_once_they_are_new() -> None:
    odd = {"type": "string", "format": "odd"}
    wire = definition({"type": "object", "properties": {"a": odd, "b": odd, "c": {"type": "string", "format": "date"}}})
    assert definition_warnings(wire) == ['unrecognized format "odd"']
    assert definition_warnings(wire, definition({"type": "object", "properties": {"a": odd}})) == []


class TestAChange:
    def stored(self) -> Json:
        status = {"conditions": [{"type": "Established", "status": "True"}], "storedVersions": ["v1"]}
        return {**definition({"type": "object"}), "status": status}

    def changed(self, **spec: Any) -> list[tuple[str, str]]:
        old = self.stored()
        names = {**old["spec"]["names"], **spec.pop("names", {})}
        new = {**old, "spec": {**old["spec"], **spec, "names": names}}
        return [(field, message) for field, _, message in as_tuples(check_definition(new, old))]

    def test_of_nothing_is_fine(self) -> None:
        assert self.changed() == []

    def test_of_scope_and_kind_is_refused(self) -> None:
        assert self.changed(scope="Cluster", names={"kind": "Other"}) == [
            ("spec.names.kind", 'Invalid value: "Other": field is immutable'),
            ("spec.scope", 'Invalid value: "Cluster": field is immutable'),
        ]

    def test_of_group_and_plural_is_refused(self) -> None:
        assert self.changed(group="o.example.com", names={"plural": "others"}) == [
            ("spec.group", 'Invalid value: "o.example.com": field is immutable'),
            ("spec.names.plural", 'Invalid value: "others": field is immutable'),
        ]

    def test_can_not_drop_a_version_that_objects_are_stored_in(self) -> None:
        (version,) = self.stored()["spec"]["versions"]
        [(field, message)] = self.changed(versions=[{**version, "name": "v2"}])
        assert field == "status.storedVersions[0]"
        assert message.startswith(
            'Invalid value: "v1": missing from spec.versions; v1 was previously a storage version'
        )

    def test_to_keep_unknown_fields_everywhere_is_refused(self) -> None:
        [(field, message)] = self.changed(preserveUnknownFields=True)
        assert field == "spec.preserveUnknownFields"
        assert message.startswith("Invalid value: true: cannot set to true")

    def test_before_anything_is_served_may_be_of_the_kind(self) -> None:
        old = {**self.stored(), "status": {"storedVersions": ["v1"]}}
        new = {**old, "spec": {**old["spec"], "names": {**old["spec"]["names"], "kind": "Other"}}}
        assert check_definition(new, old) == []
