"""The classes of all built-in kinds, as they are generated into `windvane.k8s`."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from windvane import k8s
from windvane.api.resource import Object


@cache
def builtin_modules() -> tuple[ModuleType, ...]:
    """The modules of all groups."""
    return tuple(import_module(f"{k8s.__name__}.{found.name}") for found in iter_modules(k8s.__path__))


@cache
def builtin_models() -> tuple[type[Object], ...]:
    """Every built-in kind, those among them that are only posted or read in place of others, and never stored."""
    return tuple(
        thing
        for module in builtin_modules()
        for thing in vars(module).values()
        if isinstance(thing, type) and issubclass(thing, Object) and thing.__module__ == module.__name__
    )
