"""The operator: what is looked at, stated and done in each pass over an EtcdCluster."""

from datetime import UTC, datetime

from etcd_operator import auth, backup_controller, children, metrics, names, restoring, security, snapshots
from etcd_operator.act import act, delete
from etcd_operator.api import EtcdBackup, EtcdCluster
from etcd_operator.children import Security
from etcd_operator.decide import decide, joining, pods_wanted, upgrade_refusal
from etcd_operator.observe import Sight, forget, observe
from etcd_operator.reach import access
from etcd_operator.report import available, degraded, describe, progressing
from etcd_operator.steps import MEMBERSHIP, Deferred, Settled, Step
from etcd_operator.volumes import NOT_GROWN, SIZED, grow, renew_template
from windvane import After, Context, Object, Operator, View, Watch, index
from windvane.k8s import apps, batch, core, policy

SETTLED, DEFERRED, MOVING = 10.0, 3.0, 1.0
"""After how many seconds a cluster is looked at again if Kubernetes tells nothing: etcd doesn't call us."""

OWNED = (
    apps.StatefulSet,
    batch.CronJob,
    batch.Job,
    core.ConfigMap,
    core.Secret,
    core.Service,
    policy.PodDisruptionBudget,
)

operator = Operator("etcd-operator")
for kind in (*OWNED, core.Pod, core.PersistentVolumeClaim):
    operator.watch_only(kind, labels=names.MANAGED)  # of a large cluster's objects, few are ours


def cluster_of(thing: Object) -> str | None:
    """Which EtcdCluster a pod or a volume belongs to."""
    return thing.metadata.labels.get(names.LABEL_CLUSTER)


def restored_from(backup: EtcdBackup, view: View) -> list[EtcdCluster]:
    """Which EtcdClusters begin with a backup."""
    return view.find(by_backup, backup.metadata.name)


by_backup = index(EtcdCluster, by=lambda cluster: cluster.spec.restore.backup if cluster.spec.restore else None)


@operator.controller(
    EtcdCluster,
    owns=OWNED,
    watches=[
        Watch(core.Pod, to=cluster_of),
        Watch(core.PersistentVolumeClaim, to=cluster_of),
        Watch(batch.Job, to=cluster_of),
        Watch(EtcdBackup, to=restored_from, seeing=lambda backup: backup.status.snapshot),
    ],
)
async def reconcile(cluster: EtcdCluster, ctx: Context) -> After:
    """One look at a cluster, and one step towards what its spec asks for."""
    now = datetime.now(UTC)
    certificates = security.certificates(cluster, ctx)
    password = await security.root_password(cluster, ctx)
    login = security.login(cluster, password)
    async with access(security.client_context(cluster, certificates), login) as ways:
        sight = await observe(cluster, ctx, ways, now)
        describe(cluster, sight.world)
        await snapshots.report(cluster, ctx, now)  # first: what is said of a lost quorum names the last snapshot
        _say(ctx, cluster, sight)
        metrics.tell(cluster)
        if cluster.spec.paused:
            ctx.condition("Progressing", False, "nothing is changed while spec.paused is true", reason="Paused")
            ctx.wait("it is paused", after=SETTLED)
        restoring.give_up(cluster, sight.world, ctx)
        if which := restoring.under_way(cluster):
            await restoring.go_on(cluster, which, sight.world, ctx)
        await _mark(cluster, sight, ctx)
        secured = await security.state(cluster, certificates, ctx, now)
        not_grown = await _state(cluster, sight, secured, ctx)
        if refused := await security.require_login(cluster, sight.world, ways, password, ctx):
            ctx.condition("Degraded", True, refused, reason="AuthFailed")
        step = decide(cluster, sight.world, snapshots=snapshots.taken(cluster, ctx))
        why_not = await act(step, cluster, sight, ctx)
    return _conclude(ctx, sight, secured, step, why_not, not_grown)


operator.controller(EtcdBackup, watches=backup_controller.WATCHES)(backup_controller.reconcile_backup)


