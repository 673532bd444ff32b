"""From text to tokens. Where no token can be read, what was tried is skipped, and reading goes on behind it."""

import re
from dataclasses import dataclass

from windvane.api.cel.cost.limits import tick
from windvane.api.cel.grammar.source import Issue

EOF = "<EOF>"

# All kinds of tokens, in the order in which messages list them. Operators and words are their own kind.
KINDS = (
    "==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":",
    "+", "*", "/", "%", "true", "false", "null", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER",
    "ESC_IDENTIFIER",
)  # fmt: skip
_NAMED = frozenset({*KINDS[-7:], EOF})

_ESCAPE = r"""\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"""
_PARTIAL_ESCAPE = r"\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?"
_STRING = rf"""
    [rR](?:\"\"\"(?s:.*?)\"\"\"|'''(?s:.*?)'''|"[^"\n\r]*"|'[^'\n\r]*')
  | \"\"\"(?:{_ESCAPE}|[^\\])*?\"\"\" | '''(?:{_ESCAPE}|[^\\])*?'''
  | "(?:{_ESCAPE}|[^\\"\n\r])*" | '(?:{_ESCAPE}|[^\\'\n\r])*'
"""
_TOKEN = re.compile(
    rf"""
    (?P<SPACE>[\t\x20\r\n\f]+|//[^\n]*)
  | (?P<BYTES>[bB](?:{_STRING}))
  | (?P<STRING>{_STRING})
  | (?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
  | (?P<NUM_UINT>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])
  | (?P<NUM_INT>0x[0-9a-fA-F]+|[0-9]+)
  | (?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<ESC_IDENTIFIER>`[A-Za-z0-9_.\-/\x20]+`)
  | (?P<SIGN>==|!=|<=|>=|&&|\|\||[<>\[\]{{}}().,\-!?:+*/%])
    """,
    re.VERBOSE,
)
# How far a string goes that never ends.
_UNFINISHED = re.compile(
    rf"""(?x: "(?:{_ESCAPE}|[^\\"\n\r])*(?:{_PARTIAL_ESCAPE})? | '(?:{_ESCAPE}|[^\\'\n\r])*(?:{_PARTIAL_ESCAPE})?
      | `[A-Za-z0-9_.\-/\x20]* | = | & | \| )"""
)
_WORDS = frozenset({"in", "true", "false", "null"})


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, string or sign; `start` and `end` are offsets in the source."""

    kind: str
    text: str
    start: int
    end: int

    def shown(self) -> str:
        """The token as messages show it."""
        return f"'{escaped(self.text)}'"


def shown_kind(kind: str) -> str:
    """A kind of token as messages show it."""
    return kind if kind in _NAMED else f"'{kind}'"


def escaped(text: str) -> str:
    """Text in which line ends and tabs can be seen."""
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def tokens(text: str) -> tuple[list[Token], list[Issue]]:
    """All tokens of a text, the last of which is its end, and what could not be read."""
    found: list[Token] = []
    issues: list[Issue] = []
    at = 0
    while at < len(text):
        tick()
        match = _TOKEN.match(text, at)
        if match is None:
            unfinished = _UNFINISHED.match(text, at)
            # The character at which it was clear that nothing fits is lost, too.
            end = min((unfinished.end() if unfinished else at) + 1, len(text))
            issues.append(Issue(at, f"Syntax error: token recognition error at: '{escaped(text[at:end])}'"))
            at = end
            continue
        kind = match.lastgroup
        if kind != "SPACE":
            word = match[0]
            own = kind == "SIGN" or (kind == "IDENTIFIER" and word in _WORDS)
            found.append(Token(word if own else str(kind), word, at, match.end()))
        at = match.end()
    found.append(Token(EOF, EOF, len(text), len(text)))
    return found, issues
