"""What strings and bytes mean that are written in an expression."""

import re

_SIMPLE = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "`": "`", "?": "?",
}  # fmt: skip
_ESCAPE = re.compile(r"\\([xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", re.DOTALL)
_SURROGATES = range(0xD800, 0xE000)


class LiteralError(ValueError):
    """A literal that means nothing; the message says why."""


def unescaped(text: str) -> str | bytes:
    """The value of a string or bytes literal, with its quotes."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    as_bytes = text[0] in "bB"
    raw = text[as_bytes] in "rR"
    quoted = text[as_bytes + raw :]
    quotes = 3 if quoted[:3] in ('"""', "'''") and len(quoted) >= 6 else 1
    inner = quoted[quotes:-quotes]
    if not as_bytes:
        return inner if raw else _ESCAPE.sub(lambda found: chr(_code(found[1])), inner)
    if raw:
        return inner.encode()
    parts: list[bytes] = []
    at = 0
    for found in _ESCAPE.finditer(inner):
        parts.append(inner[at : found.start()].encode())
        if found[1][0] in "uU":
            raise LiteralError("unable to unescape string")
        parts.append(bytes([_code(found[1])]))
        at = found.end()
    return b"".join(parts) + inner[at:].encode()


def _code(escape: str) -> int:
    if escape in _SIMPLE:
        return ord(_SIMPLE[escape])
    code = int(escape[1:], 16) if escape[0] in "xXuU" else int(escape, 8)
    if code > 0x10FFFF or code in _SURROGATES:
        raise LiteralError("invalid unicode code point")
    return code
