"""What the cluster's own API server says to the writes of a plan, by dry runs: `windvane plan --server`.

It has webhooks, policies and quotas that the view knows nothing of. Each object is judged by the first write of it
alone: the second would be based on what the server has not kept. Deletions are not asked about.
"""

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from windvane.cli.plan.diff import object_change
from windvane.cli.plan.transport import DRY, DRY_METHODS, DryRuns
from windvane.client.calls import Calls
from windvane.client.errors import APIError, BadRequest, ClientError, Conflict, NotFound
from windvane.client.transport import Request, Transport
from windvane.cluster.apiserver.target import Target

SHOWN = 5


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
        if request.method not in DRY_METHODS or target.subresource not in ("", "status"):
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
