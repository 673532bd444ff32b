"""Whether the expressions of an admission policy fit the kinds that it is about, of which they themselves know nothing.

What doesn't fit is no reason to refuse the policy: it is noted in its status.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from windvane.api.cel.admission import environment, variable
from windvane.api.cel.cost.limits import TakesLong
from windvane.api.cel.declared_types import Declared, Schema, declared, named
from windvane.api.cel.environment import Environment
from windvane.api.cel.types import DYN, Type
from windvane.api.kind import Kind

_NEVER_CHECKED = "authorizer.requestResource"  # the real checker doesn't know this name, and says so


@dataclass(frozen=True, slots=True)
class Checked:
    """An expression and where it is in the policy."""

    field: str
    text: str


def warnings(
    expressions: Sequence[Checked],
    variables: Sequence[tuple[str, str]],
    kinds: Sequence[tuple[Kind, Schema]],
    params: Schema | None = None,
) -> list[tuple[str, str]]:
    """What is wrong with expressions about objects of these kinds, each with its field.

    `params` is the schema of the parameters, an empty one if it is not known; None if there are no parameters. If it
    takes longer than the caller will wait, the last of them says so.
    """
    found: list[tuple[str, str]] = []
    where = expressions[0].field if expressions else "spec.variables"
    try:
        scopes = [(kind, _scope(variables, _known(schema, kind.name), params)) for kind, schema in kinds]
        for each in expressions:
            where = each.field
            told = [f"{_shown(kind)}: {problem}\n" for kind, scope in scopes if (problem := scope.check(each.text)[1])]
            if told:
                found.append((each.field, "\n".join(told)))
    except TakesLong:
        found.append((where, "types from here on were not checked, because that takes too long"))
    return found


def _scope(variables: Sequence[tuple[str, str]], object_: Declared | None, params: Schema | None) -> Environment:
    of_params = None if params is None else _known(params, "Params") or DYN
    found: dict[str, Declared] = {}
    scope = _without_request(environment(object_=object_, params=of_params, variables=found))
    for name, text in variables:
        found[name] = variable(scope.check(text)[0])
    return scope


def _without_request(of: Environment) -> Environment:
    known: Mapping[str, Type] = {name: type_ for name, type_ in of.variables.items() if name != _NEVER_CHECKED}
    return replace(of, variables=known)


def _known(schema: Schema, name: str) -> Declared | None:
    found = declared(schema, is_resource=True)
    return named(found, name) if found is not None else None


def _shown(kind: Kind) -> str:
    return f"{kind.group}/{kind.version}, Kind={kind.name}"
