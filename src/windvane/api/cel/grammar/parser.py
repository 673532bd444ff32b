"""From tokens to trees: every rule of the grammar is one method, and every call of one says what can follow it."""

import math
from collections.abc import Callable

from windvane.api.cel.cost.limits import tick
from windvane.api.cel.grammar.lexer import EOF, Token
from windvane.api.cel.grammar.literals import LiteralError, unescaped
from windvane.api.cel.grammar.macros import MACROS, MacroError, Macros
from windvane.api.cel.grammar.recovery import END, Kinds, Recovering
from windvane.api.cel.grammar.source import NOWHERE, Issue
from windvane.api.cel.grammar.syntax import (
    Call,
    Expr,
    Ident,
    ListExpr,
    Literal,
    MapEntry,
    MapExpr,
    Missing,
    Select,
    Struct,
)
from windvane.api.cel.values import Uint

RESERVED = frozenset(
    {
        "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
        "package", "namespace", "null", "return", "true", "var", "void", "while",
    }
)  # fmt: skip
_LONGEST = 100_000

_OPERAND = frozenset(
    {"[", "{", "(", ".", "-", "true", "false", "null", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES"}
    | {"IDENTIFIER"}
)
_EXPR = _OPERAND | {"!"}
_RELATIONS = ("<", "<=", ">=", ">", "==", "!=", "in")
_FACTORS, _TERMS = ("*", "/", "%"), ("+", "-")
_LITERALS = frozenset({"NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "true", "false", "null"})


def parse(text: str, macros: Macros = MACROS) -> tuple[Expr, list[Issue]]:
    """The tree of an expression, and what is wrong with its text; a tree with issues is not worth checking."""
    if len(text) > _LONGEST:
        why = f"expression code point size exceeds limit: size: {len(text)}, limit {_LONGEST}"
        return Missing(NOWHERE), [Issue(NOWHERE, why)]
    try:
        parser = _Parser(text, macros)
        return parser.start(), parser.issues
    except RecursionError:
        return Missing(NOWHERE), [Issue(NOWHERE, "expression recursion limit exceeded: 250")]


class _Parser(Recovering):
    """The rules of the grammar."""

    def __init__(self, text: str, macros: Macros) -> None:
        super().__init__(text)
        self._macros = macros

    def start(self) -> Expr:
        found: Expr = Missing(NOWHERE)
        with self._rule(frozenset()):
            found = self._expr(frozenset({EOF}))
            self._match(EOF, frozenset({END}))
        return found

    def _expr(self, follow: Kinds) -> Expr:
        found: Expr = Missing(self._token.start)
        with self._rule(follow):
            found = self._or(frozenset({"?", END}))
            if self._token.kind == "?":
                sign = self._match("?", _EXPR)
                then = self._or(frozenset({":"}))
                self._match(":", _EXPR)
                found = Call(sign.start, "_?_:_", None, [found, then, self._expr(frozenset({END}))])
        return found

    def _or(self, follow: Kinds) -> Expr:
        return self._chain(follow, "||", "_||_", self._and)

    def _and(self, follow: Kinds) -> Expr:
        return self._chain(follow, "&&", "_&&_", self._relation)

    def _chain(self, follow: Kinds, sign: str, function: str, part: Callable[[Kinds], Expr]) -> Expr:
        terms: list[Expr] = []
        signs: list[int] = []
        with self._rule(follow):
            after = frozenset({sign, END})
            terms.append(part(after))
            while self._token.kind == sign:
                signs.append(self._match(sign, _EXPR).start)
                terms.append(part(after))
        return _balanced(function, terms, signs) if terms else Missing(self._token.start)

    def _relation(self, follow: Kinds) -> Expr:
        return self._operators(follow, (_RELATIONS,), self._calc)

    def _calc(self, follow: Kinds) -> Expr:
        return self._operators(follow, (_TERMS, _FACTORS), self._unary)

    def _operators(self, follow: Kinds, levels: tuple[tuple[str, ...], ...], part: Callable[[Kinds], Expr]) -> Expr:
        start = self._token.start
        after = frozenset({sign for level in levels for sign in level} | {END})

        def climb(level: int) -> Expr:
            if level == len(levels):
                return part(after)
            left = climb(level + 1)
            while self._token.kind in levels[level]:
                sign = self._match(self._token.kind, _EXPR)
                function = "@in" if sign.kind == "in" else f"_{sign.kind}_"
                with self._rule(after):
                    left = Call(sign.start, function, None, [left, climb(level + 1)])
            return left

        with self._rule(follow):
            return climb(0)
        return Missing(start)

    def _unary(self, follow: Kinds) -> Expr:
        tick()
        found: Expr = Missing(self._token.start)
        with self._rule(follow):
            self._sync(_EXPR)
            sign = self._token.kind
            signs: list[Token] = []
            if sign == "!" or (sign == "-" and self._peek().kind not in ("NUM_INT", "NUM_FLOAT")):
                if sign == "-" and self._peek_behind("-").kind not in _OPERAND:
                    self._no_way(self._token, self._peek_behind("-"))
                while self._token.kind == sign:
                    if sign == "-" and signs and self._peek().kind in ("NUM_INT", "NUM_FLOAT"):
                        break
                    signs.append(self._match(sign, _OPERAND | {sign}))
                    self._sync_repeated(_OPERAND | {sign})
            found = self._member(frozenset({END}))
            if len(signs) % 2:
                found = Call(signs[0].start, f"{sign}_", None, [found])
        return found

    def _member(self, follow: Kinds) -> Expr:
        found: Expr = Missing(self._token.start)
        after = frozenset({".", "[", END})
        with self._rule(follow):
            found = self._primary(after)
            while self._token.kind in (".", "["):
                found = self._index(found) if self._token.kind == "[" else self._select(found, after)
        return found

    def _index(self, target: Expr) -> Expr:
        sign = self._match("[", _EXPR | {"?"})
        self._sync(_EXPR | {"?"})
        optional = self._token.kind == "?" and bool(self._match("?", _EXPR))
        index = self._expr(frozenset({"]"}))
        self._match("]", frozenset({".", "[", END}))
        return Call(sign.start, "_[?_]" if optional else "_[_]", None, [target, index])

    def _select(self, operand: Expr, after: Kinds) -> Expr:
        named = self._peek().kind
        if named not in ("?", "IDENTIFIER", "ESC_IDENTIFIER"):
            self._no_way(self._token, self._peek())
        dot = self._match(".", frozenset({"?", "IDENTIFIER", "ESC_IDENTIFIER"}))
        if named == "?":
            self._match("?", frozenset({"IDENTIFIER", "ESC_IDENTIFIER"}))
            start = self._token.start
            name = self._field(after)
            if name is None:
                return self._report(start, "unsupported ident kind")
            return Call(dot.start, "_?._", None, [operand, Literal(name.start, self._plain(name))])
        if named == "IDENTIFIER" and self._peek().kind == "(":
            name = self._match("IDENTIFIER", frozenset({"("}))
            sign, args = self._arguments()
            return self._call(sign.start, name.text, operand, args)
        name = self._field(after)
        return Missing(dot.start) if name is None else Select(dot.start, operand, self._plain(name))

    def _field(self, follow: Kinds) -> Token | None:
        with self._rule(follow):
            self._sync(frozenset({"IDENTIFIER", "ESC_IDENTIFIER"}))
            return self._match(self._token.kind, frozenset({END}))
        return None

    def _plain(self, name: Token) -> str:
        if name.kind == "ESC_IDENTIFIER":
            self._report(name.start, "unsupported syntax: '`'")
        return name.text

    def _arguments(self) -> tuple[Token, list[Expr]]:
        sign = self._match("(", _EXPR | {")"})
        self._sync(_EXPR | {")"})
        args: list[Expr] = []
        if self._token.kind in _EXPR:
            with self._rule(frozenset({")"})):
                args.append(self._expr(frozenset({",", END})))
                while self._token.kind == ",":
                    self._match(",", _EXPR)
                    args.append(self._expr(frozenset({",", END})))
        self._match(")", frozenset({".", "[", END}))
        return sign, args

    def _primary(self, follow: Kinds) -> Expr:
        found: Expr = Missing(self._token.start)
        with self._rule(follow):
            self._sync(_OPERAND)
            kind = self._token.kind
            if kind in ("IDENTIFIER", "."):
                found = self._named()
            elif kind == "(":
                self._match("(", _EXPR)
                found = self._expr(frozenset({")"}))
                self._match(")", frozenset({END}))
            elif kind == "[":
                found = self._list()
            elif kind == "{":
                found = self._map()
            elif kind in _OPERAND:
                found = self._literal(frozenset({END}))
            else:
                self._no_way(self._token, self._token)
        return found

    def _named(self) -> Expr:
        start = self._token.start
        leading = ""
        if self._token.kind == ".":
            if self._peek().kind != "IDENTIFIER":
                self._no_way(self._token, self._peek())
            leading = self._match(".", frozenset({"IDENTIFIER"})).text
        if self._is_struct():
            return self._struct(leading)
        name = self._match("IDENTIFIER", frozenset({"(", END}))
        if self._token.kind == "(":
            sign, args = self._arguments()
            if name.text in RESERVED:
                return self._report(start, f"reserved identifier: {name.text}")
            return self._call(sign.start, leading + name.text, None, args)
        if name.text in RESERVED:
            return self._report(start, f"reserved identifier: {name.text}")
        return Ident(name.start, leading + name.text)

    def _is_struct(self) -> bool:
        at = self._at + 1
        while self._tokens[at].kind == "." and self._tokens[at + 1].kind == "IDENTIFIER":
            at += 2
        return self._tokens[at].kind == "{"

    def _struct(self, leading: str) -> Expr:
        names = [self._match("IDENTIFIER", frozenset({".", "{"})).text]
        while self._token.kind == ".":
            self._match(".", frozenset({"IDENTIFIER"}))
            names.append(self._match("IDENTIFIER", frozenset({".", "{"})).text)
        first = frozenset({"?", "IDENTIFIER", "ESC_IDENTIFIER"})
        sign = self._match("{", first | {",", "}"})
        self._sync(first | {",", "}"})
        fields: list[tuple[int, str, Expr]] = []
        optional: set[int] = set()
        if self._token.kind in first:
            with self._rule(frozenset({",", "}"})):
                while True:
                    if self._token.kind == "?":
                        self._match("?", frozenset({"IDENTIFIER", "ESC_IDENTIFIER"}))
                        optional.add(len(fields))
                    name = self._field(frozenset({":"}))
                    colon = self._match(":", _EXPR)
                    fields.append((colon.start, name.text if name else "", self._expr(frozenset({",", END}))))
                    if self._token.kind != "," or self._peek().kind not in first:
                        break
                    self._match(",", first)
        self._close("}")
        return Struct(sign.start, leading + ".".join(names), fields, optional)

    def _list(self) -> Expr:
        sign = self._match("[", _EXPR | {"?", ",", "]"})
        self._sync(_EXPR | {"?", ",", "]"})
        elements: list[Expr] = []
        optional: set[int] = set()
        if self._token.kind in _EXPR | {"?"}:
            with self._rule(frozenset({",", "]"})):
                while True:
                    element, may_lack = self._maybe(frozenset({",", END}))
                    if may_lack:
                        optional.add(len(elements))
                    elements.append(element)
                    if self._token.kind != "," or self._peek().kind not in _EXPR | {"?"}:
                        break
                    self._match(",", _EXPR | {"?"})
        self._close("]")
        return ListExpr(sign.start, elements, optional)

    def _map(self) -> Expr:
        sign = self._match("{", _EXPR | {"?", ",", "}"})
        self._sync(_EXPR | {"?", ",", "}"})
        entries: list[MapEntry] = []
        if self._token.kind in _EXPR | {"?"}:
            with self._rule(frozenset({",", "}"})):
                while True:
                    key, optional = self._maybe(frozenset({":"}))
                    colon = self._match(":", _EXPR)
                    entries.append(MapEntry(colon.start, key, self._expr(frozenset({",", END})), optional))
                    if self._token.kind != "," or self._peek().kind not in _EXPR | {"?"}:
                        break
                    self._match(",", _EXPR | {"?"})
        self._close("}")
        return MapExpr(sign.start, entries)

    def _maybe(self, follow: Kinds) -> tuple[Expr, bool]:
        found: Expr = Missing(self._token.start)
        optional = False
        with self._rule(follow):
            self._sync(_EXPR | {"?"})
            optional = self._token.kind == "?" and bool(self._match("?", _EXPR))
            found = self._expr(frozenset({END}))
        return found, optional

    def _close(self, kind: str) -> None:
        self._sync(frozenset({",", kind}))
        if self._token.kind == ",":
            self._match(",", frozenset({kind}))
        self._match(kind, frozenset({END}))

    def _literal(self, follow: Kinds) -> Expr:
        start, sign = self._token.start, ""
        with self._rule(follow):
            self._sync(_LITERALS | {"-"})
            start = self._token.start
            if self._token.kind == "-":
                if self._peek().kind not in ("NUM_INT", "NUM_FLOAT"):
                    self._no_way(self._token, self._peek())
                sign = self._match("-", frozenset({"NUM_INT", "NUM_FLOAT"})).text
            token = self._match(self._token.kind, frozenset({END}))
            return self._value(start, sign, token)
        return Missing(start)

    def _value(self, start: int, sign: str, token: Token) -> Expr:
        text = token.text
        match token.kind:
            case "true" | "false":
                return Literal(start, token.kind == "true")
            case "null":
                return Literal(start, None)
            case "NUM_INT":
                number = _integer(sign + text)
                in_range = -(2**63) <= number < 2**63
                return Literal(start, number) if in_range else self._report(start, "invalid int literal")
            case "NUM_UINT":
                number = _integer(text[:-1])
                return Literal(start, Uint(number)) if number < 2**64 else self._report(start, "invalid uint literal")
            case "NUM_FLOAT":
                value = float(sign + text)
                return Literal(start, value) if math.isfinite(value) else self._report(start, "invalid double literal")
        try:
            return Literal(start, unescaped(text))
        except LiteralError as error:
            self._report(start, str(error))
            return Literal(start, text)

    def _call(self, offset: int, function: str, target: Expr | None, args: list[Expr]) -> Expr:
        macro = self._macros.get((function, len(args), target is not None))
        if macro is not None:
            try:
                return macro(offset, target, args)
            except MacroError as error:
                return self._report(error.offset, str(error))
        return Call(offset, function, target, args)


def _integer(text: str) -> int:
    """A number, or one that is too large if it has more digits than any that fits."""
    return int(text, 16 if "0x" in text else 10) if len(text) < 100 else 2**64


def _balanced(function: str, terms: list[Expr], signs: list[int]) -> Expr:
    """A tree that is no deeper than need be: the order of the terms of && and || is the same in any."""
    if len(terms) == 1:
        return terms[0]
    middle = len(signs) // 2
    left = _balanced(function, terms[: middle + 1], signs[:middle])
    right = _balanced(function, terms[middle + 1 :], signs[middle + 1 :])
    return Call(signs[middle], function, None, [left, right])
