"""Draws what a program wrote to a terminal as an SVG: a window with lines of text, in the few colours that it used.

    script -qec "windvane dev --plain" typescript          (or any other way to keep what a terminal got)
    python tools/terminal_picture.py typescript docs/dev.svg --title "windvane dev" --until "Ready is True" --more 4

A program that has the whole screen to itself is drawn as tmux shows it, in all of its colours:

    tmux capture-pane -e -N -p >screen; python tools/terminal_picture.py screen docs/dev-objects.svg --columns 120

Nothing is made up: a line is as it was written, or cut at the width of the window.
"""

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

COLUMN, LINE, MARGIN, BAR = 7.8, 18.0, 16.0, 34.0
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
STYLES = {"1": "bold", "2": "dim", "31": "red", "32": "green"}
"""What of a terminal's sixteen colours is drawn; others, by their red, green and blue, are all."""
SHEET = """
  text { font: 13px %s; fill: #d7dae0; }
  .bold { font-weight: bold; fill: #ffffff; } .dim { fill: #7d8590; } .red { fill: #ff7b72; } .green { fill: #7ee787; }
  .title { fill: #9da5b4; text-anchor: middle; }
"""
ESCAPE = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")


@dataclass(frozen=True)
class Span:
    """Some characters of a line that look the same."""

    column: int
    text: str
    style: str
    colour: str = ""
    background: str = ""


class Pen:
    """How characters look from here on, by the codes that came before."""

    def __init__(self) -> None:
        self.style = self.colour = self.background = ""

    def take(self, codes: str) -> None:
        """Look as these codes say: `1`, or `38;2;255;123;133`."""
        numbers = (codes or "0").split(";")
        while numbers:
            match numbers:
                case ["38", "2", red, green, blue, *numbers]:
                    self.colour = _hex(red, green, blue)
                case ["48", "2", red, green, blue, *numbers]:
                    self.background = _hex(red, green, blue)
                case ["39", *numbers]:
                    self.colour = ""
                case ["49", *numbers]:
                    self.background = ""
                case ["0", *numbers]:
                    self.style = self.colour = self.background = ""
                case [code, *numbers]:
                    self.style = STYLES.get(code, "")


def _hex(*parts: str) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in parts)


def main() -> None:
    """Draw a file."""
    parser = argparse.ArgumentParser(description="Draw what a program wrote to a terminal as an SVG.")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--title", default="", help="what stands above the window")
    parser.add_argument("--columns", type=int, default=118, help="how wide the window is (default: 118)")
    parser.add_argument("--until", default="", help="the last line that is drawn has this in it")
    parser.add_argument("--more", type=int, default=0, help="and so many more lines")
    options = parser.parse_args()
    lines = chosen(options.source.read_text(), options.until, options.more)
    options.target.write_text(drawn(lines, options.title, options.columns))


def chosen(text: str, until: str, more: int) -> list[str]:
    """The lines to be drawn, without the notes of `script` itself."""
    lines = [line.rstrip("\r") for line in text.split("\n") if not line.startswith(("Script started", "Script done"))]
    if until:
        last = next((index for index, line in enumerate(lines) if until in ESCAPE.sub("", line)), None)
        if last is None:
            raise SystemExit(f"no line has {until!r} in it")
        lines = lines[: last + 1 + more]
    return lines


def spans(line: str, pen: Pen | None = None) -> Iterator[Span]:
    """A line in parts that look the same; it begins as the line before ended."""
    pen = pen or Pen()
    column, at = 0, 0
    for code in [*ESCAPE.finditer(line), None]:
        text = line[at : code.start() if code else None]
        if text:
            yield Span(column, text, pen.style, pen.colour, pen.background)
            column += len(text)
        if code:
            at = code.end()
            if code[2] == "m":
                pen.take(code[1])


def drawn(lines: list[str], title: str, columns: int) -> str:
    """The SVG."""
    width, height = columns * COLUMN + 2 * MARGIN, len(lines) * LINE + BAR + 2 * MARGIN - 6
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{SHEET % FONT}</style>",
        f'<rect width="{width:g}" height="{height:g}" rx="9" fill="#16191f"/>',
        *(
            f'<circle cx="{MARGIN + 5 + 20 * index:g}" cy="{BAR / 2:g}" r="6" fill="{colour}"/>'
            for index, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
        ),
        f'<text class="title" x="{width / 2:g}" y="{BAR / 2 + 4.5:g}">{escape(title)}</text>',
    ]
    pen = Pen()
    for number, line in enumerate(lines):
        y = BAR + MARGIN + number * LINE + 6
        for span in spans(line, pen):
            text = span.text[: max(0, columns - span.column)]
            if span.background and text:
                left, long = MARGIN + span.column * COLUMN, len(text) * COLUMN
                place = f'x="{left:.1f}" y="{y - 13:g}" width="{long:.1f}" height="{LINE:g}"'
                parts.append(f'<rect {place} fill="{span.background}"/>')
            if not text.strip():
                continue
            indent = len(text) - len(text.lstrip())
            x, long = MARGIN + (span.column + indent) * COLUMN, len(text.strip()) * COLUMN
            style = f' class="{span.style}"' if span.style else ""
            style += f' style="fill: {span.colour}"' if span.colour else ""
            # With its length said, and spaces that are not folded into one, columns stand below each other in any font.
            words = escape(text.strip()).replace(" ", "\u00a0")
            parts.append(f'<text{style} x="{x:.1f}" y="{y:g}" textLength="{long:.1f}">{words}</text>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    main()
