"""Memory: counts the Secrets of each namespace without ever having one of them in memory.

windvane run examples/count_secrets.py --install-crds

Of an object that is declared with `only_metadata` the server sends its metadata and nothing else. `watch_only` leaves
out whole objects: here Helm's, of which there may be thousands.
"""

from windvane import Context, Metadata, Operator, Resource, Spec, Status, View, Watch, only_metadata
from windvane.k8s import core

SecretMetadata = only_metadata(core.Secret)


class CensusStatus(Status):
    secrets: int = 0
    """How many Secrets are in its namespace."""


class Census(Resource[Spec, CensusStatus], group="examples.windvane.dev", version="v1", plural="censuses"):
    """Knows how many Secrets there are."""


operator = Operator("census")
operator.watch_only(core.Secret, labels="owner!=helm")


def all_here(_: Metadata, view: View) -> list[Census]:
    return view.list(Census)


@operator.controller(Census, watches=[Watch(SecretMetadata, to=all_here)])
async def reconcile(census: Census, ctx: Context) -> None:
    census.status.secrets = len(ctx.list(SecretMetadata))
