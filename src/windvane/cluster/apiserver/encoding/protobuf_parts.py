"""What any message of protobuf is made of: fields, each with its number, and a text, bytes or a number in it."""

from collections.abc import Iterator


def text(place: int, said: str | None) -> bytes:
    """A field that is a text, which is written even if it is empty."""
    return part(place, (said or "").encode())


def part(place: int, content: bytes) -> bytes:
    """A field that is bytes, or a message."""
    return bytes(_varint(place << 3 | 2)) + bytes(_varint(len(content))) + content


def number(place: int, value: int | None) -> bytes:
    """A field that is a whole number or a bool; nothing if there is none."""
    return b"" if value is None else bytes(_varint(place << 3)) + bytes(_varint(int(value)))


def _varint(value: int) -> Iterator[int]:
    value &= 2**64 - 1
    while value >= 128:
        yield value & 127 | 128
        value >>= 7
    yield value
