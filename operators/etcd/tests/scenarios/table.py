"""The table of scenarios for README.md, from the figures of the last run of each."""

import json
import sys
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).parent / "figures.jsonl"
HEAD = """\
| | scenario | result | seconds | longest pause of writes | acknowledged keys | operator killed |
|---|---|---|---|---|---|---|"""


def row(figures: dict[str, Any]) -> str:
    """One scenario."""
    what = " ".join(figures["test"].split("_")[2:]).replace("[", " (").replace("]", ")")
    cells = [
        str(figures["scenario"]),
        what[0].upper() + what[1:],
        "passed" if figures["passed"] else "**failed**",
        number(figures.get("seconds"), ".0f"),
        number(figures.get("gap"), ".1f", " s"),
        number(figures.get("keys"), ",d") + (f", {figures['lost']:,d} given up" if figures.get("lost") else ""),
        number(figures.get("kills"), ",d", " times"),
    ]
    return f"| {' | '.join(cells)} |"


def number(value: float | None, form: str, unit: str = "") -> str:
    """A figure, or nothing."""
    return "" if value is None else f"{value:{form}}{unit}"


def main() -> None:
    """Print it."""
    last = {}
    for line in FIGURES.read_text().splitlines():
        figures = json.loads(line)
        last[figures["scenario"], figures["test"]] = figures
    sys.stdout.write("\n".join([HEAD, *(row(last[key]) for key in sorted(last))]) + "\n")


if __name__ == "__main__":
    main()
