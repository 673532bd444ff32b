"""Which fields Go leaves out of JSON if they are zero, false or empty text: those whose struct tags say `omitempty`."""

from collections.abc import Iterator
from functools import cache

import msgspec

from windvane.cluster.apiserver.encoding.protobuf_fields import MESSAGES


@cache
def zero_is_absent_in(cls: type[msgspec.Struct]) -> frozenset[str]:
    """The names in JSON of the fields of a built-in struct where zero means the same as nothing.

    Pointers are not among them: what they point to is written, whatever it is.
    """
    messages, group = _messages(), cls.__module__.rpartition(".")[2]
    message = messages.get((group, cls.__name__)) or messages.get(("meta", cls.__name__))  # which no group has
    return frozenset(_omitted(message)) if message else frozenset()


@cache
def _messages() -> dict[tuple[str, str], str]:
    return {(name.partition(".")[0], name.rpartition(".")[2]): name for name in MESSAGES}


def _omitted(message: str) -> Iterator[str]:
    for field in MESSAGES[message].split():
        _, name, type_ = field.split(":")
        if not name:
            yield from _omitted(type_ if type_ in MESSAGES else f"{message.rpartition('.')[0]}.{type_}")
        elif type_.endswith("?"):
            yield name