@operator.finalizer(EtcdCluster)
async def retire(cluster: EtcdCluster, ctx: Context) -> None:
    """Take a last snapshot, and delete the members' volumes, which nobody owns: each if that was asked for."""
    if cluster.spec.final_snapshot and cluster.status.cluster_id:
        await snapshots.take_final(cluster, ctx)
    if cluster.spec.deletion_policy == "Delete":
        for claim in ctx.list(core.PersistentVolumeClaim, labels=names.selector(cluster.metadata.name)):
            await delete(ctx, claim)
        if (secret := ctx.get(core.Secret, auth.root(cluster.metadata.name))) is not None:
            await delete(ctx, secret)  # without the data there is nothing to log in to
    security.forget(cluster)
    forget(cluster)
    metrics.forget(cluster)


def _say(ctx: Context, cluster: EtcdCluster, sight: Sight) -> None:
    if cluster.spec.replicas % 2 == 0 and cluster.status.observed_generation != cluster.metadata.generation:
        fewer = cluster.spec.replicas - 1
        words = f"{cluster.spec.replicas} members survive no more failures than {fewer}, and more of them can fail"
        ctx.event("EvenReplicas", words, type="Warning")  # said once for each spec
    for said in (available(cluster, sight.world), degraded(sight.world)):
        ctx.condition(said.type, said.holds, said.message, reason=said.reason)


def _conclude(ctx: Context, sight: Sight, secured: Security, step: Step, why_not: str, not_grown: str) -> After:
    said = progressing(step, rotating=secured.rotating)
    ctx.condition(said.type, said.holds, f"{said.message}: {why_not}" if why_not else said.message, reason=said.reason)
    settled = isinstance(step, Settled) and not sight.world.unhealthy
    ctx.ready(settled and not not_grown, not_grown if settled else said.message)
    if settled:
        return After(seconds=SETTLED)
    if isinstance(step, MEMBERSHIP) and not why_not:
        return After(seconds=0)  # it is done, and what comes next can be seen at once
    return After(seconds=DEFERRED if isinstance(step, Settled | Deferred) else MOVING)


async def _mark(cluster: EtcdCluster, sight: Sight, ctx: Context) -> None:
    """Write on volumes whose data they have, and on pods whether they have a vote."""
    began = cluster.status.restored_from
    for place in sight.world.places.values():
        member, answer = place.member, place.answer
        if member is None or answer is None or answer.id != member.id:
            continue
        if place.claim is not None and (not place.data_of or (member.learner and place.data_of != member.id)):
            mark = {"metadata": {"annotations": {names.ANNOTATION_MEMBER: member.id}}}
            await ctx.client.patch(core.PersistentVolumeClaim, place.claim.metadata.name, mark)
            if began is not None and not cluster.status.cluster_id and not began.revision:
                began.revision = answer.revision  # clients are not sent there yet: this is what was restored
        if place.pod is not None:
            role = None if member.learner else names.VOTER
            if place.pod.metadata.labels.get(names.LABEL_ROLE) != role:
                await ctx.client.patch(
                    core.Pod, place.pod.metadata.name, {"metadata": {"labels": {names.LABEL_ROLE: role}}}
                )
        if not cluster.status.cluster_id and place.data_of == member.id:
            cluster.status.cluster_id = answer.cluster_id
            ctx.event("Bootstrapped", f"the cluster {answer.cluster_id} is there, with its first member")


async def _state(cluster: EtcdCluster, sight: Sight, secured: Security, ctx: Context) -> str:
    """State all that should be in Kubernetes; what an earlier pass stated beside that goes: a schedule, a Job.

    Returns why volumes are not as large as they should be, if so.
    """
    world = sight.world
    version = cluster.status.version if upgrade_refusal(cluster) else cluster.spec.version
    await ctx.apply(children.peers_service(cluster))
    await ctx.apply(children.client_service(cluster))
    await ctx.apply(children.disruption_budget(cluster))
    await ctx.apply(children.configuration(cluster, joining(cluster, world)))
    await snapshots.state(cluster, ctx)
    not_grown = await grow(cluster, world, ctx)
    size = f"members' volumes are to have {cluster.spec.storage_size}"
    ctx.condition(SIZED, not not_grown, not_grown or size, reason=NOT_GROWN if not_grown else "AsAsked")
    await renew_template(cluster, world, ctx)
    await ctx.apply(children.stateful_set(cluster, pods_wanted(cluster, world), version, secured))
    await ctx.prune()
    return not_grown
