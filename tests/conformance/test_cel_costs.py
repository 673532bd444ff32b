"""What expressions cost, to the unit: one that costs a million is run, and one that costs a million and one is not."""

import asyncio
import math
from typing import Any

import pytest

from conformance.crds import GROUP, custom, definition, serve
from conformance.policies import force, until, validation
from conformance.requests import Raw
from conformance.servers import Server

LIMIT = 1_000_000
SPEC: dict[str, Any] = {
    "numbers": list(range(10)),
    "names": [f"name-{number}" for number in range(10)],
    "text": "a" * 60,
    "memory": "1.5Gi",
    "address": "10.1.2.3",
    "network": "10.0.0.0/8",
    "deep": {"a": {"b": {"c": 1}}},
    # Most of what an expression costs: no work to speak of, but priced by the length of both text and pattern.
    "costly": "y" * 98_000,
}
COSTS = [
    ("self.numbers.all(x, x >= 0)", 53),
    ("self.numbers.all(x, self.numbers.all(y, x + y >= 0))", 763),
    ("self.text + self.text != self.text", 24),
    ("self.names.all(name, name.matches('^name-[0-9]+$'))", 83),
    ("self.numbers.sort() == self.names.map(name, int(name.substring(5)))", 367),
    ("sets.equivalent(self.names, self.names)", 205),
    ("self.numbers.all(x, self.deep.a.b.c == 1 && has(self.deep.a))", 113),
    ("quantity(self.memory).isLessThan(quantity('2Gi')) && cidr(self.network).containsIP(self.address)", 12),
    ("'%s has %d'.format([self.text, self.numbers.size()]) != ''", 16),
]
DATA = {"network": "10.0.0.0/8", "address": "10.1.2.3", "costly": SPEC["costly"]}
# Of policies, which know nothing of types beforehand.
POLICY_COSTS = [
    ("object.data.all(key, key in object.data)", 59),
    ("object.data.map(key, key).sort() == object.data.map(key, key).distinct() || true", 361),
    ("cidr(object.data.network).containsIP(object.data.address)", 8),
    ("object.data.missing == object.data.address || true", 7),
    ("authorizer.group('').resource('pods').labelSelector('a=b') == authorizer.requestResource || true", 116),
]
PATTERN = "x" * 400
BAD = "operation cancelled: actual cost limit exceeded"


def padded(expression: str, exact: str, costly: str = "self.costly") -> str:
    return f"!{costly}.matches('{PATTERN}') && ({expression}) && !{exact}.matches('abc')"


def padding(cost: int, whole: str, steps: int) -> str:
    """The longest text that can be looked at, for one unit per ten characters, within what is left by the rest."""
    spent = cost + math.ceil((1 + len(whole)) * 0.1) * 100 + 2 * (steps + 1)
    return "z" * ((LIMIT - spent) * 10 - 1)


@pytest.fixture(scope="session")
def costing(server: Server) -> str:
    """The plural of a kind with all these rules."""
    lists = {"maxItems": 10, "type": "array"}
    texts = {name: {"type": "string", "maxLength": 200_000} for name in ["costly", *map("exact{}".format, range(9))]}
    short = {name: {"type": "string", "maxLength": 60} for name in ("text", "memory", "address", "network")}
    inner: dict[str, Any] = {"type": "integer"}
    for name in "cba":
        inner = {"type": "object", "properties": {name: inner}}
    properties = {
        **texts,
        **short,
        "numbers": {**lists, "items": {"type": "integer"}},
        "names": {**lists, "items": {"type": "string", "maxLength": 10}},
        "deep": inner,
    }
    rules = [{"rule": padded(each, f"self.exact{index}")} for index, (each, _) in enumerate(COSTS)]
    spec = {"type": "object", "properties": properties, "x-kubernetes-validations": rules}
    schema = {"type": "object", "properties": {"spec": spec}}

    async def ask() -> str:
        async with Raw(server.url, server.ca_file, server.token) as raw:
            raw.namespace = "default"
            await serve(raw, definition("rulecosts", "RuleCost", schema))
            return "rulecosts"

    return asyncio.run(ask())


@pytest.mark.parametrize(("index", "cost"), [(at, cost) for at, (_, cost) in enumerate(COSTS)], ids=dict(COSTS))
async def test_a_rule_costs(raw: Raw, costing: str, index: int, cost: int) -> None:
    create = f"POST /apis/{GROUP}/v1/namespaces/{{ns}}/{costing}?dryRun=All"
    exact = padding(cost, SPEC["costly"], 2)
    spec = {**SPEC, **{f"exact{each}": "" for each in range(len(COSTS))}}
    await raw.ok(create, custom("RuleCost", "x", spec={**spec, f"exact{index}": exact}))
    answer = await raw(create, custom("RuleCost", "x", spec={**spec, f"exact{index}": f"{exact}z"}))
    (cause,) = answer.json["details"]["causes"]
    rule = padded(COSTS[index][0], f"self.exact{index}")
    limit = "no further validation rules will be run due to call cost exceeds limit for rule"
    assert cause["message"] == f"Invalid value: \"object\": '{BAD}': {limit}: {rule}"


async def test_an_expression_of_a_policy_costs(raw: Raw) -> None:
    texts = [padded(each, f"object.data.exact{at}", "object.data.costly") for at, (each, _) in enumerate(POLICY_COSTS)]
    await force(raw, "ValidatingAdmission", {"validations": [validation(each) for each in texts]})
    create = "POST configmaps?dryRun=All"
    data = {**DATA, **{f"exact{each}": "" for each in range(len(POLICY_COSTS))}}
    for index, (_, cost) in enumerate(POLICY_COSTS):
        exact = padding(cost, DATA["costly"], 3)
        too_much = {"metadata": {"name": "a"}, "data": {**data, f"exact{index}": f"{exact}z"}}
        answer = await until(raw, create, too_much, "denied request")
        assert answer.json["message"].endswith(f"expression '{texts[index]}' resulted in error: {BAD}")
        await raw.ok(create, {"metadata": {"name": "a"}, "data": {**data, f"exact{index}": exact}})
