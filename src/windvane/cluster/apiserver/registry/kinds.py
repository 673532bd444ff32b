"""The built-in kinds: each has a file of its name in the folder of its API group, or a folder with a `strategy.py`.

So a new kind is a new file, `apps/replica_set.py`, and a new group is a folder; `_v1` at the end is an older version.
What a kind is served as by default follows from what its strategy says; GROUP_PRIORITY of the folder is the group's
place in discovery.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from windvane.api.resource import Object, kind_of
from windvane.cluster.apiserver import registry
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.schema.models import builtin_models

_WORD = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_VERSION = re.compile("_v[0-9]+[a-z0-9]*$")


@cache
def strategies() -> dict[type[Object], type[BuiltinStrategy]]:
    """The strategy of each built-in kind."""
    return {each.model: each for each in _found()}


def builtin_types(*, optional: bool = False, loopback_endpoints: bool = False) -> list[ResourceType]:
    """Every built-in kind that has a place in the API; with `optional`, also those that must be switched on."""
    served = [each for each in strategies().values() if each.has_path and (optional or not each.is_optional)]
    return [ResourceType(each(loopback_endpoints=loopback_endpoints)) for each in served]


def builtin_type(model: type[Object]) -> ResourceType:
    """One of them, be it one without a place in the API."""
    return ResourceType(strategies()[model]())


def watched_models() -> list[type[Object]]:
    """The classes of all built-in kinds that every server has, and that can be watched."""
    usual = [each for each in strategies().values() if each.has_path and not each.is_optional]
    return [each.model for each in usual if "watch" in each.verbs and each.model in builtin_models()]


@cache
def group_priorities() -> Mapping[str, int]:
    """The groups of built-in kinds; those with more are listed first. The numbers are kube-apiserver's."""
    found = {}
    for each in strategies().values():
        folder = each.__module__.removeprefix(f"{registry.__name__}.").partition(".")[0]
        found[kind_of(each.model).group] = int(vars(import_module(f"{registry.__name__}.{folder}"))["GROUP_PRIORITY"])
    return found


def _found() -> Iterator[type[BuiltinStrategy]]:
    named = {file_name(kind_of(model).name) for model in builtin_models()}
    for group in iter_modules(registry.__path__, f"{registry.__name__}."):
        for found in iter_modules(import_module(group.name).__path__, f"{group.name}.") if group.ispkg else ():
            # Only the files of kinds: what they use may take long to import, and is imported when it is needed.
            if _VERSION.sub("", found.name.rpartition(".")[2]) not in named:
                continue
            module = import_module(f"{found.name}.strategy" if found.ispkg else found.name)
            for thing in vars(module).values():
                own = isinstance(thing, type) and thing.__module__ == module.__name__
                if own and issubclass(thing, BuiltinStrategy) and "model" in vars(thing):
                    yield thing


def file_name(kind: str) -> str:
    """What the file of a kind is called: `csi_driver` for a CSIDriver."""
    return _WORD.sub("_", kind).lower()
