"""The picture of a terminal: every character that was written, where it was, in its colour."""

import re
from xml.etree import ElementTree

import pytest

from terminal_picture import Pen, Span, chosen, drawn, spans


def test_a_line_is_in_parts_that_look_the_same() -> None:
    assert list(spans("\x1b[2m 1.0s\x1b[0m  \x1b[1mprod\x1b[0m is up")) == [
        Span(0, " 1.0s", "dim"),
        Span(5, "  ", ""),
        Span(7, "prod", "bold"),
        Span(11, " is up", ""),
    ]


def test_colours_and_what_is_behind_are_as_they_were_also_in_the_next_line() -> None:
    pen = Pen()
    first = list(spans("\x1b[1;38;2;255;0;16;48;2;0;0;1mred\x1b[39m on", pen))
    assert first == [Span(0, "red", "bold", "#ff0010", "#000001"), Span(3, " on", "bold", "", "#000001")]
    assert list(spans("black\x1b[49m\x1b[m.", pen)) == [Span(0, "black", "bold", "", "#000001"), Span(5, ".", "")]
    picture = drawn(["\x1b[48;2;0;0;1m  \x1b[38;2;255;0;16ma"], "", columns=80)
    assert picture.count('fill="#000001"') == 2
    assert 'style="fill: #ff0010"' in picture


def test_everything_is_drawn_and_is_xml() -> None:
    picture = drawn(["a <b>  & c", "\x1b[32mgreen\x1b[0m", ""], "make run", columns=80)
    texts = [
        (each.text or "").replace("\u00a0", " ")
        for each in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert texts == ["make run", "a <b>  & c", "green"]


def test_what_is_wider_than_the_window_is_cut() -> None:
    picture = drawn(["12345\x1b[1m67890\x1b[0m12345"], "", columns=8)
    assert re.findall(r">(\d+)</text>", picture) == ["12345", "678"]


def test_lines_are_drawn_until_the_one_that_is_named_and_the_notes_of_script_are_not() -> None:
    text = "Script started on today\na\r\n\x1b[1mmem\x1b[0mbers\r\nb\r\nc\r\nScript done\n"
    assert chosen(text, "members", 1) == ["a", "\x1b[1mmem\x1b[0mbers", "b"]
    with pytest.raises(SystemExit, match="nobody"):
        chosen(text, "nobody", 0)
