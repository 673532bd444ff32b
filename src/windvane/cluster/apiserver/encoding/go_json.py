"""What Go's JSON decoder says about bytes that are not JSON: users know these words from real servers."""

import re

from windvane.api.wording import quoted

TRUNCATED = "unexpected end of JSON input"

_SPACE = re.compile(rb"[ \t\r\n]*")
_UNESCAPED = re.compile(rb'[^"\\\x00-\x1f]*')
_HEXADECIMAL = re.compile(rb"[0-9a-fA-F]{0,4}")
_WHOLE = re.compile(rb"0|[1-9][0-9]*|")
_DIGITS = re.compile(rb"[0-9]*")
_LITERALS = {literal[0]: literal for literal in (b"null", b"true", b"false")}
_CLOSING = {ord("{"): ord("}"), ord("["): ord("]")}


class _Wrong(Exception):
    """The bytes stop being JSON; the message says how."""


def go_json_problem(body: bytes) -> str:
    """Go's complaint about the first byte that makes no sense; empty if the body is JSON."""
    try:
        _scan(body)
    except _Wrong as wrong:
        return str(wrong)
    return ""


def _scan(text: bytes) -> None:
    opened = bytearray()  # the brackets that are not closed yet
    place, may_close = _space(text, 0), False
    while True:
        # A value comes next, or the end of an object or a list that has nothing in it.
        if may_close and _byte(text, place) == _CLOSING[opened[-1]]:
            opened.pop()
            place += 1
        else:
            if opened and opened[-1] == ord("{"):
                place = _key(text, place)
            if _byte(text, place) in _CLOSING:
                opened.append(text[place])
                place, may_close = _space(text, place + 1), True
                continue
            place = _scalar(text, place)
        # A value has ended: so may what it is in, and what that is in.
        place = _space(text, place)
        while opened and _byte(text, place) == _CLOSING[opened[-1]]:
            opened.pop()
            place = _space(text, place + 1)
        if not opened:
            break
        if text[place] != ord(","):
            raise _invalid(
                text, place, "after object key:value pair" if opened[-1] == ord("{") else "after array element"
            )
        place, may_close = _space(text, place + 1), False
    if place < len(text):
        raise _invalid(text, place, "after top-level value")


def _key(text: bytes, place: int) -> int:
    """Where the value of a field begins."""
    if _byte(text, place) != ord('"'):
        raise _invalid(text, place, "looking for beginning of object key string")
    place = _space(text, _string(text, place))
    if _byte(text, place) != ord(":"):
        raise _invalid(text, place, "after object key")
    return _space(text, place + 1)


def _scalar(text: bytes, place: int) -> int:
    here = _byte(text, place)
    if here == ord('"'):
        return _string(text, place)
    if here in _LITERALS:
        return _literal(text, place, _LITERALS[here])
    if here in b"-0123456789":
        return _number(text, place)
    raise _invalid(text, place, "looking for beginning of value")


def _string(text: bytes, place: int) -> int:
    place = _end(_UNESCAPED, text, place + 1)
    while _byte(text, place) != ord('"'):
        if text[place] != ord("\\"):
            raise _invalid(text, place, "in string literal")
        place += 1
        if _byte(text, place) == ord("u"):
            after = _end(_HEXADECIMAL, text, place + 1)
            if after < place + 5:
                raise _invalid(text, after, "in \\u hexadecimal character escape")
            place = after
        elif text[place] in b'"\\/bfnrt':
            place += 1
        else:
            raise _invalid(text, place, "in string escape code")
        place = _end(_UNESCAPED, text, place)
    return place + 1


def _literal(text: bytes, place: int, literal: bytes) -> int:
    for offset, expected in enumerate(literal):
        if _byte(text, place + offset) != expected:
            raise _invalid(text, place + offset, f"in literal {literal.decode()} (expecting '{chr(expected)}')")
    return place + len(literal)


def _number(text: bytes, place: int) -> int:
    place += text[place] == ord("-")
    place = _digits(text, place, "in numeric literal", _WHOLE)
    if text[place : place + 1] == b".":
        place = _digits(text, place + 1, "after decimal point in numeric literal")
    if text[place : place + 1] in (b"e", b"E"):
        place += 1 + (text[place + 1 : place + 2] in (b"+", b"-"))
        place = _digits(text, place, "in exponent of numeric literal")
    return place


def _digits(text: bytes, place: int, where: str, pattern: re.Pattern[bytes] = _DIGITS) -> int:
    after = _end(pattern, text, place)
    if after == place:
        raise _invalid(text, place, where)
    return after


def _space(text: bytes, place: int) -> int:
    return _end(_SPACE, text, place)


def _end(pattern: re.Pattern[bytes], text: bytes, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place


def _byte(text: bytes, place: int) -> int:
    if place >= len(text):
        raise _Wrong(TRUNCATED)
    return text[place]


def _invalid(text: bytes, place: int, where: str) -> _Wrong:
    if place >= len(text):
        return _Wrong(TRUNCATED)
    shown = "\\'" if text[place] == ord("'") else '"' if text[place] == ord('"') else quoted(chr(text[place]))[1:-1]
    return _Wrong(f"invalid character '{shown}' {where}")
