"""What Go's JSON decoder says about bytes that are not JSON: users know these words from real servers."""

LITERALS = (b"null", b"true", b"false")


def go_json_problem(body: bytes) -> str:
    """Go's complaint, exact for the usual cases: nothing there, cut off, or not JSON from the start."""
    text = body.strip()
    for literal in LITERALS:
        if text[:1] == literal[:1]:
            for have, want in zip(text[1:], literal[1:], strict=False):
                if have != want:
                    expected = f"(expecting {_quoted(want)})"
                    return f"invalid character {_quoted(have)} in literal {literal.decode()} {expected}"
            return "unexpected end of JSON input"
    if text and text[0] not in b'{["-0123456789':
        return f"invalid character {_quoted(text[0])} looking for beginning of value"
    return "unexpected end of JSON input"


def _quoted(byte: int) -> str:
    return f"'{chr(byte)}'"
