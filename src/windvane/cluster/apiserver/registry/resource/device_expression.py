"""What an expression that selects devices can name: `device`, with its driver, its attributes and its capacities."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from windvane.api.cel.compiler import Impossible, compile_dynamic
from windvane.api.cel.constants import constant_issues
from windvane.api.cel.cost.estimate import estimated_cost
from windvane.api.cel.declared_types import Declared
from windvane.api.cel.environment import object_type
from windvane.api.cel.grammar.macros import BINDINGS, MACROS
from windvane.api.cel.grammar.parser import parse
from windvane.api.cel.grammar.source import NOWHERE, Issue, Source
from windvane.api.cel.library import FUNCTIONS
from windvane.api.cel.library.quantities import QUANTITY
from windvane.api.cel.type_checker import check
from windvane.api.cel.types import ANY, BOOL, STRING, Type, map_of
from windvane.cluster.apiserver.registry.resource.device_names import LONGEST_DOMAIN, LONGEST_DRIVER, LONGEST_IDENTIFIER

MOST_ATTRIBUTES = 32
LONGEST_VALUE = 64
WITH_BINDINGS = {**MACROS, **BINDINGS}


class CompiledSelector(NamedTuple):
    """What became of an expression."""

    problem: str = ""
    most_cost: int = 0


class _Every(Mapping[str, Declared]):
    """The fields of a map whose values are alike: `attributes["example.com"].model` is sized as any other."""

    def __init__(self, value: Declared) -> None:
        self._value = value

    def __getitem__(self, _: str) -> Declared:
        return self._value

    def __iter__(self) -> Iterator[str]:
        return iter(("*",))

    def __len__(self) -> int:
        return 1


def _sized(type_: Type, most: int) -> Declared:
    return Declared(type_, most, 0, {}, False)


def _map(keys: Declared, values: Declared, fields: Mapping[str, Declared] | None = None) -> Declared:
    type_ = map_of(keys.type, values.type)
    return Declared(type_, MOST_ATTRIBUTES, 0, {}, False, items=values, keys=keys, fields=fields)


_DOMAIN, _IDENTIFIER = _sized(STRING, LONGEST_DOMAIN), _sized(STRING, LONGEST_IDENTIFIER)
_ATTRIBUTE = _sized(ANY, LONGEST_VALUE)
DEVICE = object_type(
    "kubernetes.DRADevice",
    {
        "allowMultipleAllocations": _sized(BOOL, 1),
        "attributes": _map(_DOMAIN, _map(_IDENTIFIER, _ATTRIBUTE, _Every(_ATTRIBUTE))),
        "capacity": _map(_DOMAIN, _map(_IDENTIFIER, _sized(QUANTITY, 0))),
        "driver": _sized(STRING, LONGEST_DRIVER),
    },
)


def compile_selector(text: str) -> CompiledSelector:
    """Read and check an expression, and estimate what it can cost."""
    try:
        return _compile(text)
    except RecursionError:
        issue = Issue(NOWHERE, "max recursion depth exceeded")
        return CompiledSelector(f"compilation failed: {Source(text).report([issue])}")


def _compile(text: str) -> CompiledSelector:
    tree, issues = parse(text, WITH_BINDINGS)
    variables = {"device": DEVICE.type}
    issues = issues or check(tree, FUNCTIONS, variables, {DEVICE.type.name: DEVICE}) or constant_issues(tree)
    if issues:
        return CompiledSelector(f"compilation failed: {Source(text).report(issues)}")
    if tree.type not in (BOOL, ANY):
        return CompiledSelector(f"must evaluate to bool or the unknown type, not {tree.type}")
    try:
        compile_dynamic(tree, FUNCTIONS, list(variables))
    except Impossible as error:
        return CompiledSelector(f"program instantiation failed: {error}")
    return CompiledSelector(most_cost=estimated_cost(tree, DEVICE))
