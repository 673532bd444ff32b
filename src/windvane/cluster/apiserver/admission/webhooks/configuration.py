"""The webhooks that the configurations in the store name, read once and again when one of those has changed."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct, json

from windvane.api.lazy_attribute import LazyAttribute
from windvane.cluster.apiserver.admission.matcher import LabelSelector, MatchResources, Rule
from windvane.cluster.apiserver.outbound.caller import ClientConfig
from windvane.cluster.apiserver.storage.record import Entry
from windvane.cluster.apiserver.storage.store import Store

if TYPE_CHECKING:
    from windvane.cluster.apiserver.expressions import MatchConditions

MUTATING = "admissionregistration.k8s.io/mutatingwebhookconfigurations"
VALIDATING = "admissionregistration.k8s.io/validatingwebhookconfigurations"


class _Webhook(Struct, frozen=True, rename="camel"):
    """One entry of `webhooks`; what isn't stated has the API's default, which is filled in when it is stored."""

    name: str
    client_config: ClientConfig
    rules: tuple[Rule, ...] | None = None
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
    """A webhook, as a configuration names it."""

    configuration: str
    """The name of the object that names it."""
    stated: _Webhook
    uid: str
    """The same in both rounds of a request; names may come twice."""

    @property
    def name(self) -> str:
        """As refusals tell it."""
        return self.stated.name

    @property
    def ignores_failures(self) -> bool:
        """Whether a write goes on when the webhook can't be asked."""
        return self.stated.failure_policy == "Ignore"

    @cached_property
    def match(self) -> MatchResources:
        """What it is asked about. Without rules, that is nothing."""
        stated = self.stated
        return MatchResources(
            resource_rules=stated.rules,
            match_policy=stated.match_policy,
            namespace_selector=stated.namespace_selector,
            object_selector=stated.object_selector,
        )

    @LazyAttribute
    def conditions(self) -> "MatchConditions":
        """What must also be true for it to be asked."""
        # The engine takes long to import, and most webhooks have no conditions.
        from windvane.cluster.apiserver.expressions import MatchConditions

        return MatchConditions(self.stated.match_conditions or ())


class Configurations:
    """All webhooks of one of the two kinds of configuration, in the order in which they are asked."""

    def __init__(self, store: Store, collection: str) -> None:
        self._store = store
        self._collection = collection
        self._revision = -1
        self._webhooks: tuple[Webhook, ...] = ()

    def webhooks(self) -> tuple[Webhook, ...]:
        """Those of configurations that come first by name come first."""
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
