"""Values as short text: YAML that is read as JSON is, with a few tags, and written on as few lines as fit.

`!pod {spec.restartPolicy: Never}` is the object of that name in `OBJECTS` with some fields changed, `!answer` the one
that was answered last; `ABSENT` is a field that is taken away, and `!long 64` a text of that many letters.
"""

import json
import re
from typing import Any

import yaml

from builtin_cases import ABSENT, but
from conformance.crds import definition, gadget, plain
from conformance.objects import Thing, deployment, job, pod, service
from conformance.policies import match, validation

WIDTH = 120
CRD = definition("things", "Thing", {"type": "object", "x-kubernetes-preserve-unknown-fields": True})
SERVED = {"clientConfig": {"url": "https://x.dev/p"}, "conversionReviewVersions": ["v1"]}
WEBHOOK = {
    "name": "a.b.dev",
    "clientConfig": {"url": "https://x.dev/p"},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}
MUTATION = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}
OBJECTS: dict[str, Thing] = {
    "convertible": {**CRD, "spec": {**CRD["spec"], "conversion": {"strategy": "Webhook", "webhook": SERVED}}},
    "crd": CRD,
    "deployment": deployment(),
    "gadget": gadget(),
    "job": job(),
    "mutating_policy": {
        "metadata": {"name": "p"},
        "spec": {"matchConstraints": match(), "reinvocationPolicy": "Never", "mutations": [MUTATION]},
    },
    "plain": plain(),
    "pod": pod(),
    "policy": {"metadata": {"name": "p"}, "spec": {"matchConstraints": match(), "validations": [validation("true")]}},
    "service": service(),
    "webhooks": {"metadata": {"name": "w"}, "webhooks": [WEBHOOK]},
}
WORDS = {
    "null": "null",
    "bool": "true|false",
    "int": r"-?(0|[1-9]\d*)",
    "float": r"-?\d+(\.\d+([eE][-+]?\d+)?|[eE][-+]?\d+)",
}
NO_TEXT = re.compile("|".join([*WORDS.values(), "~", "[Tt]rue|TRUE|[Ff]alse|FALSE|[Nn]ull|NULL|<<|=|ABSENT"]))
PLAIN = re.compile(r"(?:[\w./$(+<](?:[\w./()*+=<>$^~-]|:(?=[\w/]))*)(?: (?:[\w./()*+=<>$^~-]|:(?=[\w/]))+)*", re.ASCII)


class Loader(yaml.SafeLoader):
    """Reads plain words as JSON does: a date or a `yes` is text."""

    def __init__(self, text: str, answer: Any) -> None:
        """With what `!answer` stands for."""
        super().__init__(text)
        self._known = {**OBJECTS, "answer": answer}

    def tagged(self, name: str, node: yaml.Node) -> Any:
        """What `!name` makes of what follows it."""
        if isinstance(node, yaml.ScalarNode):
            return "x" * int(node.value) if name == "long" else self._known[name]
        changes = self.construct_mapping(node, deep=True) if isinstance(node, yaml.MappingNode) else {}
        return but(self._known[name], {str(path): value for path, value in changes.items()})


Loader.yaml_implicit_resolvers = {}
for name, pattern in WORDS.items():
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", re.compile(f"(?:{pattern})$"), None)
Loader.add_implicit_resolver("!absent", re.compile("ABSENT$"), None)
Loader.add_constructor("!absent", lambda *_: ABSENT)
Loader.add_multi_constructor("!", Loader.tagged)


def parse(text: str, answer: Any = None) -> Any:
    """The value that a text stands for."""
    loader = Loader(text, answer)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def lines(value: Any, width: int = WIDTH) -> list[str]:
    """A value in one line if that is not too long; else with a line for each of its parts, or more."""
    short = flow(value)
    if len(short) <= width or not value or not isinstance(value, dict | list):
        return [short]
    found = []
    if isinstance(value, list):
        for item in value:
            first, *rest = lines(item, width - 2)
            found += [f"- {first}", *(f"  {line}" for line in rest)]
        return found
    for key, item in sorted(value.items()):
        found += keyed(key, item, width)
    return found


def keyed(key: str, value: Any, width: int = WIDTH) -> list[str]:
    """The same for a field of an object."""
    if isinstance(value, dict | list) and value and len(flow(value)) > width - len(flow(key)) - 2:
        return [f"{flow(key)}:", *(f"  {line}" for line in lines(value, width - 2))]
    return [f"{flow(key)}: {flow(value)}"]


def flow(value: Any) -> str:
    """A value in one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{flow(key)}: {flow(item)}' for key, item in sorted(value.items()))}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(flow, value))}]"
    if isinstance(value, str):
        plain = PLAIN.fullmatch(value) and not NO_TEXT.fullmatch(value)
        return value if plain else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)
