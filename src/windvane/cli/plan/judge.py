"""What the cluster's own API server says to the writes of a plan, by dry runs: `windvane plan --server`.

It has webhooks, policies and quotas that the view knows nothing of. Each object is judged by the first write of it
alone: the second would be based on what the server has not kept. Deletions are not asked about.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any

import msgspec

from windvane.cli.plan.diff import object_change
from windvane.cli.plan.outside import not_outside
from windvane.client.calls import Calls
from windvane.client.errors import APIError, BadRequest, ClientError, Conflict, NotFound
from windvane.client.transport import Request, Response, Transport
from windvane.cluster.apiserver.target import Target

DRY = ("dryRun", "All")
METHODS = ("PATCH", "POST", "PUT")
SHOWN = 5


class NotADryRun(ClientError):
    """Something was about to be written to the cluster. It was not sent."""


class DryRuns:
    """The cluster, for dry runs: whatever else is asked of it is not sent, whoever asks. A `Transport`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """See `Transport.open`."""
        if request.method not in METHODS or DRY not in request.query:
            raise NotADryRun(f"{request}: this is no dry run, and was not sent: it is a bug of windvane's")
        with not_outside():
            async with self._transport.open(request) as response:
                yield response

    def websocket(self, request: Request, protocols: object) -> AbstractAsyncContextManager[Any]:
        """See `Transport.websocket`."""
        del protocols
        raise NotADryRun(f"{request}: windvane plan opens no WebSockets")

    async def close(self) -> None:
        """Nothing: the transport below is its maker's."""


class Judge:
    """Asks the API server of the cluster about writes."""

    def __init__(self, transport: Transport) -> None:
        self._calls = Calls(DryRuns(transport))
        self.refusals: dict[str, str] = {}
        """The objects that it would refuse, and why."""
        self.remarks: dict[str, None] = {}
        """What else it says; an ordered set."""

    async def ask(self, request: Request, target: Target, made: bytes, versions: Mapping[str, str]) -> None:
        """Ask about a request that has made `made` of an object in the view.

        `versions` says for each version that the view gave to an object which it has in the cluster.
        """
        if request.method not in METHODS or target.subresource not in ("", "status"):
            return
        here = msgspec.json.decode(made)
        metadata, kind = here["metadata"], target.type.kind
        what = f"{kind.name} {'/'.join(filter(None, (metadata.get('namespace'), metadata['name'])))}"
        asked = replace(request, query=[*request.query, DRY], body=_in_its_version(request.body, versions))
        try:
            there = msgspec.json.decode(await self._calls.call(asked))
        except (NotFound, Conflict) as error:
            self.remarks[f"{what} can't be judged by the server before other parts of the plan are there: {error}"] = (
                None
            )
        except BadRequest as error:
            if "dry run" not in str(error):
                self.refusals[what] = str(error)
                return
            self.remarks[f"{what} can't be judged by the server: {error}"] = None
        except APIError as error:
            self.refusals[what] = str(error)
        except ClientError as error:
            self.remarks[f"{what} was not judged: {error}"] = None
        else:
            change = object_change(kind, here, there)
            paths = [each.path for each in change.fields if not each.path.startswith("status")] if change else []
            if paths:
                more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
                self.remarks[f"the server makes something else of {what}: {', '.join(paths[:SHOWN])}{more}"] = None


def _in_its_version(body: bytes | None, versions: Mapping[str, str]) -> bytes | None:
    """A body that is based on a version of the view, as it is based on that of the cluster."""
    wire = msgspec.json.decode(body or b"null")
    metadata = wire.get("metadata") if isinstance(wire, dict) else None
    if not isinstance(metadata, dict) or metadata.get("resourceVersion") not in versions:
        return body
    metadata["resourceVersion"] = versions[metadata["resourceVersion"]]
    return msgspec.json.encode(wire)
