"""Making, tending and deleting the pods of a StatefulSet and their claims, and saying so in its Events."""

from typing import Literal

import msgspec

from windvane import AlreadyExists, ClientError, Conflict, Context, NotFound, Object
from windvane.cluster.controllers.statefulset.claim_retention import (
    goes_when_scaled,
    has_other_controller,
    is_of_an_earlier,
    owners_by_policy,
)
from windvane.cluster.controllers.statefulset.identity import (
    claim_name,
    claims,
    has_identity,
    has_storage,
    identity,
    ordinal_in,
    volumes,
)
from windvane.k8s.apps import StatefulSet
from windvane.k8s.core import PersistentVolumeClaim, Pod

Verb = Literal["Create", "Update", "Delete"]


class NoClaim(ClientError):
    """A pod's claim can't be had: it can't be made, or the one that is there is being deleted."""


class StatefulPodControl:
    """What is done for one StatefulSet in one pass."""

    def __init__(self, stateful: StatefulSet, ctx: Context) -> None:
        self._stateful = stateful
        self._ctx = ctx

    async def create(self, pod: Pod) -> None:
        """Make a pod, and the claims that it lacks before it.

        While a claim of an earlier pod of its name is about to be deleted, nothing is done: its data is not for this.
        """
        if goes_when_scaled(self._stateful) and any(is_of_an_earlier(pod, each) for each in self._claims_of(pod)):
            return
        try:
            await self._make_claims(pod)
            await self._ctx.client.create(pod)
        except AlreadyExists:
            raise  # another controller's pod has its name: nothing to tell, but to try again
        except ClientError as error:
            self._failed("Create", pod, error)
            raise
        self._done("Create", pod)

    async def delete(self, pod: Pod) -> None:
        """Delete this pod, and no other that has its name by now."""
        try:
            await self._ctx.client.delete(Pod, pod.metadata.name, uid=pod.metadata.uid)
        except (NotFound, Conflict):
            return  # it is gone already
        except ClientError as error:
            self._failed("Delete", pod, error)
            raise
        self._done("Delete", pod)

    async def tend(self, pod: Pod) -> None:
        """Have a pod's claims be there and owned as the retention policy says, and the pod have its labels."""
        ordinal = self._ordinal(pod)
        stored = has_storage(pod, self._stateful, ordinal)
        try:
            if pod.status.phase == "Pending" or not stored:
                await self._make_claims(pod)
            changed = await self._retain(pod)
            if not stored or not has_identity(pod):
                pod.metadata.labels |= identity(self._stateful, ordinal)
                pod.spec = msgspec.structs.replace(pod.spec, volumes=volumes(self._stateful, ordinal, pod.spec.volumes))
                await self._ctx.client.replace(pod)
                changed = True
        except Conflict:
            raise  # it has changed meanwhile: look again
        except ClientError as error:
            self._failed("Update", pod, error)
            raise
        if changed:
            self._done("Update", pod)

    async def retain(self, pod: Pod) -> None:
        """Have the claims of a pod be owned as the retention policy says."""
        await self._retain(pod)

    async def _retain(self, pod: Pod) -> bool:
        changed = False
        for claim in self._claims_of(pod):
            owners = owners_by_policy(claim, self._stateful, pod)
            differs = owners != claim.metadata.owner_references
            if has_other_controller(claim, self._stateful, pod) and (differs or pod.status.phase == "Pending"):
                self._ctx.event(
                    "ConflictingController",
                    f"PersistentVolumeClaim {claim.metadata.name} has a conflicting OwnerReference that acts as a "
                    "manging controller, the retention policy is ignored for this claim",
                    type="Warning",
                )
            if differs:
                claim.metadata.owner_references = owners
                await self._ctx.client.replace(claim)
                changed = True
        return changed

    async def _make_claims(self, pod: Pod) -> None:
        for claim in claims(self._stateful, self._ordinal(pod)):
            there = self._ctx.get(PersistentVolumeClaim, claim.metadata.name)
            if there is None:
                await self._make_claim(claim, pod)
            elif there.metadata.deletion_timestamp is not None:
                raise NoClaim(f"pvc {claim.metadata.name} is being deleted")

    async def _make_claim(self, claim: PersistentVolumeClaim, pod: Pod) -> None:
        where = f"Pod {pod.metadata.name} in StatefulSet {self._stateful.metadata.name}"
        try:
            await self._ctx.client.create(claim)
        except AlreadyExists:
            raise
        except ClientError as error:
            words = f"Create Claim {claim.metadata.name} for {where} failed error: {error}"
            self._ctx.event("FailedCreate", words, type="Warning")
            raise NoClaim(f"failed to create PVC {claim.metadata.name}: {error}") from error
        self._ctx.event("SuccessfulCreate", f"Create Claim {claim.metadata.name} {where} success")

    def _claims_of(self, pod: Pod) -> list[PersistentVolumeClaim]:
        """The claims of a pod that are there."""
        names = (
            claim_name(self._stateful, each, self._ordinal(pod)) for each in self._stateful.spec.volume_claim_templates
        )
        return [claim for name in names if (claim := self._ctx.get(PersistentVolumeClaim, name)) is not None]

    def _ordinal(self, pod: Pod) -> int:
        ordinal = ordinal_in(pod.metadata.name, self._stateful)
        if ordinal is None:
            raise ValueError(f"pod {pod.metadata.name} is not one of StatefulSet {self._stateful.metadata.name}")
        return ordinal

    def _done(self, verb: Verb, pod: Object) -> None:
        words = f"{verb} Pod {pod.metadata.name} in StatefulSet {self._stateful.metadata.name} successful"
        self._ctx.event(f"Successful{verb}", words)

    def _failed(self, verb: Verb, pod: Object, error: Exception) -> None:
        words = f"{verb} Pod {pod.metadata.name} in StatefulSet {self._stateful.metadata.name} failed error: {error}"
        self._ctx.event(f"Failed{verb}", words, type="Warning")
