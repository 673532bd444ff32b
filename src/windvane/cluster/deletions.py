"""Records which client deleted what, in the history of a cluster: managedFields tell all other changes, not this one.

It is for clients from outside. What the cluster's own controllers delete is told by their passes.
"""

import msgspec

from windvane.api.envelope import EnvelopeMeta
from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import Answer, Handler, User
from windvane.cluster.apiserver.encoding.media_types import header
from windvane.runtime.observability.history import Deletion
from windvane.runtime.observability.journal import Journal
from windvane.runtime.writes.write_recorder import place_of


class _Answered(msgspec.Struct):
    metadata: EnvelopeMeta = EnvelopeMeta()


_decoder = msgspec.json.Decoder(_Answered)


def record_deletions(handle: Handler, journal: Journal) -> Handler:
    """The same API server, which writes deletions to the history."""

    async def handle_and_record(request: Request, user: User) -> Answer:
        answer = await handle(request, user)
        if request.method == "DELETE" and answer.code < 300 and ("dryRun", "All") not in request.query:
            place = place_of(request.path)
            if place is not None and not place.subresource:
                journal.write_deletion(
                    Deletion(
                        resource=".".join(filter(None, (place.resource, place.group))),
                        namespace=place.namespace,
                        name=place.name,
                        version=_version(answer),
                        client=header(request, "User-Agent").partition("/")[0],
                        user=user.name,
                    )
                )
        return answer

    return handle_and_record


def _version(answer: Answer) -> str:
    """The resourceVersion that the deletion has given the object, if it has yet to go."""
    try:
        return _decoder.decode(answer.body).metadata.resource_version
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
