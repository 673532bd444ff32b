"""Takes out of text and of objects what may be secret, for `windvane bug-report`.

Text is searched for what looks like a credential. An object is not searched: whatever its author wrote is left out, and
its shape, its numbers, and what the system says about it stay.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

GONE = "«removed»"

# It begins where a word does, and takes all of it at once: else a long word would be looked through from each letter.
_NAME = (
    r"(?<![\w.])[\w.-]*(?:passw(?:or)?d|pwd|passphrase|secret|token|credential|"
    r"(?:api|access|account|private|shared|client)[_-]?key)[\w.-]*+"
)
_QUOTE = r"(?:\\?[\"']|'')"  # in JSON that is in a text, and in YAML
_VALUE = r"b?(?:\\?\"[^\"]*\"|''[^']+''|'[^']*'|[^\s\"',;)}\]]+)"
_HARMLESS = frozenset({"true", "false", "null", "none", GONE})

_Replacement = str | Callable[[re.Match[str]], str]


def _value(found: re.Match[str]) -> str:
    name, value = found.groups()
    return found[0] if value.strip("\\\"'").lower() in _HARMLESS else f"{name}{GONE}"


def _random(found: re.Match[str]) -> str:
    """A long word is a key rather than a path or a name if capitals, small letters and digits are mixed in it."""
    for each in re.split(r"[/_-]", found[0]):
        if len(each) >= 20 and all(re.search(sort, each) for sort in ("[A-Z]", "[a-z]", "[0-9]")):
            return GONE
    return found[0]


_LOOKS_SECRET: tuple[tuple[re.Pattern[str], _Replacement], ...] = (
    (re.compile(r"-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|\Z)", re.DOTALL), GONE),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*"), GONE),  # a JSON web token
    (re.compile(r"\b(?:gh[pousr]|github_pat|glpat|xox[a-z]|sk|pk)[_-][\w-]{16,}"), GONE),
    (re.compile(r"\b(?:SG|hvs)\.[\w-]{16,}(?:\.[\w-]+)?"), GONE),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), GONE),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/-]{6,}=*"), rf"\1 {GONE}"),
    # A password that was not escaped may have / and @ in it. What has digits alone before a path is a port.
    (re.compile(r"(\b[a-z][a-z0-9+.-]{0,30}://)[^\s/@:]*:(?!\d{1,5}(?![^\s/?#]))[^\s\"'<>]*@"), rf"\1{GONE}@"),
    (re.compile(r"(\b[a-z][a-z0-9+.-]{0,30}://)[^\s/@]+@"), rf"\1{GONE}@"),
    (re.compile(r"(?i)([?&](?:[\w-]*signature|sig|key|code)=)[^&\s\"']+"), rf"\1{GONE}"),
    (re.compile(r"(?i)(\b(?:set-)?cookie:\s*)\S.*"), rf"\1{GONE}"),
    (re.compile(r"(?<!\S)((?:-u|--user)[ =])[^\s:]+:\S+"), rf"\1{GONE}"),
    (re.compile(rf"(?i)((?<![\w.-])--{_NAME}\s+)(?!-)({_VALUE})"), _value),
    (re.compile(rf"(?i)((?:(?<!-){_NAME}|\b_?auth(?={_QUOTE})){_QUOTE}?\s*[:=]\s*)({_VALUE})"), _value),
    # In a sentence, what follows is taken for one if there are digits in it: "password authentication failed".
    (
        re.compile(r"(?i)(\b(?:passw(?:or)?d|passphrase|pwd)\s+(?:(?:is|was|=>|->|→)\s+)?[\"'`]?)[^\s\"'`]*\d\S*"),
        rf"\1{GONE}",
    ),
    (re.compile(r"(?i)(\btoken\s+(?:(?:is|was)\s+)?[\"'`]?)(?=[\w.+/=~-]*\d)[\w.+/=~-]{10,}"), rf"\1{GONE}"),
    (re.compile(r"(?<!sha256:)\b[0-9a-f]{32,}\b"), GONE),
    (re.compile(r"[A-Za-z0-9+/_-]{32,}={0,2}"), _random),
)


def redact(text: str, known: Mapping[str, str]) -> str:
    """A text without what looks secret. `known` says what else is replaced, and by what: the home directory, say."""
    for words in sorted(filter(None, known), key=len, reverse=True):
        text = text.replace(words, known[words])
    for pattern, replacement in _LOOKS_SECRET:
        text = pattern.sub(replacement, text)
    return text


_METADATA = ("name", "namespace", "generation", "creationTimestamp", "deletionTimestamp", "finalizers")
_OWNER = ("kind", "name", "controller")
_MANAGER = ("manager", "operation", "subresource", "time")


def outline(wire: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """An object without what its author wrote: the schema says which words are one of few, and may be shown."""
    properties = schema.get("properties", {})
    skipped = {"apiVersion", "kind", "metadata", "status"}
    shown: dict[str, Any] = {
        "metadata": _metadata(wire.get("metadata", {})),
        **{name: _shape(value, properties.get(name, {})) for name, value in wire.items() if name not in skipped},
    }
    if isinstance(status := wire.get("status"), dict):
        shown["status"] = _shape(status, properties.get("status", {}))
        if isinstance(conditions := status.get("conditions"), list):
            shown["status"]["conditions"] = conditions
    return shown


def _metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {name: metadata[name] for name in _METADATA if name in metadata}
    for name in ("labels", "annotations"):
        if name in metadata:
            shown[name] = sorted(metadata[name])
    for name, parts in (("ownerReferences", _OWNER), ("managedFields", _MANAGER)):
        if name in metadata:
            shown[name] = [{part: each[part] for part in parts if part in each} for each in metadata[name]]
    return shown


def _shape(value: Any, schema: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        properties, others = schema.get("properties", {}), schema.get("additionalProperties")
        other = others if isinstance(others, dict) else {}
        return {name: _shape(each, properties.get(name, other)) for name, each in value.items()}
    if isinstance(value, list):
        return [_shape(each, schema.get("items", {})) for each in value]
    if isinstance(value, str) and value not in schema.get("enum", ()):
        return f"«{len(value)} characters»"
    return value
