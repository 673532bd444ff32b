"""What can't work is found when the class is made, with its name, the field and the remedy."""

from collections.abc import Callable
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import pytest

from windvane import (
    Column,
    Cron,
    Default,
    Duration,
    Ge,
    Gt,
    Int32,
    Le,
    ListMap,
    Lt,
    MaxItems,
    MaxLength,
    MinItems,
    MinLength,
    MultipleOf,
    Nullable,
    Pattern,
    Quantity,
    Resource,
    Rule,
    Spec,
    Status,
    Struct,
    crd,
    field,
)
from windvane.api.custom_resources.crd import root_schema
from windvane.api.openapi.check import schema_causes
from windvane.api.struct import StructType


class Mode(Enum):
    FAST = "fast"


def spec_with(annotation: Any, *default: Any) -> Callable[[], Any]:
    """Makes a class with one field, as an author would."""
    namespace: dict[str, Any] = {"__annotations__": {"size": annotation}, "__module__": __name__}
    if default:
        namespace["size"] = default[0]
    return lambda: StructType("ShopSpec", (Spec,), namespace)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (spec_with(Annotated[int, Le(9)], 11), "the default 11 breaks its own field: .* less than or equal to 9"),
        (spec_with(Annotated[int, Gt(0)], 0), "the default 0 breaks its own field: .* greater than 0"),
        (spec_with(Annotated[str, MaxLength(2)], "abc"), "the default 'abc' breaks its own field: .* 2"),
        (spec_with(Annotated[str, Pattern("^[a-z]+$")], "A"), "the default 'A' breaks its own field: .*match"),
        (spec_with(Literal["a", "b"], "c"), "the default 'c' breaks its own field: .*\"a\", \"b\""),
        (spec_with(int, "3"), "the default '3' breaks its own field: .*must be of type int"),
        (spec_with(Annotated[int | None, Le(3), Default(5)], None), "the default 5 breaks its own field"),
        (spec_with(Duration, "5m"), r"the default '5m' is no Duration; write Duration\(...\)"),
        (spec_with(Mode, "fast"), "the default 'fast' is no Mode"),
        (spec_with(datetime, "2006-01-02T15:04:05Z"), "is no datetime"),
        (spec_with(Annotated[int, MinLength(3)]), "MinLength is for string, and this is integer"),
        (spec_with(Annotated[int, Ge(1), Ge(2)]), "sets 'minimum' a second time"),
        (spec_with(Annotated[int, Ge(5), Le(3)]), "nothing fits: minimum is 5, and maximum is 3"),
        (spec_with(list[Annotated[str, MinLength(5), MaxLength(3)]]), "nothing fits: minLength is 5"),
        (spec_with(Annotated[list[str], MinItems(-1)]), "it must be 0 or more, not -1"),
        (spec_with(Annotated[int, Ge("1")]), "minimum must be a number, not '1'"),  # type: ignore[arg-type]
        (spec_with(int, 2**63), "the default .* breaks its own field"),
        (spec_with(datetime, datetime(2020, 1, 1)), "has no zone; add tzinfo=UTC"),  # noqa: DTZ001
        (spec_with(Annotated[Cron | None, Default("boo")], None), "the default 'boo' .* has 1 fields, needs five"),
        (spec_with(Annotated[int, Ge]), r"Ge is a class, which says nothing here; write Ge\(...\)"),
        (spec_with(list[Annotated[str, MaxLength]]), r"write MaxLength\(...\)"),
        (spec_with(Annotated[int, Rule("self > 1", "a\nb")]), r"Rule\(..., message=...\): .* line breaks"),
        (spec_with(Annotated[int, Rule("self > 1", reason="No")]), "reason=.* supported values"),  # type: ignore[arg-type]
        (spec_with(Annotated[int, Rule("self > 1 and self < 3")]), "CEL is not Python: write &&"),
        (spec_with(Annotated[bool, Rule("self == True")]), "CEL is not Python: write true"),
        (spec_with(Annotated[int, Le(9.5)]), "maximum is 9.5, and the field is a whole number"),
        (spec_with(Annotated[int, MultipleOf(0.5)]), "multipleOf is 0.5, and the field is a whole number"),
        (spec_with(Annotated[Int32, Le(2**40)]), "a whole number of 32 bits; write int"),
        (spec_with(Annotated[int, Gt(3), Lt(4)]), "nothing fits"),
        (spec_with(Annotated[float, Gt(3), Le(3)]), "nothing fits"),
        (spec_with(Annotated[list[str], ListMap("name")]), r"ListMap\('name'\): the items' fields are none"),
        (spec_with(Annotated[int, MultipleOf(0)]), r"MultipleOf\(0\): it must be more than 0"),
        (spec_with(Annotated[str, Pattern("[")]), "missing closing ]"),
        (spec_with(Annotated[str, MaxLength(9), Rule("self !=", "m")]), "rule 'self !=' does not work: Syntax error"),
        (spec_with(Annotated[str, MaxLength(9), Rule("self > 3", "m")]), "found no matching overload"),
        (spec_with(Annotated[int, Rule("self", "m")]), "must evaluate to a bool"),
        (spec_with(Annotated[list[Annotated[int, Rule("self.a > 1")]], MaxItems(2)]), "does not work"),
    ],
)  # fmt: skip
def test_a_field_that_cannot_work_is_refused_when_the_class_is_made(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(TypeError, match=f"^ShopSpec.size: .*{words}"):
        make()


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("self.max_size > 3", "undefined field 'max_size'; CEL sees the wire's names: write self.maxSize"),
        ("self.storage.class_name == 'a'", "undefined field 'class_name'; CEL sees the wire's names: write className"),
        ("self.maxsize > 3", "undefined field 'maxsize'; the fields are maxSize, storage"),
        ("max_size > 3", "write self.maxSize"),
        ("self.maxSize >= old_self.maxSize", "undeclared reference to 'old_self'.*; write oldSelf"),
        ("self.maxSize >", "Syntax error"),
        ("self.maxSize + 1", "must evaluate to a bool"),
        ("", "a Rule needs an expression"),
    ],
)
def test_a_rule_that_cannot_work_is_refused_with_what_to_write(rule: str, words: str) -> None:
    class Storage(Struct):
        class_name: Annotated[str, MaxLength(9)] = "a"

    with pytest.raises(TypeError, match=f"^StoreSpec: .*{words}"):

        class StoreSpec(Spec, rules=[Rule(rule, "no")]):
            max_size: int = 3
            storage: Storage = field(default_factory=Storage)


