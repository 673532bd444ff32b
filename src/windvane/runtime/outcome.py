"""How a pass can end other than by being done: later, once something has happened, or not at all."""

from datetime import timedelta


class After:
    """Returned from a reconcile: come back after that long, even if nothing changes. `return After(hours=1)`.

    What a pass writes into its own status brings no pass. One that goes on from there, step by step, returns
    `After(seconds=0)`: again, once that is written.
    """

    def __init__(self, *, hours: float = 0, minutes: float = 0, seconds: float = 0) -> None:
        delay = timedelta(hours=hours, minutes=minutes, seconds=seconds).total_seconds()
        if delay < 0:
            raise ValueError("After needs a time that is still to come: After(seconds=30), say")
        self.seconds = delay

    def __repr__(self) -> str:
        return f"After(seconds={self.seconds:g})"


class Fatal(Exception):
    """It can't work as the spec is: shown in status, and not tried again until the object changes.

    raise Fatal("unknown version 9.9")
    """


class Waiting(Exception):
    """The pass ends here, because something must happen first. `ctx.wait` raises it."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after
