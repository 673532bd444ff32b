"""What validation rules (CEL) cost a write: creating objects of kinds with 0, 1 and 10 rules, embedded and real.

The rules are of the kinds that operators have: a comparison, a pattern, a loop over a list, a transition. Both servers
run in processes of their own and are asked by the same client over TLS. What counts is how they compare within one run,
and how the columns of one server do.

    make bench-cel
"""

import argparse
import asyncio
import sys
import time
import timeit
from pathlib import Path
from typing import Any

from apiserver import CONNECTIONS, embedded, real

from windvane import Client, Dynamic, Kind, NotFound, ObjectMeta, dynamic
from windvane.api.cel.rules import rule_tree
from windvane.api.custom_resources.crd import CustomResourceDefinition

RULES = (
    "self.low <= self.high",
    "self.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    "self.ports.all(port, port.number > 0 && port.number < 65536)",
    "self.ports.exists_one(port, port.name == 'http')",
    "!has(self.mode) || self.mode in ['fast', 'safe']",
    "self.name.size() < 40 && !self.name.startsWith('kube-')",
    "self.ports.map(port, port.number).sum() < 100000",
    "self.memory == '' || quantity(self.memory).isLessThan(quantity('10Gi'))",
    "self.wait < duration('1h')",
    "self.high == oldSelf.high",
)
PORT = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 15}, "number": {"type": "integer"}},
}
FIELDS: dict[str, Any] = {
    "low": {"type": "integer"},
    "high": {"type": "integer"},
    "name": {"type": "string", "maxLength": 63},
    "mode": {"type": "string", "maxLength": 10},
    "memory": {"type": "string", "maxLength": 20},
    "wait": {"type": "string", "format": "duration"},
    "ports": {"type": "array", "maxItems": 10, "items": PORT},
}
SPEC: dict[str, Any] = {
    "low": 1,
    "high": 10,
    "name": "some-name",
    "mode": "safe",
    "memory": "512Mi",
    "wait": "30s",
    "ports": [{"name": "admin", "number": 8081}, {"name": "http", "number": 8080}],
}


def kind(rules: int) -> Kind:
    return Kind(group="bench.windvane.dev", version="v1", name=f"Ruled{rules}", plural=f"ruled{rules}s")


def schema(rules: int) -> dict[str, Any]:
    """The schema of a kind with so many rules."""
    spec: dict[str, Any] = {"type": "object", "properties": FIELDS}
    if rules:
        spec["x-kubernetes-validations"] = [{"rule": rule} for rule in RULES[:rules]]
    return {"type": "object", "properties": {"spec": spec}}


def definition(rules: int) -> Dynamic:
    """The CRD of a kind with so many rules."""
    of = kind(rules)
    version = {"name": of.version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema(rules)}}
    names = {"plural": of.plural, "singular": of.name.lower(), "kind": of.name, "listKind": f"{of.name}List"}
    content = {"spec": {"group": of.group, "scope": "Namespaced", "names": names, "versions": [version]}}
    return CustomResourceDefinition(metadata=ObjectMeta(name=f"{of.plural}.{of.group}"), content=content)


async def milliseconds(kubeconfig: Path, rules: int, count: int) -> float:
    """How long creating one of `count` objects takes the server, with all connections busy."""
    ruled = dynamic(kind(rules))
    async with Client.connect(kubeconfig=kubeconfig) as client:
        await client.create(definition(rules))
        while True:
            try:
                await client.list(ruled)
                break
            except NotFound:
                continue
        numbers = iter(range(count))

        async def work() -> None:
            for number in numbers:
                metadata = ObjectMeta(name=f"r{number}", namespace="default")
                await client.create(ruled(metadata=metadata, content={"spec": SPEC}))

        began = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(CONNECTIONS)))
        return 1000 * (time.perf_counter() - began) / count


async def measure(kubeconfig: Path, count: int, rounds: int) -> dict[int, float]:
    """The best of some rounds for each number of rules; the first round only warms up."""
    await milliseconds(kubeconfig, 2, count // 4)
    best: dict[int, float] = {}
    for _ in range(rounds):
        for rules in (0, 1, 10):
            best[rules] = min(best.get(rules, sys.float_info.max), await _again(kubeconfig, rules, count))
    return best


async def _again(kubeconfig: Path, rules: int, count: int) -> float:
    """One round; what the round before left is removed first."""
    async with Client.connect(kubeconfig=kubeconfig) as client:
        of = kind(rules)
        name = f"{of.plural}.{of.group}"
        try:
            await client.delete(CustomResourceDefinition, name)
            while True:
                await client.get(CustomResourceDefinition, name)
        except NotFound:
            pass
    return await milliseconds(kubeconfig, rules, count)


def judging() -> float:
    """The microseconds that judging one object by all rules takes in this process, without any server."""
    rules = rule_tree(schema(len(RULES)))
    if rules is None or rules.judge({"spec": SPEC}).causes:
        sys.exit("the object breaks the rules that it is to be judged by")
    return min(timeit.repeat(lambda: rules.judge({"spec": SPEC}), number=1_000, repeat=7)) * 1000


def main() -> None:
    """Run both and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=1_000, help="how many objects of each kind (default: 1000)")
    parser.add_argument("--rounds", type=int, default=3, help="how often; the best counts (default: 3)")
    arguments = parser.parse_args()
    results: dict[str, dict[int, float]] = {}
    for name, server in (("embedded", embedded), ("reference", real)):
        with server() as (_, _, kubeconfig):
            results[name] = asyncio.run(measure(kubeconfig, arguments.count, arguments.rounds))
    print(f"milliseconds to create one of {arguments.count} objects at {CONNECTIONS} connections\n")
    print(f"{'rules':>8}{'embedded':>12}{'reference':>12}{'embedded is':>14}")
    for rules, ours in results["embedded"].items():
        theirs = results["reference"][rules]
        print(f"{rules:>8}{ours:12.3f}{theirs:12.3f}{ours / theirs:13.2f}x")
    print()
    for name, measured in results.items():
        each = 1000 * (measured[10] - measured[0]) / 10
        print(f"{name}: ten rules make a create {measured[10] / measured[0]:.2f}x as long, {each:.0f} µs for each rule")
    print(f"embedded, the engine alone: {judging():.0f} µs for all ten rules of one object")


if __name__ == "__main__":
    main()