def test_what_is_no_list_of_rules_is_refused() -> None:
    wrong: list[Any] = [["self.size > 1"], Rule("self.size > 1")]
    for rules in wrong:
        with pytest.raises(TypeError, match=r"^ShopSpec: rules="):
            StructType("ShopSpec", (Spec,), {"__annotations__": {"size": int}, "__module__": __name__}, rules=rules)


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"short_names": "sh"}, r"write short_names=\['sh'\]"),
        ({"columns": Column("Size", ".spec.size")}, r"write columns=\[Column"),
        ({"columns": [Column("Size", "spec.size")]}, "is no path; write .spec.size"),
        ({"columns": [Column("Size", ".spec.size", type="int")]}, "the type 'int'; there is integer, "),  # type: ignore[arg-type]
    ],
)
def test_keywords_that_cannot_work_are_refused_with_what_to_write(keywords: dict[str, Any], words: str) -> None:
    class ShopSpec(Spec):
        size: int = 1

    with pytest.raises(TypeError, match=f"^Shop: .*{words}"):

        class Shop(Resource[ShopSpec, Status], group="tests.windvane.dev", version="v1", **keywords):
            """A shop."""


def test_a_status_that_a_new_object_cannot_have_is_refused() -> None:
    class ShopStatus(Status):
        phase: str

    with pytest.raises(TypeError, match=r"^Shop.status.phase: a new object has no status yet.*give it a default"):

        class Shop(Resource[Spec, ShopStatus], group="tests.windvane.dev", version="v1"):
            """A shop."""


def test_two_defaults_that_differ_are_refused_with_the_kind() -> None:
    class ShopSpec(Spec):
        size: Annotated[int, Default(3)] = 4

    with pytest.raises(TypeError, match=r"^Shop.spec.size: Default\(3\) and = 4; keep one"):

        class Shop(Resource[ShopSpec, Status], group="tests.windvane.dev", version="v1"):
            """A shop."""


def test_constraints_that_the_server_would_not_know_of_are_refused_with_the_crd() -> None:
    class ShopSpec(Spec):
        size: Annotated[int, msgspec.Meta(ge=1)]

    class Shop(Resource[ShopSpec, Status], group="tests.windvane.dev", version="v1"):
        """A shop."""

    with pytest.raises(TypeError, match=r"Shop.spec.size: the server knows nothing of msgspec.Meta; write Ge"):
        crd(Shop)


def test_a_rule_that_blames_a_field_by_its_python_name_is_refused() -> None:
    with pytest.raises(TypeError, match=r"field_path='.max_size'.*: it leads to no field; .*maxSize"):

        class StoreSpec(Spec, rules=[Rule("self.maxSize > 1", field_path=".max_size")]):
            max_size: int = 3


def test_a_rule_that_could_cost_too_much_is_refused_with_the_kind() -> None:
    class StoreSpec(Spec, rules=[Rule("self.names.all(a, self.names.all(b, a == b))", "all the same")]):
        names: list[str] = []

    with pytest.raises(TypeError, match=r"^Store.spec: the rule .* exceeds budget by .*maxItems"):

        class Store(Resource[StoreSpec, Status], group="tests.windvane.dev", version="v1"):
            """A store."""


