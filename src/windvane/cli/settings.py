"""What a command can be told by flags or by environment variables: `--log-level` is also WINDVANE_LOG_LEVEL.

The flag wins. A variable that is empty counts as not set: that is what a template leaves where nothing was filled in.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class _Variables:
    """Which variables stand for one flag, the first before the others, and how their text is read."""

    names: Sequence[str]
    read: Callable[[str], Any]


class Settings:
    """The flags of one command, each of which has a variable too."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._parser = parser
        self._variables: dict[str, _Variables] = {}

    def add(
        self,
        flag: str,
        text: str,
        *,
        metavar: str,
        read: Callable[[str], Any] = str,
        several: bool = False,
        also: str = "",
    ) -> None:
        """A flag with a value, which is None if nothing says what it is.

        With `several`, `read` gives a list, and the flag may be repeated. `also` is another variable, which counts if
        the flag's own is not set.
        """
        names = [f"WINDVANE_{flag.removeprefix('--').replace('-', '_').upper()}", *([also] if also else [])]
        action = self._parser.add_argument(
            flag,
            type=read,
            metavar=metavar,
            action="extend" if several else "store",
            help=f"{text} [{', '.join(names)}]".replace("%", "%%"),
        )
        self._variables[action.dest] = _Variables(names, read)

    def add_switch(self, flag: str, text: str) -> None:
        """A flag that also has its opposite, such as --no-leader-elect; None if nothing says which."""
        self._add_boolean(flag, text, argparse.BooleanOptionalAction)

    def add_consent(self, flag: str, text: str) -> None:
        """A flag that has no opposite; None if nothing says so."""
        self._add_boolean(flag, text, "store_true")

    def _add_boolean(self, flag: str, text: str, action: Any) -> None:
        name = f"WINDVANE_{flag.removeprefix('--').replace('-', '_').upper()}"
        # argparse adds "(default: None)" to the help of some actions, unless there is no default.
        added = self._parser.add_argument(flag, action=action, default=argparse.SUPPRESS, help=f"{text} [{name}]")
        self._variables[added.dest] = _Variables([name], _read_switch)

    def fill_in(self, options: argparse.Namespace, environ: Mapping[str, str]) -> None:
        """Take from the environment what the command line doesn't say; end the program if that can't be read."""
        for name, variables in self._variables.items():
            if getattr(options, name, None) is None:
                setattr(options, name, self._from(variables, environ))

    def _from(self, variables: _Variables, environ: Mapping[str, str]) -> Any:
        for variable in variables.names:
            if text := environ.get(variable):
                try:
                    return variables.read(text)
                except argparse.ArgumentTypeError as error:
                    self._parser.error(f"variable {variable}: {error}")
        return None


def _read_switch(text: str) -> bool:
    match text.lower():
        case "true" | "1" | "yes" | "on":
            return True
        case "false" | "0" | "no" | "off":
            return False
    raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
