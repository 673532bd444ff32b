"""Doing what was decided: one step, each of which may have been done before, or half."""

from etcd_operator import metrics, names, snapshots, steps
from etcd_operator.api import EtcdCluster
from etcd_operator.etcd import EtcdError
from etcd_operator.observe import Sight
from etcd_operator.steps import Step
from windvane import Conflict, Context, NotFound, Object

HAPPENED = {
    steps.AddLearner: "MemberAdded",
    steps.Promote: "MemberPromoted",
    steps.MoveLeadership: "LeadershipMoved",
    steps.Remove: "MemberRemoved",
    steps.Vacate: "VolumeDeleted",
    steps.Restart: "MemberRestarted",
    steps.FreeSpace: "SpaceFreed",
    steps.Defragment: "Defragmented",
}
"""The reason of the Event that tells of a step."""
OUTSIDE = (
    steps.AddLearner,
    steps.Promote,
    steps.MoveLeadership,
    steps.Remove,
    steps.FreeSpace,
    steps.Defragment,
)
"""The steps that change something in etcd itself."""
ENOUGH = 0.95
"""If so much of the quota is in use, there is no space to be freed."""


async def act(step: Step, cluster: EtcdCluster, sight: Sight, ctx: Context) -> str:
    """Do a step. Returns why it could not be done now, if so: it is decided anew in the next pass."""
    if isinstance(step, OUTSIDE):
        ctx.outside(step.words)
    try:
        await _do(step, cluster, sight, ctx)
    except EtcdError as error:
        ctx.log.debug("%s: %s", step.words, error)
        return str(error)
    if reason := HAPPENED.get(type(step)):
        ctx.event(reason, step.words)
        metrics.count(cluster, type(step).__name__)
    return ""


async def _do(step: Step, cluster: EtcdCluster, sight: Sight, ctx: Context) -> None:
    match step:
        case steps.AddLearner():
            scheme = "https" if cluster.spec.tls else "http"
            mine = cluster.metadata
            await sight.leader.add_learner(names.peer_url(mine.name, mine.namespace, step.ordinal, scheme=scheme))
        case steps.Promote():
            await sight.leader.promote(step.member.id)
        case steps.MoveLeadership():
            await sight.leader.move_leadership(step.to.id)
        case steps.Remove():
            await sight.leader.remove(step.member.id)
        case steps.Vacate():
            if step.place.claim is not None:
                await delete(ctx, step.place.claim)
            if step.place.pod is not None:
                await delete(ctx, step.place.pod)
        case steps.Restart():
            if step.place.pod is not None:
                await delete(ctx, step.place.pod)
        case steps.TakeSnapshot():
            job = await snapshots.take(cluster, step.name, "upgrade", ctx)
            if why := snapshots.failure(cluster, job, ctx):
                raise EtcdError(why)
        case steps.FreeSpace():
            await _free_space(step, cluster, sight)
        case steps.Defragment():
            await sight.doors[step.place.ordinal].defragment()


async def delete(ctx: Context, thing: Object) -> None:
    """Delete exactly this, if it is still there."""
    mine = thing.metadata
    if mine.deletion_timestamp is not None:
        return
    try:
        await ctx.client.delete(
            type(thing), mine.name, namespace=mine.namespace, uid=mine.uid, propagation="Background"
        )
    except (NotFound, Conflict):
        return  # it is gone, or another one of that name is there by now


async def _free_space(step: steps.FreeSpace, cluster: EtcdCluster, sight: Sight) -> None:
    """If this is cut short, the alarm is still there, and all of it is done again."""
    world = sight.world
    leader = world.leader_place
    if leader is None or leader.answer is None:
        raise EtcdError("nobody leads")
    await sight.leader.compact(leader.answer.revision)
    in_use = (await sight.leader.status()).in_use
    if in_use >= ENOUGH * int(cluster.spec.quota):
        # A member does nothing else while it is defragmented: that must not be tried again and again for nothing.
        raise EtcdError(
            f"{in_use:,} bytes are in use, of {int(cluster.spec.quota):,}, without history and empty pages: delete "
            "keys, or raise spec.quota"
        )
    for place in sorted(world.voters, key=lambda each: each.member == world.leader):
        await sight.doors[place.ordinal].defragment()
    for alarm in step.alarms:
        await sight.leader.disarm(alarm)
