"""Errors of webhooks: denials and failed calls, in the real server's words."""

from windvane.api.status import APIStatus, StatusCause, StatusDetails
from windvane.api.wording import quoted
from windvane.cluster.apiserver.failure import Failure, failure


class FailedCall(Exception):
    """A call of a webhook failed; its failurePolicy says whether the request does, too."""

    def __init__(self, webhook: str, why: str, code: int = 503) -> None:
        super().__init__(f"failed calling webhook {quoted(webhook)}: {why}")
        self.code = code
        """The code in metrics."""


def internal_error(words: str) -> Failure:
    """The 500 for an error that the client did not cause."""
    details = StatusDetails(causes=[StatusCause(message=words)])
    return failure(500, "InternalError", f"Internal error occurred: {words}", details)


def denial(webhook: str, status: APIStatus | None) -> Failure:
    """A webhook's denial, with the parts of its Status that fit a failure."""
    status = status if status is not None else APIStatus()
    denied = f"admission webhook {quoted(webhook)} denied the request"
    told = status.message or status.reason
    status.message = f"{denied}: {told}" if told else f"{denied} without explanation"
    if status.code < 400:
        status.code = 400
    if status.status in ("", "Success"):
        status.status = "Failure"
    return Failure(status)
