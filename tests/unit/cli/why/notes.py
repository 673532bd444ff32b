"""What operators may have noted: entries of a journal, in few words."""

from datetime import UTC, datetime, timedelta
from typing import Any

from windvane.api.kind import Kind
from windvane.cli.why.causes import read_record
from windvane.cli.why.live import Live, uid_of
from windvane.cli.why.reason import Facts
from windvane.cli.why.reference import Reference
from windvane.runtime.observability.history import Deletion, Pass, Trigger, Write
from windvane.runtime.observability.journal import JournalEntry

BEGAN = datetime(2030, 1, 1, 12, 0, 0, tzinfo=UTC)
WEBSITE = Kind(group="demo.dev", version="v1", name="Website", plural="websites", short_names=("ws",))
DEPLOYMENT = Kind(group="apps", version="v1", name="Deployment", plural="deployments", short_names=("deploy",))
REPLICA_SET = Kind(group="apps", version="v1", name="ReplicaSet", plural="replicasets", short_names=("rs",))
POD = Kind(group="", version="v1", name="Pod", plural="pods", short_names=("po",))
SECRET = Kind(group="", version="v1", name="Secret", plural="secrets")
JOB = Kind(group="batch", version="v1", name="Job", plural="jobs")
CLAIM = Kind(group="", version="v1", name="PersistentVolumeClaim", plural="persistentvolumeclaims")
NODE = Kind(group="", version="v1", name="Node", plural="nodes", namespaced=False)
CRON_JOB = Kind(group="batch", version="v1", name="CronJob", plural="cronjobs")
SERVICE = Kind(group="", version="v1", name="Service", plural="services")
SLICE = Kind(group="discovery.k8s.io", version="v1", name="EndpointSlice", plural="endpointslices")
OWN = (WEBSITE, DEPLOYMENT, REPLICA_SET, POD, SECRET, JOB, CRON_JOB, CLAIM, NODE, SERVICE, SLICE)
KINDS = {each.resource: each for each in OWN}
NAMES = {each.name: each for each in KINDS.values()}


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


def saw(
    words: str, version: int, *fields: str, by: str = "", earlier: tuple[int, ...] = (), initial: bool = False
) -> Trigger:
    """`saw("Website blog changed", 7, "spec.size 1 → 2", by="kubectl")`."""
    kind, name, _ = words.split(maxsplit=2)
    return Trigger(
        words,
        NAMES[kind].resource,
        "default" if NAMES[kind].namespaced else "",
        name,
        str(version),
        by,
        list(fields),
        [str(each) for each in earlier],
        initial,
    )


def wrote(verb: str, kind: str, name: str, version: int | None, *fields: str, subresource: str = "") -> Write:
    resource = NAMES[kind].resource
    words = f"{verb} {resource}{f'/{subresource}' if subresource else ''} {name}"
    return Write(words, resource, subresource, "default", name, str(version or ""), list(fields))


def ran(
    seconds: float,
    operator: str,
    of: str,
    triggers: list[Trigger],
    writes: list[Write] | None = None,
    *,
    run: str = "",
    **more: Any,
) -> JournalEntry:
    """A pass that an operator has noted: `ran(1, "website", "Website blog", [...], [...])`."""
    kind, name = of.split()
    done = Pass(
        id=f"{operator}-{seconds}",
        controller=more.pop("controller", NAMES[kind].resource),
        kind=kind,
        resource=NAMES[kind].resource,
        namespace="default",
        name=name,
        began=at(seconds),
        triggers=triggers,
        writes=writes or [],
        result=more.pop("result", "done"),
        seconds=0.01,
        **more,
    )
    return JournalEntry(operator, run or operator, at(seconds + 0.01), done=done)


def deleted_by(seconds: float, of: str, client: str, user: str) -> JournalEntry:
    """What an API server has noted of a client."""
    kind, name = of.split()
    deletion = Deletion(resource=NAMES[kind].resource, namespace="default", name=name, client=client, user=user)
    return JournalEntry("cluster", "cluster", at(seconds), deletion=deletion)


def started(seconds: float, operator: str, run: str) -> JournalEntry:
    return JournalEntry(operator, run, at(seconds), started=True)


def stopped(seconds: float, operator: str, run: str) -> JournalEntry:
    return JournalEntry(operator, run, at(seconds), stopped=True)


def thing(of: str, owner: dict[str, Any] | None = None, **content: Any) -> dict[str, Any]:
    """An object, as JSON has it."""
    kind, name = of.split()
    metadata: dict[str, Any] = {"name": name, "namespace": "default", "uid": of, **content.pop("metadata", {})}
    if owner is not None:
        reference = {"kind": owner["kind"], "name": owner["metadata"]["name"], "uid": uid_of(owner)}
        metadata["ownerReferences"] = [{**reference, "controller": True, "blockOwnerDeletion": True}]
    return {"apiVersion": NAMES[kind].api_version, "kind": kind, "metadata": metadata, **content}


def condition(type_: str, status: str, message: str = "", reason: str = "") -> dict[str, Any]:
    return {"conditions": [{"type": type_, "status": status, "reason": reason, "message": message}]}


def facts(
    of: str, entries: list[JournalEntry], *things: dict[str, Any], running: dict[str, bool] | None = None, **more: Any
) -> Facts:
    """What is known of an object, which is the first of the things if it is there."""
    kind, name = of.split()
    children: dict[str, list[dict[str, Any]]] = {}
    for each in things:
        for owner in each["metadata"].get("ownerReferences", ()):
            children.setdefault(owner["uid"], []).append(each)
    mine = things[0] if things and things[0]["metadata"]["uid"] == of else None
    reference = Reference(NAMES[kind].resource, "default", name)
    live = Live(NAMES[kind], reference, mine, children, kinds=KINDS, **more)
    names = {each.resource: each.name for each in KINDS.values()}
    return Facts(live, read_record(entries, names), at(100), running or {})
