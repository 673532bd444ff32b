"""Judging: a Vault can't be deleted while it is locked, and whoever unlocks one is warned.

windvane run examples/deny_deletion.py --install-crds

What depends on nothing but the object, now and as it was, is better said by a rule of the class: the API server judges
that by itself. This takes a function: it is about a deletion, and about who asks.
"""

from windvane import AdmissionRequest, Column, Denied, Operator, Resource, Spec, Status

KEEPERS = "system:masters"


class VaultSpec(Spec):
    locked: bool = False
    """Whether it must not go away."""


class Vault(
    Resource[VaultSpec, Status],
    group="examples.windvane.dev",
    version="v1",
    columns=[Column("Locked", ".spec.locked")],
    ready_column=False,
):
    """Something that should not be lost."""


operator = Operator("vaults")


@operator.validate(Vault, on=["update", "delete"])
def check(vault: Vault, request: AdmissionRequest[Vault]) -> None:
    if request.operation == "delete" and vault.spec.locked:
        raise Denied(f"{vault.metadata.name} is locked: unlock it first, with spec.locked: false")
    if request.old and request.old.spec.locked and not vault.spec.locked:
        if KEEPERS not in request.user.groups:
            raise Denied(f"only members of {KEEPERS} unlock one", field="spec.locked")
        request.warn(f"{vault.metadata.name} can be deleted now")
