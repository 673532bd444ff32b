"""What is wrong with a cron schedule, in the words of the parser that kube-apiserver uses."""

from windvane.api.cron import Cron
from windvane.api.duration import parse_nanoseconds

_BOUNDS = ((0, 59, ()), (0, 23, ()), (1, 31, ()), (1, 12, (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)), (0, 6, ("sun", "mon", "tue", "wed", "thu", "fri", "sat")))  # fmt: skip
LONGEST_NUMBER = 18
_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")


def cron_problem(schedule: str) -> str:
    """The problem with a schedule, or nothing."""
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        zone, space, rest = schedule.partition(" ")
        return cron_problem(rest.strip()) if space else f"provided bad location {zone.partition('=')[2]}"
    if schedule.startswith("@"):
        return _descriptor_problem(schedule)
    fields = schedule.split()
    if len(fields) != 5:
        listed = " ".join(fields)
        return f"expected exactly 5 fields, found {len(fields)}: [{listed}]"
    for expression, (low, high, names) in zip(fields, _BOUNDS, strict=True):
        for part in expression.split(","):
            if part and (problem := _part_problem(part, low, high, names)):
                return problem
    try:
        Cron(schedule)
    except ValueError as error:
        return str(error)
    return ""


def _descriptor_problem(schedule: str) -> str:
    if schedule in _DESCRIPTORS:
        return ""
    if not schedule.startswith("@every "):
        return f"unrecognized descriptor: {schedule}"
    duration = schedule.removeprefix("@every ")
    try:
        parse_nanoseconds(duration)
    except ValueError:
        unit = duration.replace(".", "").isdigit()
        why = "missing unit in duration" if unit else "invalid duration"
        return f'failed to parse duration {schedule}: time: {why} "{duration}"'
    return ""


def _part_problem(part: str, low: int, high: int, names: tuple[str, ...]) -> str:
    """The problem with one part of a field, such as `1-5/2`."""
    span, *steps = part.split("/")
    if len(steps) > 1:
        return f"too many slashes: {part}"
    ends = span.split("-")
    numbers = [low, high]
    if ends[0] not in ("*", "?"):
        if len(ends) > 2:
            return f"too many hyphens: {part}"
        for index, text in enumerate(ends):
            if text.lower() in names:
                number = names.index(text.lower()) + low
            elif problem := _number_problem(text):
                return problem
            else:
                number = int(text)
            numbers[index] = number
        if len(ends) == 1:
            numbers[1] = high if steps else numbers[0]
    step = 1
    if steps:
        if problem := _number_problem(steps[0]):
            return problem
        step = int(steps[0])
    if numbers[0] < low:
        return f"beginning of range ({numbers[0]}) below minimum ({low}): {part}"
    if numbers[1] > high:
        return f"end of range ({numbers[1]}) above maximum ({high}): {part}"
    if numbers[0] > numbers[1]:
        return f"beginning of range ({numbers[0]}) beyond end of range ({numbers[1]}): {part}"
    return f"step of range should be a positive number: {part}" if step == 0 else ""


def _number_problem(text: str) -> str:
    if len(text) > LONGEST_NUMBER and text.isdigit():
        return f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": value out of range'
    if text.isascii() and text.isdigit():
        return ""
    if text[:1] in "+-" and text[1:].isdigit():
        return f"negative number ({text}) not allowed: {text}" if text[0] == "-" else ""
    return f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax'