def test_a_transition_rule_where_items_have_no_names_is_refused_with_the_kind() -> None:
    class Shelf(Struct, rules=[Rule("self.size >= oldSelf.size", "may only grow")]):
        size: int

    class StoreSpec(Spec):
        shelves: Annotated[list[Shelf], MaxItems(3)] = []

    with pytest.raises(TypeError, match=r"^Store.spec.shelves.\[\]: .* oldSelf cannot be used"):

        class Store(Resource[StoreSpec, Status], group="tests.windvane.dev", version="v1"):
            """A store."""


def test_what_no_crd_can_describe_is_refused_when_one_is_made() -> None:
    class StoreSpec(Spec):
        size: int | list[str]

    class Store(Resource[StoreSpec, Status], group="tests.windvane.dev", version="v1"):
        """A store. Another operator's, perhaps: to read it, no CRD is needed."""

    with pytest.raises(TypeError, match=r"Store.spec.size: .* one field has one type"):
        crd(Store)


def test_what_a_factory_makes_is_looked_at_with_the_kind() -> None:
    class StoreSpec(Spec):
        sizes: list[Annotated[int, Le(3)]] = field(default_factory=lambda: [5])

    with pytest.raises(TypeError, match=r"^Store.spec.sizes: the default \[5\] breaks its own field: .*equal to 3"):

        class Store(Resource[StoreSpec, Status], group="tests.windvane.dev", version="v1"):
            """A store."""


def test_a_struct_that_is_part_of_no_kind_may_hold_anything() -> None:
    class Message(Struct):
        body: int | list[str] | None = None
        count: Annotated[int, Ge(0)] = 0

    assert Message(body=["a"]).body == ["a"]


def test_a_name_that_comes_later_is_looked_at_when_the_crd_is_made() -> None:
    class StoreSpec(Spec):
        shelf: "Shelf"  # type: ignore[name-defined]  # noqa: F821

    class Store(Resource[StoreSpec, Status], group="tests.windvane.dev", version="v1"):
        """A store."""

    with pytest.raises(NameError, match="Shelf"):
        crd(Store)


def test_a_factory_that_cannot_be_called_yet_is_called_when_the_crd_is_made() -> None:
    later: list[str] = []

    class StoreSpec(Spec, rules=[Rule("self.size > 1")]):
        size: int = 3
        names: list[str] = field(default_factory=lambda: [later[0]])

    class Store(Resource[StoreSpec, Status], group="tests.windvane.dev", version="v1"):
        """A store."""

    with pytest.raises(TypeError, match=r"Store.spec.names: its default_factory failed: IndexError"):
        crd(Store)
    later.append("a")
    assert crd(Store)["spec"]


@pytest.mark.parametrize(
    ("annotation", "default"),
    [
        (bytes, b""),
        (Annotated[Quantity | None, Default(Quantity("1Gi"))], None),
        (Annotated[Mode | None, Default(Mode.FAST)], None),
        (Annotated[list[str] | None, Default(["a"])], None),
        (Annotated[int, Gt(3), Lt(5)], 4),
        (Annotated[float, Ge(1), Le(1)], 1),
        (Annotated[int, Ge(0.0)], 0),
        (Annotated[list[Annotated[str | None, Nullable()]], MaxItems(3)], []),
    ],
)
def test_a_field_that_works_is_taken(annotation: Any, default: Any) -> None:
    made = spec_with(annotation, default)()

    class Store(Resource[made, Status], group="tests.windvane.dev", version="v1"):  # type: ignore[valid-type]
        """A store."""

    assert schema_causes(root_schema(Store), "schema") == []
    assert Store().validate() == []


def test_a_class_that_works_is_made() -> None:
    class Storage(Struct):
        size: int = 1

    class StoreSpec(Spec, rules=[Rule("self.maxSize > 1 || has(self.schedule)", "no", field_path=".maxSize")]):
        max_size: Annotated[int, Ge(1), Le(9)] = 3
        schedule: Cron | None = None
        smallest: ClassVar[Storage] = Storage()
        every: Duration = Duration(minutes=5)
        room: Quantity = Quantity("1Gi")
        mode: Mode = Mode.FAST
        names: Annotated[list[str], MaxItems(3)] = []

    class Port(Struct):
        name: str

    class OwnerSpec(StoreSpec):
        ports: Annotated[list[Port], ListMap("name")] = []

    class Owner(Resource[OwnerSpec, Status], group="tests.windvane.dev", version="v1"):
        """Has what its base has."""

    assert Owner(spec=OwnerSpec()).validate() == []
