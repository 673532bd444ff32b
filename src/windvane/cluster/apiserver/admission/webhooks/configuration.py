"""The webhooks of the stored webhook configurations, decoded once, and again when they have changed."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct, json

from windvane.api.lazy_attribute import LazyAttribute
from windvane.cluster.apiserver.admission.matcher import LabelSelector, MatchResources, RuleWithOperations
from windvane.cluster.apiserver.outbound.caller import ClientConfig
from windvane.cluster.apiserver.storage.record import Entry
from windvane.cluster.apiserver.storage.store import Store

if TYPE_CHECKING:
    from windvane.cluster.apiserver.expressions import MatchConditions

MUTATING = "admissionregistration.k8s.io/mutatingwebhookconfigurations"
VALIDATING = "admissionregistration.k8s.io/validatingwebhookconfigurations"


class _Webhook(Struct, frozen=True, rename="camel"):
    """One entry of `webhooks`. Defaults were filled in when it was stored."""

    name: str
    client_config: ClientConfig
    rules: tuple[RuleWithOperations, ...] | None = None
    failure_policy: str = "Fail"
    match_policy: str = "Equivalent"
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None
    side_effects: str = ""
    timeout_seconds: int = 10
    admission_review_versions: tuple[str, ...] = ()
    match_conditions: tuple[dict[str, str], ...] | None = None
    reinvocation_policy: str = "Never"


class _Configuration(Struct, frozen=True):
    webhooks: tuple[_Webhook, ...] | None = None


_decoder = json.Decoder(_Configuration)


@dataclass(frozen=True, eq=False)
class Webhook:
    """A webhook of a configuration."""

    configuration: str
    """The name of the configuration."""
    stated: _Webhook
    uid: str
    """The same in both rounds of a request. Its name may be ambiguous."""

    @property
    def name(self) -> str:
        """Its name in refusals."""
        return self.stated.name

    @property
    def ignores_failures(self) -> bool:
        """Whether the failurePolicy is Ignore."""
        return self.stated.failure_policy == "Ignore"

    @cached_property
    def match(self) -> MatchResources:
        """Its rules and selectors. Without rules it matches nothing."""
        stated = self.stated
        return MatchResources(
            resource_rules=stated.rules,
            match_policy=stated.match_policy,
            namespace_selector=stated.namespace_selector,
            object_selector=stated.object_selector,
        )

    @LazyAttribute
    def conditions(self) -> "MatchConditions":
        """Its matchConditions."""
        # The CEL engine takes long to import, and most webhooks have no conditions.
        from windvane.cluster.apiserver.expressions import MatchConditions

        return MatchConditions(self.stated.match_conditions or ())


class Configurations:
    """All webhooks of one kind of configuration, in the order in which they are called."""

    def __init__(self, store: Store, collection: str) -> None:
        self._store = store
        self._collection = collection
        self._revision = -1
        self._webhooks: tuple[Webhook, ...] = ()

    def webhooks(self) -> tuple[Webhook, ...]:
        """The webhooks, ordered by the names of their configurations."""
        if (revision := self._store.changed(self._collection)) != self._revision:
            entries = sorted(self._store.entries(self._collection), key=lambda entry: entry.key.name)
            self._webhooks = tuple(webhook for entry in entries for webhook in _read(entry))
            self._revision = revision
        return self._webhooks


def _read(entry: Entry) -> list[Webhook]:
    configuration = entry.key.name
    seen: dict[str, int] = {}
    found = []
    for stated in _decoder.decode(entry.value).webhooks or ():
        number = seen[stated.name] = seen.get(stated.name, -1) + 1
        found.append(Webhook(configuration, stated, f"{configuration}/{stated.name}/{number}"))
    return found
