"""One kind that uses every constraint windvane can state, for the tests that show it to a real API server."""

import enum
from datetime import datetime
from typing import Annotated, Any, Literal

from windvane import (
    AtLeastOneOf,
    AtMostOneOf,
    Column,
    Cron,
    Default,
    Duration,
    EmbeddedResource,
    ExactlyOneOf,
    Format,
    Ge,
    Gt,
    Int32,
    IntOrString,
    LabelSelector,
    Le,
    ListAtomic,
    ListMap,
    ListSet,
    Lt,
    MapAtomic,
    MapGranular,
    MaxItems,
    MaxLength,
    MaxProperties,
    MicroTime,
    MinItems,
    MinLength,
    MinProperties,
    MultipleOf,
    Nullable,
    Pattern,
    PreserveUnknown,
    Quantity,
    Resource,
    Rule,
    ScaleSubresource,
    Spec,
    Status,
    Struct,
    field,
)
from windvane.k8s import core


class Tier(enum.Enum):
    FREE = "free"
    PAID = "paid"


class Port(Struct):
    name: Annotated[str, MaxLength(63)]
    """How the port is called."""
    number: Annotated[Int32, Ge(1), Le(65535)]
    protocol: Literal["TCP", "UDP"] = "TCP"


class Point(Struct, atomic=True):
    """A place that is replaced as a whole."""

    x: int = 0
    y: int = 0


class Source(Struct, rules=[ExactlyOneOf("git_url", "bucket", "namespace")]):
    """Where the content comes from."""

    git_url: Annotated[str | None, MaxLength(200)] = None
    bucket: Annotated[str | None, MaxLength(200)] = None
    namespace: Annotated[str | None, MaxLength(63)] = None


class Contact(Struct, rules=[AtLeastOneOf("email", "phone"), AtMostOneOf("phone", "pager")]):
    email: Annotated[str | None, Format("email"), MaxLength(100)] = None
    phone: Annotated[str | None, MaxLength(30)] = None
    pager: Annotated[str | None, MaxLength(30)] = None


class Limits(Struct):
    cpu: Quantity = Quantity("500m")
    burst: Int32 = 2


class EverythingSpec(
    Spec,
    rules=[
        Rule("self.low <= self.high", "low must not exceed high", field_path=".low"),
        Rule(
            "self.replicas <= 5 || has(self.budget)",
            message_expression="'so many ' + self.mode + ' replicas need a budget'",
            reason="FieldValueRequired",
        ),
        Rule("!has(oldSelf.region) || self.region == oldSelf.region", "region can't be changed"),
    ],
):
    """All that can be asked for."""

    image: str
    """The container image to serve.

    A second paragraph."""
    replicas: Annotated[Int32, Ge(0), Le(100)] = 1
    """How many copies run."""
    low: Annotated[int, Gt(0)] = 1
    high: Annotated[int, Lt(1000)] = 10
    step: Annotated[int, MultipleOf(5)] = 5
    ratio: Annotated[float, Ge(0), Lt(1)] = 0.5
    budget: Annotated[str | None, MinLength(2), MaxLength(8)] = None
    host: Annotated[str | None, Pattern(r"^[a-z.]+$"), MaxLength(100)] = None
    address: Annotated[str | None, Format("ipv4")] = None
    tier: Tier = Tier.FREE
    mode: Literal["fast", "safe"] = "safe"
    region: Annotated[str | None, MaxLength(20)] = None
    frozen: Annotated[str | None, MaxLength(20), Rule("self == oldSelf", "frozen can't be changed")] = None
    once: Annotated[
        str | None, MaxLength(20), Rule("!oldSelf.hasValue() || self == oldSelf.value()", optional_old_self=True)
    ] = None
    size: Quantity = Quantity("1Gi")
    surge: IntOrString = "25%"
    timeout: Duration = Duration(seconds=30)
    schedule: Cron | None = None
    until: datetime | None = None
    at: MicroTime | None = None
    secret: bytes | None = None
    note: Annotated[str | None, Nullable()] = None
    autoscaled: Annotated[int | None, Default(3)] = None
    ports: Annotated[list[Port], ListMap("name"), MinItems(1), MaxItems(3)] = field(
        default_factory=lambda: [Port(name="http", number=80)]
    )
    tags: Annotated[list[Annotated[str, MaxLength(10)]], ListSet(), MaxItems(5)] = []
    order: Annotated[list[str], ListAtomic()] = []
    quotas: Annotated[dict[str, int], MinProperties(1), MaxProperties(2)] = field(default_factory=lambda: {"a": 1})
    labels: Annotated[dict[str, str], MapGranular()] = {}
    options: Annotated[dict[str, str], MapAtomic()] = {}
    place: Point | None = None
    source: Source = field(default_factory=lambda: Source(bucket="b"))
    contact: Contact | None = None
    limits: Limits = field(default_factory=Limits)
    free_form: Annotated[dict[str, Any] | None, PreserveUnknown()] = None
    whatever: Annotated[Any, PreserveUnknown()] = None
    embedded: Annotated[dict[str, Any] | None, EmbeddedResource(), PreserveUnknown()] = None
    pod: Annotated[core.Pod | None, EmbeddedResource()] = None
    template: core.PodTemplateSpec | None = None
    claim: core.PersistentVolumeClaimSpec | None = None
    selector: LabelSelector | None = None
    cluster_ips: list[str] = []


class EverythingStatus(Status):
    replicas: Int32 = 0
    """How many copies there are."""
    selector: str = ""


class Everything(
    Resource[EverythingSpec, EverythingStatus],
    group="tests.windvane.dev",
    version="v1",
    plural="everythings",
    short_names=["evr"],
    categories=["testing"],
    columns=[
        Column("Image", ".spec.image"),
        Column("Replicas", ".spec.replicas", priority=1),
        Column("Until", ".spec.until"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
    ],
    scale=ScaleSubresource(selector=".status.selector"),
    selectable=[".spec.image", ".spec.mode"],
):
    """A kind that asks for everything."""


class OldSpec(Spec):
    image: str = ""


class EverythingV1Beta1(
    Resource[OldSpec, EverythingStatus],
    kind="Everything",
    group="tests.windvane.dev",
    version="v1beta1",
    plural="everythings",
    short_names=["evr"],
    categories=["testing"],
    stored=False,
    deprecated="tests.windvane.dev/v1beta1 Everything is deprecated; use v1",
):
    """A kind that asked for little."""
