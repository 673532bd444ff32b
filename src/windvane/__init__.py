"""windvane: describe a Kubernetes kind as a class, write one function, and the world is kept matching it.

Everything public is here, but for the built-in kinds, which are in `windvane.k8s`: `from windvane.k8s import apps`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from windvane.api.codec import from_wire as from_wire, to_wire as to_wire
    from windvane.api.condition import (
        Condition as Condition,
        Status as Status,
        find_condition as find_condition,
        set_condition as set_condition,
    )
    from windvane.api.custom_resources.crd import crd as crd
    from windvane.api.cron import Cron as Cron
    from windvane.api.duration import Duration as Duration
    from windvane.api.envelope import EnvelopeMeta as EnvelopeMeta, Item as Item
    from windvane.api.field_selector import FieldSelector as FieldSelector
    from windvane.api.int_or_string import IntOrString as IntOrString, scaled_value as scaled_value
    from windvane.api.kind import Kind as Kind
    from windvane.api.markers import (
        Default as Default,
        EmbeddedResource as EmbeddedResource,
        Format as Format,
        Ge as Ge,
        Gt as Gt,
        Int32 as Int32,
        Le as Le,
        ListAtomic as ListAtomic,
        ListMap as ListMap,
        ListSet as ListSet,
        Lt as Lt,
        MapAtomic as MapAtomic,
        MapGranular as MapGranular,
        MaxItems as MaxItems,
        MaxLength as MaxLength,
        MaxProperties as MaxProperties,
        MinItems as MinItems,
        MinLength as MinLength,
        MinProperties as MinProperties,
        MultipleOf as MultipleOf,
        Nullable as Nullable,
        Pattern as Pattern,
        PreserveUnknown as PreserveUnknown,
        Required as Required,
    )
    from windvane.api.meta import (
        LabelSelector as LabelSelector,
        ObjectMeta as ObjectMeta,
        OwnerReference as OwnerReference,
    )
    from windvane.api.partial import Metadata as Metadata, only_metadata as only_metadata
    from windvane.api.quantity import Quantity as Quantity
    from windvane.api.resource import (
        Column as Column,
        Dynamic as Dynamic,
        Object as Object,
        Resource as Resource,
        ScaleSubresource as ScaleSubresource,
        dynamic as dynamic,
        kind_of as kind_of,
        object_from_wire as object_from_wire,
        object_to_wire as object_to_wire,
        owner_reference as owner_reference,
    )
    from windvane.api.custom_resources.rules import (
        AtLeastOneOf as AtLeastOneOf,
        AtMostOneOf as AtMostOneOf,
        ExactlyOneOf as ExactlyOneOf,
        Rule as Rule,
    )
    from windvane.api.custom_resources.schema import SchemaError as SchemaError, schema as schema
    from windvane.api.selector import Requirement as Requirement, Selector as Selector
    from windvane.api.status import APIStatus as APIStatus, StatusCause as StatusCause
    from windvane.api.struct import Spec as Spec, Struct as Struct, field as field
    from windvane.api.time import (
        MicroTime as MicroTime,
        format_time as format_time,
        parse_time as parse_time,
    )
    from windvane.backoff import Backoff as Backoff
    from windvane.client.client import Client as Client
    from windvane.client.config import (
        ClientConfig as ClientConfig,
        ConfigError as ConfigError,
        load_config as load_config,
    )
    from windvane.client.credentials import CredentialsError as CredentialsError
    from windvane.client.errors import (
        AlreadyExists as AlreadyExists,
        APIError as APIError,
        BadRequest as BadRequest,
        ClientError as ClientError,
        Conflict as Conflict,
        FateUnknown as FateUnknown,
        Forbidden as Forbidden,
        Gone as Gone,
        InternalError as InternalError,
        Interrupted as Interrupted,
        Invalid as Invalid,
        NotFound as NotFound,
        ServerTimeout as ServerTimeout,
        TooLarge as TooLarge,
        TooManyRequests as TooManyRequests,
        Unauthorized as Unauthorized,
        Unavailable as Unavailable,
        Unreachable as Unreachable,
        Unreadable as Unreadable,
        Untrusted as Untrusted,
    )
    from windvane.client.pager import Page as Page
    from windvane.client.pod_exec import ExecResult as ExecResult, Process as Process
    from windvane.client.pod_ports import Connection as Connection
    from windvane.client.pod_client import PodClient as PodClient
    from windvane.client.watch_stream import WatchEvent as WatchEvent
    from windvane.runtime.admission import AdmissionRequest as AdmissionRequest, Denied as Denied
    from windvane.runtime.writes.children import NotAdopted as NotAdopted
    from windvane.runtime.context import Context as Context
    from windvane.runtime.daemon import Daemon as Daemon, DaemonContext as DaemonContext
    from windvane.runtime.declaration import Owned as Owned, Watch as Watch, owned_by as owned_by
    from windvane.runtime.informers.cache import Change as Change
    from windvane.runtime.informers.index import Index as Index, index as index
    from windvane.runtime.informers.informer import Informer as Informer
    from windvane.runtime.lifespan import Lifespan as Lifespan, LifespanFailed as LifespanFailed
    from windvane.runtime.manager import OperatorManager as OperatorManager
    from windvane.runtime.observability.event_recorder import EventRecorder as EventRecorder
    from windvane.runtime.observability.health import serve_health as serve_health
    from windvane.runtime.observability.logs import set_up_logging as set_up_logging
    from windvane.runtime.operator import Operator as Operator
    from windvane.runtime.outcome import After as After, Fatal as Fatal
    from windvane.runtime.queue import WorkQueue as WorkQueue
    from windvane.runtime.informers.view import View as View
    from windvane.webhook.lifecycle import serve_webhooks as serve_webhooks

__version__ = "0.1.0.dev0"

# Each name is imported when it is first asked for: a program that only wants a CRD need not wait for the client, which
# brings aiohttp along, and the command line need not wait for either.
_PLACES = {
    "api.codec": "from_wire to_wire",
    "api.condition": "Condition Status find_condition set_condition",
    "api.custom_resources.crd": "crd",
    "api.cron": "Cron",
    "api.duration": "Duration",
    "api.envelope": "EnvelopeMeta Item",
    "api.field_selector": "FieldSelector",
    "api.int_or_string": "IntOrString scaled_value",
    "api.kind": "Kind",
    "api.markers": (
        "Default EmbeddedResource Format Ge Gt Int32 Le ListAtomic ListMap ListSet Lt MapAtomic MapGranular "
        "MaxItems MaxLength MaxProperties MinItems MinLength MinProperties MultipleOf Nullable Pattern "
        "PreserveUnknown Required"
    ),
    "api.meta": "LabelSelector ObjectMeta OwnerReference",
    "api.partial": "Metadata only_metadata",
    "api.quantity": "Quantity",
    "api.resource": (
        "Column Dynamic Object Resource ScaleSubresource "
        "dynamic kind_of object_from_wire object_to_wire owner_reference"
    ),
    "api.custom_resources.rules": "AtLeastOneOf AtMostOneOf ExactlyOneOf Rule",
    "api.custom_resources.schema": "SchemaError schema",
    "api.selector": "Requirement Selector",
    "api.status": "APIStatus StatusCause",
    "api.struct": "Spec Struct field",
    "api.time": "MicroTime format_time parse_time",
    "backoff": "Backoff",
    "client.client": "Client",
    "client.config": "ClientConfig ConfigError load_config",
    "client.credentials": "CredentialsError",
    "client.errors": (
        "AlreadyExists APIError BadRequest ClientError Conflict FateUnknown Forbidden Gone InternalError "
        "Interrupted Invalid NotFound ServerTimeout TooLarge TooManyRequests Unauthorized Unavailable "
        "Unreachable Unreadable Untrusted"
    ),
    "client.pager": "Page",
    "client.pod_exec": "ExecResult Process",
    "client.pod_ports": "Connection",
    "client.pod_client": "PodClient",
    "client.watch_stream": "WatchEvent",
    "runtime.admission": "AdmissionRequest Denied",
    "runtime.writes.children": "NotAdopted",
    "runtime.context": "Context",
    "runtime.daemon": "Daemon DaemonContext",
    "runtime.declaration": "Owned Watch owned_by",
    "runtime.informers.cache": "Change",
    "runtime.informers.index": "Index index",
    "runtime.informers.informer": "Informer",
    "runtime.lifespan": "Lifespan LifespanFailed",
    "runtime.manager": "OperatorManager",
    "runtime.observability.event_recorder": "EventRecorder",
    "runtime.observability.health": "serve_health",
    "runtime.observability.logs": "set_up_logging",
    "runtime.operator": "Operator",
    "runtime.outcome": "After Fatal",
    "runtime.queue": "WorkQueue",
    "runtime.informers.view": "View",
    "webhook.lifecycle": "serve_webhooks",
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if (module := _MODULES.get(name)) is None:
        raise AttributeError(f"module 'windvane' has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(f"windvane.{module}"), name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]
