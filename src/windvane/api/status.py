"""The object with which the API server reports an error: Kubernetes calls it `Status`.

Here it is `APIStatus`, because `Status` is what authors derive their resources' status from.
"""

from windvane.api.meta import ListMeta
from windvane.api.struct import Struct, field


class StatusCause(Struct):
    """One of the reasons for an error, most often one invalid field."""

    reason: str = ""
    message: str = ""
    field: str = ""


class StatusDetails(Struct):
    """What the error is about."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: list[StatusCause] = []
    retry_after_seconds: int = 0


class APIStatus(Struct):
    """The answer to a request that failed, or that has no object to return."""

    # Factories, because a field that has its plain default is not sent, and these always must be.
    api_version: str = field(default_factory=lambda: "v1")
    kind: str = field(default_factory=lambda: "Status")
    metadata: ListMeta = field(default_factory=ListMeta)
    status: str = ""
    message: str = ""
    reason: str = ""
    details: StatusDetails | None = None
    code: int = 0
