"""A controller of a built-in kind: every namespace with the label `guarded` gets a NetworkPolicy that lets nothing in.

windvane run examples/guard_namespaces.py

The namespaces are not ours: nothing is written into their status. `owns` works for what they get all the same, and so a
policy that somebody deletes comes back, and one whose namespace loses its label goes.
"""

from windvane import Context, LabelSelector, ObjectMeta, Operator
from windvane.k8s import core, networking

operator = Operator("guards")
LABEL = "guarded"


@operator.controller(core.Namespace, owns=[networking.NetworkPolicy])
async def reconcile(namespace: core.Namespace, ctx: Context) -> None:
    if LABEL not in namespace.metadata.labels:
        await ctx.prune()  # nothing is wanted here
        return
    everything = LabelSelector()
    policy = networking.NetworkPolicy(
        metadata=ObjectMeta(name="nothing-comes-in", namespace=namespace.metadata.name),
        spec=networking.NetworkPolicySpec(pod_selector=everything, policy_types=["Ingress"]),
    )
    await ctx.apply(policy)
