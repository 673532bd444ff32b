"""Field names as expressions must write them: reserved words and signs are spelled out, `a-b` is `a__dash__b`."""

import re

# Not quite the words that the parser reserves: these are what Kubernetes spells out.
SPELLED_OUT = frozenset(
    {
        "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
        "let", "loop", "package", "namespace", "return", "var", "void", "while",
    }
)  # fmt: skip
_SIGNS = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_FITTING = re.compile(r"[A-Za-z0-9_.\-/]+")
_SIGN = re.compile(r"__|[.\-/]")


def escaped_name(name: str) -> str | None:
    """How a field is called in expressions, or None if it can't be named there at all."""
    if not _FITTING.fullmatch(name) or name[0].isdigit():
        return None
    if name in SPELLED_OUT:
        return f"__{name}__"
    return _SIGN.sub(lambda found: _SIGNS[found[0]], name)
