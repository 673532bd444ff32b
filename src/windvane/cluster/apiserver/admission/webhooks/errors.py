"""The ways in which a webhook says no, or can't be asked, in the real server's words."""

from windvane.api.status import APIStatus, StatusCause, StatusDetails
from windvane.api.wording import quoted
from windvane.cluster.apiserver.failure import Failure, failure


class FailedCall(Exception):
    """A webhook that could not be asked, or gave no answer of use; whether that matters is for its failurePolicy."""

    def __init__(self, webhook: str, why: str, code: int = 503) -> None:
        super().__init__(f"failed calling webhook {quoted(webhook)}: {why}")
        self.code = code
        """By which metrics count it."""


def internal_error(words: str) -> Failure:
    """Something went wrong that is no fault of the client's."""
    details = StatusDetails(causes=[StatusCause(message=words)])
    return failure(500, "InternalError", f"Internal error occurred: {words}", details)


def denial(webhook: str, status: APIStatus | None) -> Failure:
    """A webhook's no. What it says beside is passed on, as far as it is the tale of a failure."""
    status = status if status is not None else APIStatus()
    denied = f"admission webhook {quoted(webhook)} denied the request"
    told = status.message or status.reason
    status.message = f"{denied}: {told}" if told else f"{denied} without explanation"
    if status.code < 400:
        status.code = 400
    if status.status in ("", "Success"):
        status.status = "Failure"
    return Failure(status)
