"""Transcripts: what is sent to a server, written by people, and what the real one answered, written by a command.

A file is about one area. Each scenario in it has a sentence, a namespace of its own, and steps:

    ## a second object of that name already exists
    given POST configmaps {metadata: {name: a}}
    $ POST configmaps {metadata: {name: a}}
    409 AlreadyExists configmaps a
    configmaps "a" already exists

`given` is a step that must succeed, and whose answer is not looked at. Below a step with `$` stands its answer, as
`answers.py` writes it. A step is a request, in the words of `exchange.py`, whose body may go on in lines that are
indented; or a command, `kubectl get pods`. `python -m conformance.record` writes all answers anew.
"""

from dataclasses import dataclass, replace
from pathlib import Path

RECORDED = Path(__file__).parent / "recorded"
HEADING, ASKED, GIVEN, INDENTED = "## ", "$ ", "given ", "    "


@dataclass(frozen=True)
class Step:
    """One request or command, and what it was answered."""

    line: str
    """As it was written: a request with a long body has several lines."""
    answer: str | None
    """None if it is not looked at."""

    def __str__(self) -> str:
        if self.answer is None:
            return f"{GIVEN}{self.line}\n"
        return f"{ASKED}{self.line}\n" + (f"{self.answer}\n" if self.answer else "")

    def answered(self, answer: str) -> "Step":
        """The same step with another answer."""
        marks = (HEADING, ASKED, GIVEN)
        wrong = [line for line in answer.splitlines() if line.startswith(marks)]
        assert not wrong, f"{self.line}: an answer can't have a line that looks like the next step: {wrong[0]}"
        return replace(self, answer=answer)


@dataclass(frozen=True)
class Scenario:
    """One behaviour: some steps in a namespace of their own."""

    area: str
    says: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return f"{self.area} {self.says}".replace(" ", "-")

    @property
    def text(self) -> str:
        """As it stands in its file."""
        return f"{HEADING}{self.says}\n{''.join(map(str, self.steps))}"


@dataclass(frozen=True)
class Transcript:
    """What is recorded of one area."""

    area: str
    about: str
    """The first lines of the file, which say what it is about."""
    scenarios: tuple[Scenario, ...]

    @property
    def text(self) -> str:
        """As it stands in its file."""
        return "\n".join([self.about, *(each.text for each in self.scenarios)])


def read(text: str, area: str) -> Transcript:
    """The transcript that a file's text is."""
    about, *parts = f"\n{text}".split(f"\n{HEADING}")
    return Transcript(area, about.strip("\n") + "\n", tuple([_scenario(part, area) for part in parts]))


def _scenario(text: str, area: str) -> Scenario:
    says, *lines = text.rstrip("\n").split("\n")
    steps: list[list[str]] = []
    for line in lines:
        if line.startswith((ASKED, GIVEN)):
            steps.append([])
        assert steps, f"{area}: {says}: begins with an answer"
        steps[-1].append(line)
    return Scenario(area, says, tuple(_step(step) for step in steps))


def _step(lines: list[str]) -> Step:
    given = lines[0].startswith(GIVEN)
    last = 1
    # kubectl's output may be indented, but a command is one line.
    while " kubectl " not in f" {lines[0]}" and last < len(lines) and lines[last].startswith(INDENTED):
        last += 1
    line = "\n".join(lines[:last]).removeprefix(GIVEN if given else ASKED)
    answer = "\n".join(lines[last:]).rstrip("\n")
    assert not (given and answer), f"what is given has no answer: {line}"
    return Step(line, None if given else answer)


def areas(below: str = "") -> list[str]:
    """What there are transcripts of, right below a folder: `create`, or `kubectl/create`."""
    return sorted(path.relative_to(RECORDED).with_suffix("").as_posix() for path in (RECORDED / below).glob("*.txt"))


def transcript(area: str) -> Transcript:
    """What is recorded of an area."""
    return read((RECORDED / f"{area}.txt").read_text(), area)


def scenarios(below: str = "") -> list[Scenario]:
    """All scenarios of the areas right below a folder."""
    return [scenario for area in areas(below) for scenario in transcript(area).scenarios]
