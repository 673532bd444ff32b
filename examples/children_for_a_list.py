"""Children for a list: a Team gets a ConfigMap for each of its members, and one who leaves the list loses theirs.

windvane run examples/children_for_a_list.py --install-crds

`ctx.prune()` says that this is all: what an earlier pass applied and this one didn't goes. Without it, nothing would.
"""

from typing import Annotated

from windvane import Context, ListSet, ObjectMeta, Operator, Resource, Spec, Status
from windvane.k8s import core


class TeamSpec(Spec):
    members: Annotated[list[str], ListSet()] = []
    """Who is in it."""


class TeamStatus(Status):
    size: int = 0
    """How many there are."""


class Team(Resource[TeamSpec, TeamStatus], group="examples.windvane.dev", version="v1"):
    """People who work together."""


operator = Operator("teams")


@operator.controller(Team, owns=[core.ConfigMap])
async def reconcile(team: Team, ctx: Context) -> None:
    for member in team.spec.members:
        desk = core.ConfigMap(metadata=ObjectMeta(name=f"{team.metadata.name}-{member}"), data={"member": member})
        await ctx.apply(desk)
    await ctx.prune()
    team.status.size = len(team.spec.members)
