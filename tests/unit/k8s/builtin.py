"""The classes of `windvane.k8s`, and the definitions that they were made from."""

from importlib import import_module

from generate.definitions import Definition, load
from generate.kinds import GROUPS
from windvane.api.resource import Object
from windvane.api.struct import Struct

DEFINITIONS = load()
MODULES = [import_module(f"windvane.k8s.{name}") for name in sorted({group.module for group in GROUPS})]
STRUCTS: list[type[Struct]] = [
    cls
    for module in MODULES
    for cls in vars(module).values()
    if isinstance(cls, type) and issubclass(cls, Struct) and cls.__module__ == module.__name__
]
KINDS: list[type[Object]] = [cls for cls in STRUCTS if issubclass(cls, Object)]


def full_name(cls: type[Struct]) -> str:
    """`apps.Deployment`, for test ids."""
    return f"{cls.__module__.rpartition('.')[2]}.{cls.__name__}"


def definition_of(cls: type[Struct]) -> Definition:
    """The OpenAPI definition of a generated class; a name in two versions of a group is the first one's."""
    return next(
        DEFINITIONS[name]
        for group in GROUPS
        if f"windvane.k8s.{group.module}" == cls.__module__
        and (name := f"{group.definitions}.{cls.__name__}") in DEFINITIONS
    )
