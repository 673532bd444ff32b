"""What some containers do is known without running them: `pause` never ends, and `sleep 300` ends after 300 seconds."""

from windvane.k8s.core import Container

NEVER = float("inf")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def lasts(container: Container) -> float | None:
    """How many seconds a container runs, and then ends well; None if its image and command don't tell."""
    words = [*container.command, *container.args]
    if not words:
        name = (container.image or "").rpartition("/")[2].partition("@")[0].partition(":")[0]
        return NEVER if name == "pause" else None
    program, *times = words
    if program.rpartition("/")[2] != "sleep" or not times:
        return None
    try:
        return sum(map(_seconds, times))
    except ValueError:
        return None


def _seconds(text: str) -> float:
    if text in ("inf", "infinity"):
        return NEVER
    unit = UNITS.get(text[-1:])
    number = text[:-1] if unit else text
    if not number.replace(".", "", 1).isdecimal():
        raise ValueError(text)
    return float(number) * (unit or 1)
