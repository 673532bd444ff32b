"""Waiting: a Release first runs its Migration as a Job, and goes live when that has succeeded.

windvane run examples/wait_for_a_job.py --install-crds

`ctx.wait` ends the pass there. The next one comes when something changes, the Job for one, and begins at the top again:
a pass is not a story that goes on, it is a look at how things stand.
"""

from windvane import Context, Fatal, ObjectMeta, Operator, Resource, Spec, Status
from windvane.k8s import batch, core


class ReleaseSpec(Spec):
    version: str
    """What to release."""


class ReleaseStatus(Status):
    live: str = ""
    """The version that users see."""


class Release(Resource[ReleaseSpec, ReleaseStatus], group="examples.windvane.dev", version="v1"):
    """A version, and the way there."""


operator = Operator("releases")


@operator.controller(Release, owns=[batch.Job, core.ConfigMap])
async def reconcile(release: Release, ctx: Context) -> None:
    job = await ctx.apply(migration_to(release))
    if job.status.failed:
        raise Fatal(f"the migration to {release.spec.version} failed; see the logs of job {job.metadata.name}")
    if not job.status.succeeded:
        ctx.wait(f"migrating to {release.spec.version}", after=60)
    live = core.ConfigMap(
        metadata=ObjectMeta(name=f"{release.metadata.name}-live"), data={"live": release.spec.version}
    )
    await ctx.apply(live)
    await ctx.prune()  # the Jobs of former versions
    release.status.live = release.spec.version
    ctx.ready(True, f"{release.spec.version} is live")


def migration_to(release: Release) -> batch.Job:
    """A Job can't be changed, so each version has its own."""
    container = core.Container(name="migrate", image="migrations", args=["--to", release.spec.version])
    template = core.PodTemplateSpec(spec=core.PodSpec(containers=[container], restart_policy="Never"))
    return batch.Job(
        metadata=ObjectMeta(name=f"{release.metadata.name}-to-{release.spec.version.replace('.', '-')}"),
        spec=batch.JobSpec(template=template, backoff_limit=0),
    )
