"""Which object is meant: `KIND/NAME`, the kind as kubectl takes it: `website`, `websites`, `ws`, `deployment.apps`."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from windvane.api.kind import Kind


class WrongReference(Exception):
    """What was written names no object; the message says what to write."""


class Reference(NamedTuple):
    """An object, whatever the version of its kind."""

    resource: str
    """Its kind's plural with the group: `deployments.apps`."""
    namespace: str
    name: str

    @property
    def where(self) -> str:
        """`default/blog`."""
        return "/".join(filter(None, (self.namespace, self.name)))


def split_reference(words: Sequence[str]) -> tuple[str, str]:
    """Kind and name of `pod/web-1`, or of `pod web-1`."""
    kind, slash, name = words[0].partition("/")
    if len(words) == 2 and not slash:
        name = words[1]
    elif len(words) != 1:
        raise WrongReference(f"one object is meant, not {' '.join(words)!r}: windvane why KIND/NAME, or KIND NAME")
    if not kind or not name or "/" in name:
        raise WrongReference(f"{' '.join(words)!r} names no object: write KIND/NAME, such as pod/web-1")
    return kind, name


def find_kind(words: str, kinds: Iterable[Kind]) -> Kind:
    """The kind that is meant, of those that a server serves, in the server's order; WrongReference if there is none."""
    served = list(kinds)
    wanted = words.lower()
    for each in served:
        if wanted in _names(each):
            return each
    names = {name: each.singular for each in served for name in (each.singular, each.plural, *each.short_names)}
    close = dict.fromkeys(names[each] for each in get_close_matches(wanted.partition(".")[0], names, n=3, cutoff=0.6))
    meant = f"did you mean {' or '.join(close)}?" if close else "kubectl api-resources lists them; a CRD may be missing"
    raise WrongReference(f"the server has no kind {words!r}: {meant}")


def _names(kind: Kind) -> set[str]:
    """All that it may be called."""
    short = {kind.name.lower(), kind.singular, kind.plural, *kind.short_names}
    labels = kind.group.split(".")
    groups = {".".join(labels[:count]) for count in range(1, len(labels) + 1)} if kind.group else set()
    return short | {f"{name}.{each}" for name in short for each in groups | {f"{kind.version}.{kind.group}".strip(".")}}
