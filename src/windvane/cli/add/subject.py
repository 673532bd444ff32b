"""The kind that a controller or a webhook is for: one of the operator's own, a built-in one, or another operator's.

What users type is what kubectl takes: `Deployment`, `deployments`, `deploy`, `deployments.apps`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pkgutil import iter_modules

from windvane import k8s
from windvane.api.kind import Kind
from windvane.api.resource import Object
from windvane.cli.add.imports import INDENT, WIDTH, Import, call
from windvane.cli.layout import object_name

BUILT_IN = k8s.__name__
LOCALS = frozenset(
    {"annotations", "config_map", "container", "ctx", "described", "name", "request"}
    | {module.name for module in iter_modules(k8s.__path__)}
)
"""What a new module has another use for."""


class UnknownKind(Exception):
    """There is no such kind; the message says what is close, and what to write."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A kind, and how code names it."""

    kind: Kind
    imports: Sequence[Import]
    code: str
    """The class, as code has it: `apps.Deployment`."""
    annotation: str
    """The type of its objects."""
    definition: str = ""
    """The statement that makes the class, if it can't be imported."""
    what: type[Object] | None = None
    """The class itself, if it is there."""

    @property
    def it(self) -> str:
        """What code calls an object of the kind."""
        return object_name(self.kind.name, LOCALS)

    @property
    def singular(self) -> str:
        """What its files are called."""
        return self.kind.name.lower()


def own(what: type[Object]) -> Subject:
    """A kind that a class of the author's stands for."""
    name = what.__name__
    return Subject(kind=what.__kind__, imports=[Import(what.__module__, name)], code=name, annotation=name, what=what)


def foreign(kind: Kind) -> Subject:
    """A kind that another operator defines."""
    parts = [("group", kind.group), ("version", kind.version), ("name", kind.name), ("plural", kind.plural)]
    words = [f'{name}="{value}"' for name, value in parts] + ([] if kind.namespaced else ["namespaced=False"])
    definition = f"{kind.name} = dynamic(Kind({', '.join(words)}))"
    if len(definition) > WIDTH:
        inner = call("Kind(", words, ")").replace("\n", f"\n{INDENT}")
        definition = f"{kind.name} = dynamic(\n{INDENT}{inner}\n)"
    return Subject(
        kind=kind,
        imports=[Import("windvane", each) for each in ("Dynamic", "Kind", "dynamic")],
        code=kind.name,
        annotation="Dynamic",
        definition=definition,
    )


def find(text: str, own_kinds: Iterable[type[Object]]) -> Subject:
    """The kind that is meant; `UnknownKind` if it is none, or could be several."""
    from windvane.cluster.apiserver.registry.kinds import watched_models

    mine = list(own_kinds)
    served = watched_models()
    for candidates in (mine, served):
        if found := [each for each in candidates if text.lower() in _words(each.__kind__)]:
            break
    else:
        raise UnknownKind(_close(text, [*mine, *served]))
    if len({each.__kind__.resource for each in found}) > 1:
        # kubectl takes the plain word for the one in the core group, if there is one; here it is asked.
        several = " or ".join(
            sorted(each.__kind__.resource if each.__kind__.group else f"{each.__kind__.plural}." for each in found)
        )
        raise UnknownKind(f"{text} can be several kinds: write {several}")
    what = found[0]
    if what in mine:
        return own(what)
    module = what.__module__.rpartition(".")[2]
    code = f"{module}.{what.__name__}"
    return Subject(kind=what.__kind__, imports=[Import(BUILT_IN, module)], code=code, annotation=code, what=what)


def _words(kind: Kind) -> set[str]:
    """What a kind may be called, in small letters."""
    names = {kind.name.lower(), kind.singular, kind.plural, *kind.short_names}
    return names | {f"{kind.plural}.{kind.group}", f"{kind.name.lower()}.{kind.group}"}


def _close(text: str, kinds: Sequence[type[Object]]) -> str:
    names = {name: each.__kind__ for each in kinds for name in (each.__kind__.name.lower(), each.__kind__.resource)}
    close = [names[each] for each in get_close_matches(text.lower(), names, n=3, cutoff=0.7)]
    meant = " or ".join(dict.fromkeys(f"{each.name} ({each.resource})" for each in close))
    return (
        f"there is no kind {text}, neither of this operator nor built in{f': did you mean {meant}?' if meant else ''}"
    )
