"""Where `kubectl explain` tells of each class of a module, for editors to show: Kubernetes' words are not ours."""

import re
from collections import deque

from generate.plan import Class, Module

NAME = re.compile(r"(?<![\w.])[A-Z]\w*")


def explained(module: Module) -> dict[str, str]:
    """What is said of each class, by its name: of a kind what it is, and of a part of one where it is."""
    structs = {each.name: each for each in module.structs}
    said = {each.name: _kind(each) for each in module.kinds}
    waiting = deque((each, _plural(each)) for each in module.kinds)
    while waiting:  # the parts that are nearest to a kind first: a path that is short says most
        here, path = waiting.popleft()
        for field in here.fields:
            for name in NAME.findall(field.type):
                if name in structs and name not in said:
                    said[name] = f"See `kubectl explain {path}.{field.wire}`."
                    waiting.append((structs[name], f"{path}.{field.wire}"))
    return said


def _kind(each: Class) -> str:
    group, version = (each.keywords[word].strip('"') for word in ("group", "version"))
    where = "in no namespace" if each.keywords.get("scope") == '"Cluster"' else "in a namespace"
    api_version = f"{group}/{version}" if group else version
    return f"The kind {each.name} of {api_version}, {where}. See `kubectl explain {_plural(each)}`."


def _plural(each: Class) -> str:
    return each.keywords["plural"].strip('"')
