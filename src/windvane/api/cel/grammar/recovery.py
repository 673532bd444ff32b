"""How the parser goes on after an error, and what it says: as the one does that ANTLR generates for Kubernetes.

Its messages follow from how it recovers: a token too many is skipped, one too few is made up, and anything else ends
the rule that was being read, up to a token that can follow it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from windvane.api.cel.grammar.lexer import EOF, KINDS, Token, escaped, shown_kind, tokens
from windvane.api.cel.grammar.source import Issue
from windvane.api.cel.grammar.syntax import Expr, Missing

END = "the end of the rule"  # among what can follow: whatever can follow the rule itself

Kinds = frozenset[str]


class _Unreadable(Exception):
    """What ends a rule; it was reported already."""


class Recovering:
    """Tokens, read one by one, and the errors among them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens, self.issues = tokens(text)
        self._at = 0
        self._follow: list[Kinds] = []
        self._recovering = False
        self._last_error = -1

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def _peek(self) -> Token:
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)]

    def _peek_behind(self, kind: str) -> Token:
        """The first token that is not of a kind."""
        at = self._at
        while self._tokens[at].kind == kind:
            at += 1
        return self._tokens[at]

    @contextmanager
    def _rule(self, follow: Kinds) -> Iterator[None]:
        """One rule, followed by one of some kinds of tokens; if it can't be read, all up to such a token is skipped."""
        self._follow.append(follow)
        try:
            yield
        except _Unreadable:
            self._recover()
        finally:
            self._follow.pop()

    def _recover(self) -> None:
        if self._last_error == self._at and self._token.kind != EOF:
            self._at += 1  # nothing was read since the last error: without this, reading would never end
        self._last_error = self._at
        self._skip_to(frozenset())

    def _skip_to(self, kinds: Kinds) -> None:
        stops = kinds.union(*self._follow) | {EOF}
        while self._token.kind not in stops:
            self._at += 1

    def _expected(self, kinds: Kinds) -> Kinds:
        """Some kinds of tokens, and if the rule may end here, what can follow it."""
        found = kinds
        for follow in reversed(self._follow):
            if END not in found:
                return found
            found = (found - {END}) | follow
        return (found - {END}) | {EOF} if END in found else found

    def _match(self, kind: str, after: Kinds) -> Token:
        """The next token, which must be of a kind; `after` is what can come behind it."""
        token = self._token
        if token.kind == kind:
            return self._take()
        if self._peek().kind == kind and token.kind != EOF:
            self._syntax(token, f"extraneous input {token.shown()} expecting {shown_kind(kind)}")
            self._at += 1
            return self._take()
        if token.kind in self._expected(after):
            self._syntax(token, f"missing {shown_kind(kind)} at {token.shown()}")
            return Token(kind, f"<missing {shown_kind(kind)}>", token.start, token.start)
        return self._mismatch(frozenset({kind}))

    def _take(self) -> Token:
        token = self._token
        self._recovering = False
        self._last_error = -1
        if token.kind != EOF:
            self._at += 1
        return token

    def _sync(self, kinds: Kinds) -> None:
        """Before one of some kinds of tokens: a single wrong one before a right one is skipped."""
        token = self._token
        if self._recovering or token.kind in kinds:
            return
        if self._peek().kind in kinds and token.kind != EOF:
            self._syntax(token, f"extraneous input {token.shown()} expecting {_shown_kinds(kinds)}")
            self._at += 1
            self._recovering = False
            return
        self._mismatch(kinds)

    def _sync_repeated(self, kinds: Kinds) -> None:
        """The same behind something that may come again: what is wrong there is skipped, all of it."""
        token = self._token
        if self._recovering or token.kind in kinds:
            return
        self._syntax(token, f"extraneous input {token.shown()} expecting {_shown_kinds(self._expected(kinds))}")
        self._skip_to(kinds)

    def _mismatch(self, kinds: Kinds) -> NoReturn:
        token = self._token
        self._syntax(token, f"mismatched input {token.shown()} expecting {_shown_kinds(self._expected(kinds))}")
        raise _Unreadable

    def _no_way(self, first: Token, offending: Token) -> NoReturn:
        """The tokens from `first` on can't be the start of anything."""
        end = offending.end if offending.kind != EOF else first.end
        seen = self._text[first.start : end]
        if offending.kind in ("true", "false", "null") and len(seen) == len(offending.text) + 1:
            self._syntax(offending, f"mismatched input {offending.shown()} expecting IDENTIFIER")
        else:
            self._syntax(offending, f"no viable alternative at input '{escaped(seen)}'")
        raise _Unreadable

    def _syntax(self, token: Token, message: str) -> None:
        if not self._recovering:
            self._recovering = True
            self._report(token.start, f"Syntax error: {message}")

    def _report(self, offset: int, message: str) -> Expr:
        self.issues.append(Issue(offset, message))
        return Missing(offset)


def _shown_kinds(kinds: Kinds) -> str:
    listed = [EOF] * (EOF in kinds) + [kind for kind in KINDS if kind in kinds]
    shown = ", ".join(shown_kind(kind) for kind in listed)
    return shown if len(listed) == 1 else f"{{{shown}}}"
