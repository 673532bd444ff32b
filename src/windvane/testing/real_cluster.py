"""The fixture `real_cluster`: a cluster that a kubeconfig names, and that was said to be there for tests."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from windvane import ambient
from windvane.api.meta import ObjectMeta
from windvane.api.resource import Object, Resource, kind_of
from windvane.client.client import Client
from windvane.client.config import ClientConfig, load_config
from windvane.client.errors import Conflict, NotFound
from windvane.client.http import HTTPTransport
from windvane.client.proxies import is_loopback
from windvane.k8s.core import Namespace, ServiceAccount
from windvane.runtime.operator import Operator
from windvane.testing.cluster import BREATH
from windvane.testing.pods import RunningPods, Unsupported
from windvane.testing.remote_cluster import RemoteCluster
from windvane.testing.replica import Replica

ObjectT = TypeVar("ObjectT", bound=Object)

LABEL = "windvane.dev/test"
"""On every namespace of a test."""
IN_A_POD = "in-cluster"
"""What the cluster is called that a pod is in: there is no context with a name."""
ACCOUNT_WITHIN = 2.0
GONE_WITHIN = 60.0
LOOK_AGAIN = 0.2


class NotGiven(Exception):
    """No cluster is named; the message says how to name one."""


class NotAllowed(Exception):
    """A cluster is named that was not said to be for tests; the message says how to say it."""


@dataclass(frozen=True)
class Choice:
    """Which cluster was chosen for tests, by options of pytest or by the environment."""

    kubeconfig: str = ""
    context: str = ""
    allow: str = ""
    """The name of the context that may be used, whatever the kubeconfig says by then."""
    webhook_url: str = ""

    @classmethod
    def of(cls, options: Mapping[str, str | None], environ: Mapping[str, str]) -> "Choice":
        """What the options say, or else the variables WINDVANE_TEST_..."""
        return cls(
            **{name: value or environ.get(f"WINDVANE_TEST_{name.upper()}", "") for name, value in options.items()}
        )

    def check_given(self) -> None:
        """`NotGiven` if no cluster is chosen."""
        if not (self.kubeconfig or self.context or self.allow):
            raise NotGiven(
                "no cluster is given to real_cluster: pytest --windvane-allow CONTEXT names a context of your "
                "kubeconfig whose cluster is for tests, and --windvane-kubeconfig FILE another kubeconfig"
            )

    def config(self) -> ClientConfig:
        """How to reach it; `NotAllowed` if it was not said that it may be used."""
        config = load_config(kubeconfig=self.kubeconfig or None, context=self.context or self._context or None)
        name = config.context or IN_A_POD
        if self.allow != name:
            instead = f" (that is not {self.allow})" if self.allow else ""
            raise NotAllowed(
                f"real_cluster would install CRDs, run operators and make namespaces on {config.server}{instead}: if "
                f"that is a cluster for tests, say so by --windvane-allow {name}"
            )
        return config

    @property
    def _context(self) -> str:
        return "" if self.allow == IN_A_POD else self.allow


class RealCluster(RemoteCluster):
    """See the module. Each test has a namespace of its own, `cluster.namespace`, and its operators see no other.

    What a test makes is removed at its end, without its finalizers. CRDs stay: other tests may use them just now.
    """

    patience = 30.0

    def __init__(self, config: ClientConfig, *, webhook_url: str = "", left: list[str] | None = None) -> None:
        """The namespaces that are to be gone in a while are added to `left`."""
        super().__init__(RunningPods())
        self._whole = config
        self._webhook_url = webhook_url
        self._left = left if left is not None else []
        self._kinds: set[type[Object]] = set()
        self._without_namespace: list[tuple[type[Object], str]] = []

    async def _begin(self) -> None:
        admin = Client(HTTPTransport(self._whole), field_manager="test")
        self._stack.push_async_callback(admin.close)
        wanted = Namespace(metadata=ObjectMeta(generate_name="windvane-test-", labels={LABEL: "true"}))
        namespace = (await admin.create(wanted)).metadata.name
        self._stack.push_async_callback(self._remove, admin, namespace)
        deadline = ambient.monotonic() + ACCOUNT_WITHIN  # without one, no pod can be made
        while not await _has_account(admin, namespace) and ambient.monotonic() < deadline:
            await ambient.sleep(BREATH)
        await self._connect(self._whole, namespace=namespace, everywhere=False)

    @property
    def _only(self) -> str:
        return self.namespace

    async def _start(self, operator: Operator, admin: Client) -> Replica:
        if operator.conversions:
            raise Unsupported(
                f"the CRDs of operator {operator.name!r} have to say who converts their versions, and all tests on a "
                "real cluster share them: have this test on the fixture `cluster` or `process_cluster`"
            )
        if operator.serves_webhooks and not self._webhook_url and not is_loopback(self._whole.server):
            raise Unsupported(
                f"operator {operator.name!r} has webhooks, and {self._whole.server} has to reach them in this process: "
                "say how by --windvane-webhook-url https://HOST:PORT; or have this test on another fixture"
            )
        self._kinds.update(operator.kinds)
        return await super()._start(operator, admin)

    async def apply(self, thing: ObjectT) -> ObjectT:
        """See `Cluster.apply`."""
        kind = kind_of(thing)
        is_new = not kind.namespaced and not await self.exists(type(thing), thing.metadata.name)
        applied = await super().apply(thing)
        self._kinds.add(type(thing))
        if is_new:
            self._without_namespace.append((type(thing), thing.metadata.name))
        return applied

    async def _have_namespace(self, name: str) -> None:
        self._check_own(name)

    def _where(self, what: type[Object], namespace: str) -> str:
        if namespace:
            self._check_own(namespace)
        return super()._where(what, namespace)

    def _check_own(self, namespace: str) -> None:
        if namespace != self.namespace:
            raise Unsupported(
                f"on a real cluster a test has a namespace of its own, {self.namespace}, and uses no other, not "
                f"{namespace!r} either: leave the namespace out, or write cluster.namespace"
            )

    async def _remove(self, admin: Client, namespace: str) -> None:
        for what, name in self._without_namespace:
            with suppress(NotFound):
                await admin.delete(what, name)
        with suppress(NotFound):
            await admin.delete(Namespace, namespace)
        self._left.append(namespace)
        own = [what for what in self._kinds if issubclass(what, Resource)]
        for what in own:  # no operator is there to see to their finalizers
            await _let_go(admin, what, namespace if kind_of(what).namespaced else "", self._without_namespace)


async def _let_go(
    admin: Client, what: type[Object], namespace: str, without: Sequence[tuple[type[Object], str]]
) -> None:
    with suppress(NotFound):
        for each in await admin.list(what, namespace=namespace):
            mine = each.metadata
            if mine.finalizers and (namespace or (what, mine.name) in without):
                with suppress(NotFound, Conflict):
                    await admin.patch(what, mine.name, {"metadata": {"finalizers": None}}, namespace=namespace)


async def _has_account(admin: Client, namespace: str) -> bool:
    try:
        await admin.get(ServiceAccount, "default", namespace=namespace)
    except NotFound:
        return False
    return True


async def wait_gone(config: ClientConfig, namespaces: Sequence[str]) -> list[str]:
    """Wait until these are gone, for a minute at most; of those that are not, what they say."""
    async with Client(HTTPTransport(config), field_manager="test") as admin:
        left = list(namespaces)
        deadline = ambient.monotonic() + GONE_WITHIN
        while left:
            there = {each.metadata.name: each for each in await admin.list(Namespace, labels={LABEL: "true"})}
            left = [name for name in left if name in there]
            if left and ambient.monotonic() > deadline:
                return [f"{name}: {_why(there[name])}" for name in left]
            if left:
                await ambient.sleep(LOOK_AGAIN)
    return []


def _why(namespace: Namespace) -> str:
    said = [each.message for each in namespace.status.conditions if each.status == "True" and each.message]
    return "; ".join(said) or "it does not say why"
