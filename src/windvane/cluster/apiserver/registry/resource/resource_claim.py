"""ResourceClaim."""

from functools import partial

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, items, read
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.resource.allocation import (
    allocated_devices,
    allocation_result,
    default_status,
    device_id,
    device_status,
    shown_device,
)
from windvane.cluster.apiserver.registry.resource.claim_spec import claim, default_claim
from windvane.cluster.apiserver.registry.resource.lists import check_set
from windvane.cluster.apiserver.registry.resource.request_names import RequestNames
from windvane.cluster.apiserver.registry.subresource import StatusStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import resource

MOST_CONSUMERS = 256


def _state(claim: Wire) -> str:
    states = ["deleted"] if read(claim, "metadata.deletionTimestamp") else []
    if read(claim, "status.allocation") is not None:
        states.append("allocated")
        if items(claim, "status.reservedFor"):
            states.append("reserved")
    return ",".join(states) or "pending"


class ResourceClaimStatusStrategy(StatusStrategy):
    """The status of ResourceClaims: which devices a claim was given, how they are, and which pods use them."""

    keeps_metadata = ("annotations", "finalizers", "labels", "ownerReferences")
    reset_fields = ("metadata", "spec")

    def prepare_for_update(self, obj: Wire, old: Wire) -> None:
        """Forget what drivers said of devices that the claim no longer has."""
        gone = allocated_devices(old["status"]) - allocated_devices(obj["status"])
        kept = [each for each in obj["status"].get("devices") or () if device_id(each) not in gone]
        obj["status"].pop("devices", None)
        if kept:
            obj["status"]["devices"] = kept

    def validate_update(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """Check what was written."""
        status, before = obj["status"], old["status"]
        reserved, allocation = status.get("reservedFor") or [], status.get("allocation")
        check_set(reserved, MOST_CONSUMERS, _consumer, _uid, "status.reservedFor", problems)
        _devices(status, problems)
        if reserved and allocation is None:
            problems.forbidden("status.reservedFor", "may not be specified when `allocated` is not set")
        elif obj["metadata"].get("deletionTimestamp") and any(
            each not in (before.get("reservedFor") or ()) for each in reserved
        ):
            rule = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
            problems.forbidden("status.reservedFor", rule)
        if allocation is not None and before.get("allocation") is not None:
            problems.immutable("status.allocation", allocation, before["allocation"])
        elif allocation is not None:
            names = RequestNames(obj["spec"]["devices"].get("requests") or ())
            allocation_result(allocation, names, "status.allocation", problems)


class ResourceClaimStrategy(BuiltinStrategy):
    """ResourceClaim."""

    model = resource.ResourceClaim
    returned_when_deleted = True
    is_costly = True
    defaults = {"status": {}}
    columns = (NAME, Column("State", _state), AGE)
    status = ResourceClaimStatusStrategy()

    def set_defaults(self, obj: Wire) -> None:
        """Fill in how many devices are asked for."""
        default_claim(obj.setdefault("spec", {}))
        default_status(obj["status"])

    def validate_new(self, obj: Wire, problems: Problems) -> None:
        """Check a new claim."""
        claim(obj["spec"], "spec", problems)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """A claim asks for the same as long as it exists."""
        problems.immutable("spec", obj["spec"], old["spec"])


def _devices(status: Wire, problems: Problems) -> None:
    found, path = status.get("devices") or [], "status.devices"
    check = partial(device_status, allocated_devices(status))
    for index, each in enumerate(found):
        check(each, f"{path}[{index}]", problems)
    for index, each in enumerate(found):
        if device_id(each) in map(device_id, found[:index]):
            problems.duplicate(f"{path}[{index}]", shown_device(device_id(each)))


def _uid(consumer: Wire) -> str:
    return consumer.get("uid") or ""


def _consumer(consumer: Wire, path: str, problems: Problems) -> None:
    for field in ("resource", "name", "uid"):
        if not consumer.get(field):
            problems.required(f"{path}.{field}")
