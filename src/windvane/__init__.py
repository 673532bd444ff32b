"""windvane: describe a Kubernetes kind as a class, write one function, and the world is kept matching it.

Everything public is here, but for the built-in kinds, which are in `windvane.k8s`: `from windvane.k8s import apps`.
"""

from typing import TYPE_CHECKING, Any

from windvane.api.condition import Condition, Status, find_condition, set_condition
from windvane.api.crd import crd
from windvane.api.cron import Cron
from windvane.api.duration import Duration
from windvane.api.envelope import Item
from windvane.api.field_selector import FieldSelector
from windvane.api.int_or_string import IntOrString
from windvane.api.kind import Kind
from windvane.api.markers import (
    Default,
    EmbeddedResource,
    Format,
    Ge,
    Gt,
    Int32,
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
    MinItems,
    MinLength,
    MinProperties,
    MultipleOf,
    Nullable,
    Pattern,
    PreserveUnknown,
    Required,
)
from windvane.api.meta import LabelSelector, ObjectMeta, OwnerReference
from windvane.api.quantity import Quantity
from windvane.api.resource import (
    Column,
    Dynamic,
    Object,
    Resource,
    Scale,
    dynamic,
    kind_of,
    object_from_wire,
    object_to_wire,
    owner_reference,
)
from windvane.api.rules import AtLeastOneOf, AtMostOneOf, ExactlyOneOf, Rule
from windvane.api.schema import SchemaError, schema
from windvane.api.selector import Selector
from windvane.api.status import APIStatus, StatusCause
from windvane.api.struct import Spec, Struct, field
from windvane.api.time import MicroTime

if TYPE_CHECKING:
    from windvane.client.client import Client
    from windvane.client.config import ClientConfig, ConfigError, load_config
    from windvane.client.credentials import CredentialsError
    from windvane.client.errors import (
        AlreadyExists,
        APIError,
        BadRequest,
        ClientError,
        Conflict,
        FateUnknown,
        Forbidden,
        Gone,
        InternalError,
        Interrupted,
        Invalid,
        NotFound,
        ServerTimeout,
        TooLarge,
        TooManyRequests,
        Unauthorized,
        Unavailable,
        Unreachable,
        Unreadable,
        Untrusted,
    )
    from windvane.client.listing import Page
    from windvane.client.pod_exec import ExecResult, Process
    from windvane.client.pod_ports import Connection
    from windvane.client.pods import Pod
    from windvane.client.watching import Event

__version__ = "0.1.0.dev0"

# The client brings aiohttp along, which takes longer to import than all of `windvane.api`. Whoever only wants a CRD
# need not wait for it, so these are imported when they are first asked for.
_LATER = {
    "Client": "client",
    "ClientConfig": "config",
    "ConfigError": "config",
    "load_config": "config",
    "CredentialsError": "credentials",
    "Event": "watching",
    "Page": "listing",
    "Pod": "pods",
    "ExecResult": "pod_exec",
    "Process": "pod_exec",
    "Connection": "pod_ports",
    **dict.fromkeys(
        (
            "APIError", "AlreadyExists", "BadRequest", "ClientError", "Conflict", "FateUnknown", "Forbidden", "Gone",
            "InternalError", "Interrupted", "Invalid", "NotFound", "ServerTimeout", "TooLarge", "TooManyRequests",
            "Unauthorized", "Unavailable", "Unreachable", "Unreadable", "Untrusted",
        ),
        "errors",
    ),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if (module := _LATER.get(name)) is None:
        raise AttributeError(f"module 'windvane' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"windvane.client.{module}"), name)


__all__ = [
    "APIError",
    "APIStatus",
    "AlreadyExists",
    "AtLeastOneOf",
    "AtMostOneOf",
    "BadRequest",
    "Client",
    "ClientConfig",
    "ClientError",
    "Column",
    "Condition",
    "ConfigError",
    "Conflict",
    "Connection",
    "CredentialsError",
    "Cron",
    "Default",
    "Duration",
    "Dynamic",
    "EmbeddedResource",
    "Event",
    "ExactlyOneOf",
    "ExecResult",
    "FateUnknown",
    "FieldSelector",
    "Forbidden",
    "Format",
    "Ge",
    "Gone",
    "Gt",
    "Int32",
    "IntOrString",
    "InternalError",
    "Interrupted",
    "Invalid",
    "Item",
    "Kind",
    "LabelSelector",
    "Le",
    "ListAtomic",
    "ListMap",
    "ListSet",
    "Lt",
    "MapAtomic",
    "MapGranular",
    "MaxItems",
    "MaxLength",
    "MaxProperties",
    "MicroTime",
    "MinItems",
    "MinLength",
    "MinProperties",
    "MultipleOf",
    "NotFound",
    "Nullable",
    "Object",
    "ObjectMeta",
    "OwnerReference",
    "Page",
    "Pattern",
    "Pod",
    "PreserveUnknown",
    "Process",
    "Quantity",
    "Required",
    "Resource",
    "Rule",
    "Scale",
    "SchemaError",
    "Selector",
    "ServerTimeout",
    "Spec",
    "Status",
    "StatusCause",
    "Struct",
    "TooLarge",
    "TooManyRequests",
    "Unauthorized",
    "Unavailable",
    "Unreachable",
    "Unreadable",
    "Untrusted",
    "crd",
    "dynamic",
    "field",
    "find_condition",
    "kind_of",
    "load_config",
    "object_from_wire",
    "object_to_wire",
    "owner_reference",
    "schema",
    "set_condition",
]
