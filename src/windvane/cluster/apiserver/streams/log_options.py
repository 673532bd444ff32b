"""PodLogOptions, read from a query and checked in the real server's words."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from windvane import ambient
from windvane.api.status import StatusCause, StatusDetails
from windvane.api.wording import forbidden, invalid, unsupported
from windvane.cluster.apiserver.failure import bad_request, failure
from windvane.cluster.apiserver.request.options import is_on, whole_number
from windvane.cluster.kubelet import LogOptions, Output

STREAMS: Mapping[str, frozenset[Output]] = {
    "All": frozenset({"stdout", "stderr"}),
    "Stdout": frozenset({"stdout"}),
    "Stderr": frozenset({"stderr"}),
}


def read_log_options(pod: str, query: dict[str, str]) -> LogOptions:
    """The options for the logs of a pod; a `Failure` 422 if they are invalid."""
    tail, limit = whole_number(query, "tailLines"), whole_number(query, "limitBytes")
    seconds, since = whole_number(query, "sinceSeconds"), _time(query.get("sinceTime"))
    stream = query.get("stream", "All")
    causes = []
    if tail is not None and tail < 0:
        causes.append(invalid("tailLines", tail, "must be greater than or equal to 0"))
    if limit is not None and limit < 1:
        causes.append(invalid("limitBytes", limit, "must be greater than 0"))
    if seconds is not None and since is not None:
        causes.append(forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
    elif seconds is not None and seconds < 1:
        causes.append(invalid("sinceSeconds", seconds, "must be greater than 0"))
    if stream not in STREAMS:
        causes.append(unsupported("stream", stream, sorted(STREAMS)))
    elif stream != "All" and tail is not None:
        causes.append(forbidden("", "`tailLines` and specific `stream` are mutually exclusive for now"))
    _refuse(pod, causes)
    if seconds is not None:
        since = ambient.now() - timedelta(seconds=seconds)
    return LogOptions(
        follow=is_on(query, "follow"),
        previous=is_on(query, "previous"),
        timestamps=is_on(query, "timestamps"),
        since=since,
        tail=tail,
        limit=limit,
        streams=STREAMS[stream],
    )


def _time(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            raise ValueError
    except ValueError:
        raise bad_request(f'parsing time "{text[:100]}": it must look like 2006-01-02T15:04:05Z') from None
    return time.astimezone(ambient.now().tzinfo)


def _refuse(pod: str, causes: list[StatusCause]) -> None:
    if causes:
        problems = [f"{each.field or '<nil>'}: {each.message}" for each in causes]
        listed = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        details = StatusDetails(name=pod, kind="PodLogOptions", causes=causes)
        raise failure(422, "Invalid", f'PodLogOptions "{pod}" is invalid: {listed}', details)
