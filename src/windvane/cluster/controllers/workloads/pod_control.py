"""Making and deleting pods for their owner, which says so in its Events."""

from windvane import APIError, ClientError, Conflict, Context, NotFound
from windvane.k8s.core import Pod


async def create_pod(pod: Pod, ctx: Context) -> None:
    """Make a pod. In a namespace that is being deleted nothing can be made, and no Event says so."""
    try:
        made = await ctx.client.create(pod)
    except ClientError as error:
        if is_namespace_terminating(error):
            return
        ctx.event("FailedCreate", f"Error creating: {error}", type="Warning")
        raise
    ctx.event("SuccessfulCreate", f"Created pod: {made.metadata.name}")


async def delete_pod(pod: Pod, ctx: Context) -> None:
    """Delete this pod, and no other that has its name by now."""
    try:
        await ctx.client.delete(Pod, pod.metadata.name, uid=pod.metadata.uid)
    except (NotFound, Conflict):
        return  # it is gone already
    except ClientError as error:
        ctx.event("FailedDelete", f"Error deleting: {error}", type="Warning")
        raise
    ctx.event("SuccessfulDelete", f"Deleted pod: {pod.metadata.name}")


def is_namespace_terminating(error: ClientError) -> bool:
    """Whether something could not be made because its namespace is being deleted."""
    return isinstance(error, APIError) and any(cause.reason == "NamespaceTerminating" for cause in error.causes)
