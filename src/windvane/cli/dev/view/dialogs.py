"""What stands over the live view for a moment: a question, long words, the keys."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from windvane.cli.dev.view.wording import Tone, text

KEYS = (
    ("↑ ↓ g G", "move; PgUp and PgDn by a page"),
    ("⏎", "open: an object's history and YAML; a line in full"),
    ("← → space", "fold and unfold what belongs to an object"),
    ("tab", "to the next pane"),
    ("1 2 3 4", "Events, the operator's log, the pod's log, notes"),
    ("z", "have the pane fill the screen, and not any more"),
    ("/", "show only what has these words; Esc shows all again"),
    ("", ""),
    ("d", "delete the selected object; you are asked"),
    ("k", "kill the selected pod: it has no time to end by itself"),
    ("p", "pause the operator (SIGSTOP); again, and it goes on"),
    ("w", "drop its watches: all its connections are cut"),
    ("r", "restart it: it ends as with SIGTERM and is started anew"),
    ("K", "kill it (SIGKILL); it is started anew"),
    ("", ""),
    ("e", "all of what is wrong with the operator: the traceback"),
    ("?", "these keys"),
    ("q", "quit; Ctrl-C as well"),
)


class Confirm(ModalScreen[bool]):
    """A question that is answered with y or n."""

    DEFAULT_CSS = """
    Confirm { align: center middle; }
    Confirm > Static { width: auto; max-width: 90%; height: auto; padding: 1 3; border: round $warning;
                       background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "answer(True)", "yes"),
        Binding("n,escape,q", "answer(False)", "no"),
    ]

    def __init__(self, question: str, consequence: str) -> None:
        super().__init__()
        self._question = question
        self._consequence = consequence

    def compose(self) -> ComposeResult:
        words = text((self._question, Tone.STRONG), "\n")
        words.append(f"\n{self._consequence}\n\n", Tone.QUIET.value)
        words.append("y", Tone.ACCENT.value)
        words.append(" yes     ")
        words.append("n", Tone.ACCENT.value)
        words.append(" no")
        yield Static(_wrapped(words))

    def action_answer(self, answer: bool) -> None:
        """Go back with the answer."""
        self.dismiss(answer)


class TextPage(ModalScreen[None]):
    """Words that may be long."""

    DEFAULT_CSS = """
    TextPage { align: center middle; }
    TextPage > Vertical { width: auto; max-width: 94%; height: auto; max-height: 92%; padding: 0 2;
                          border: round $primary; background: $surface; }
    TextPage VerticalScroll { width: auto; max-width: 100%; height: auto; max-height: 100%;
                              scrollbar-size-vertical: 1; }
    TextPage Static { width: auto; max-width: 100%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter,question_mark", "close", "back")]

    def __init__(self, title: str, words: Text) -> None:
        super().__init__()
        self._title = title
        self._words = words

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = text(self._title).plain
            box.border_subtitle = "Esc"
            with VerticalScroll():
                yield Static(_wrapped(self._words))

    def action_close(self) -> None:
        """Go back."""
        self.dismiss(None)


def keys() -> TextPage:
    """What each key does."""
    lines = [text((f"{key:>10}  ", Tone.ACCENT), words) for key, words in KEYS]
    return TextPage("keys", Text("\n").join(lines))


def _wrapped(words: Text) -> Text:
    made = words.copy()
    made.no_wrap, made.overflow = False, "fold"
    return made
