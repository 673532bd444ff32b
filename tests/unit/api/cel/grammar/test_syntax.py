"""Reading expressions: what the parser makes of them, and how it complains."""

import pytest

from unit.api.cel.rules_of import problem, run
from windvane.api.cel.grammar.macros import BINDINGS, MACROS
from windvane.api.cel.grammar.parser import parse
from windvane.api.cel.grammar.source import Source
from windvane.api.cel.grammar.syntax import Call, Loop

OPERAND = (
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3 == 7", True),
        ("(1 + 2) * 3 == 9", True),
        ("10 - 3 - 2 == 5", True),
        ("true || false && false", True),
        ("1 < 2 == true", True),
        ("- -1 == 1", True),
        ("!!true", True),
        ("0x1F == 31 && 1e3 == 1000.0 && .5 == 0.5", True),
        (r"'\x41\u00e9\101' == 'AéA' && r'\d' == '\\d'", True),
        ("'''a\nb''' == 'a\\nb'", True),
        (r"b'\x61' == b'a'", True),
        ("1 == 1 // a comment", True),
        ("[1, 2,] == [1, 2] && {'a': 1,}.a == 1", True),
    ],
)
def test_an_expression_means(text: str, value: object) -> None:
    assert run(text) == value


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("self.text ==", "1:13", f"Syntax error: mismatched input '<EOF>' expecting {OPERAND}"),
        ("self.count > 1)", "1:15", "Syntax error: extraneous input ')' expecting <EOF>"),
        ("(self.count > 1", "1:16", "Syntax error: missing ')' at '<EOF>'"),
        ("self.", "1:6", "Syntax error: no viable alternative at input '.'"),
        ("self.true", "1:6", "Syntax error: mismatched input 'true' expecting IDENTIFIER"),
        ("[1, 2", "1:6", "Syntax error: mismatched input '<EOF>' expecting {']', ','}"),
        ("a b c", "1:3", "Syntax error: mismatched input 'b' expecting <EOF>"),
        ("if == 1", "1:1", "reserved identifier: if"),
        ("9223372036854775808 == 1", "1:1", "invalid int literal"),
        ("has(self)", "1:5", "invalid argument to has() macro"),
        ("self.names.all(1, true)", "1:16", "argument must be a simple name"),
    ],
)
def test_an_expression_can_not_be_read(text: str, place: str, message: str) -> None:
    assert problem(text).startswith(f"compilation failed: ERROR: <input>:{place}: {message}\n | {text}\n | ")


def test_what_is_no_token_is_skipped_and_reading_goes_on() -> None:
    assert problem("self.text = 'x'") == (
        "compilation failed: ERROR: <input>:1:11: Syntax error: token recognition error at: '= '\n"
        " | self.text = 'x'\n | ..........^\n"
        "ERROR: <input>:1:13: Syntax error: extraneous input ''x'' expecting <EOF>\n"
        " | self.text = 'x'\n | ............^"
    )


def test_the_mark_is_below_the_place_on_its_line() -> None:
    assert problem("self.text == 'a' &&\n\tself.nothing").endswith(
        "ERROR: <input>:2:6: undefined field 'nothing'\n |  self.nothing\n | .....^"
    )


def test_wide_characters_have_wide_dots() -> None:
    assert problem("'é' == x").endswith("\n | 'é' == x\n | .．.....^")


def test_nesting_without_end_is_refused() -> None:
    assert "expression recursion limit exceeded" in problem("(" * 5000 + "1" + ")" * 5000)


def test_a_chain_without_end_is_refused() -> None:
    assert problem(" + ".join(["1"] * 5000) + " == 1").endswith("ERROR: <input>:-1:0: max recursion depth exceeded")
    assert problem(" && ".join(["true"] * 5000)) == ""


def test_an_empty_text_has_no_line_to_show() -> None:
    tree, issues = parse("")
    assert Source("").report(issues).startswith("ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>'")
    assert "\n" not in Source("").report(issues)
    assert tree.offset <= 0


def test_names_can_be_bound_only_where_that_is_known() -> None:
    text = "cel.bind(a, 1, a + 1)"
    assert isinstance(parse(text)[0], Call)
    assert isinstance(parse(text, {**MACROS, **BINDINGS})[0], Loop)
    (issue,) = parse("cel.bind(a.b, 1, true)", BINDINGS)[1]
    assert issue.message == "cel.bind() variable names must be simple identifiers"
