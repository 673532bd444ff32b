"""The text of an expression, and what is wrong with it, shown with the line and a mark below the place."""

from bisect import bisect_right
from dataclasses import dataclass

NOWHERE = -1
"""The offset of an issue that is about the whole text."""

_MOST_ISSUES = 100
_LONGEST_SNIPPET = 16384


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that is wrong, and where: an offset in characters."""

    offset: int
    message: str


class Source:
    """The text of one expression."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(index + 1 for index, character in enumerate(text) if character == "\n")]

    def location(self, offset: int) -> tuple[int, int]:
        """The line, from 1, and the column, from 0, of a character."""
        if offset < 0:
            return -1, -1
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def report(self, issues: list[Issue]) -> str:
        """All issues as one text, in the order of their places."""
        placed = sorted(issues[:_MOST_ISSUES], key=lambda issue: self.location(issue.offset))
        shown = [self._shown(issue) for issue in placed]
        if len(issues) > _MOST_ISSUES:
            shown.append(f"{len(issues) - _MOST_ISSUES} more errors were truncated")
        return "\n".join(shown)

    def _shown(self, issue: Issue) -> str:
        line, column = self.location(issue.offset)
        if not self.text and line > 0:
            return f"ERROR: <input>:1:0: {issue.message}"  # there is no line that could be shown
        told = f"ERROR: <input>:{line}:{column + 1}: {issue.message}"
        if line < 0:
            return told
        snippet = self.text.split("\n")[line - 1].replace("\t", " ")
        if len(snippet.encode()) > _LONGEST_SNIPPET:
            return told
        dots = "".join("." if character.isascii() else "\uff0e" for character in snippet[:column])
        mark = "^" if snippet[column : column + 1].isascii() else "\uff3e"
        return f"{told}\n | {snippet}\n | {dots}{mark}"
