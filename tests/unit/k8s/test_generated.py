"""What is in src/windvane/k8s is what the generator makes now, of all that the definitions have."""

from collections.abc import Iterator

import msgspec
import pytest

from generate.kinds import GROUPS
from generate.modules import TARGET, generated
from unit.k8s.builtin import DEFINITIONS, KINDS, STRUCTS, definition_of, full_name
from windvane.api import meta
from windvane.api.condition import Condition
from windvane.api.resource import kind_of
from windvane.api.struct import Struct

META = [cls for cls in vars(meta).values() if isinstance(cls, type) and cls.__module__ == meta.__name__]
# An older form of the kind in autoscaling/v2, which windvane.k8s.autoscaling has.
LEFT_OUT = {("autoscaling/v1", "HorizontalPodAutoscaler")}
# Which part of a sharded list this is.
ALPHA = {"shardInfo"}


def test_the_committed_modules_are_up_to_date() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in TARGET.glob("*.py")}
    wanted = {path.name: text for path, text in generated().items()}
    assert committed == wanted, "src/windvane/k8s is out of date; run `make generate`"


def test_every_kind_of_the_groups_is_there() -> None:
    there = {(kind_of(cls).api_version, cls.__name__) for cls in KINDS}
    assert there == set(defined_kinds()) - LEFT_OUT


@pytest.mark.parametrize("cls", STRUCTS, ids=full_name)
def test_a_struct_has_exactly_the_fields_of_its_definition(cls: type[Struct]) -> None:
    names = [field.encode_name for field in msgspec.structs.fields(cls)]
    assert sorted(names) == sorted(definition_of(cls).get("properties", {}))


@pytest.mark.parametrize("cls", [Condition, *META])
def test_a_struct_written_by_hand_has_exactly_the_fields_of_its_definition(cls: type[Struct]) -> None:
    names = [field.encode_name for field in msgspec.structs.fields(cls)]
    definition = DEFINITIONS[f"io.k8s.apimachinery.pkg.apis.meta.v1.{cls.__name__}"]
    assert sorted(names) == sorted(definition["properties"].keys() - ALPHA)


def defined_kinds() -> Iterator[tuple[str, str]]:
    """apiVersion and name of the kinds that the definitions have; lists aren't typed here."""
    groups = {group.definitions for group in GROUPS if group.kinds}
    for full, definition in DEFINITIONS.items():
        group, _, name = full.rpartition(".")
        if group in groups and not name.endswith("List"):
            for identity in definition.get("x-kubernetes-group-version-kind", ()):
                yield f"{identity['group']}/{identity['version']}".removeprefix("/"), name
