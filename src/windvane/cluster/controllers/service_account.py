"""What every namespace has for its pods: the ServiceAccount `default`, and the certificate to know the API server by.

Both come back when they are deleted, and the certificate when it is changed.
"""

from windvane import (
    AlreadyExists,
    APIError,
    Client,
    Context,
    NotFound,
    Object,
    ObjectMeta,
    Operator,
    Watch,
    only_metadata,
)
from windvane.k8s.core import ConfigMap, Namespace, ServiceAccount

ACCOUNT = "default"
ROOT_CA = "kube-root-ca.crt"
DESCRIPTION = "kubernetes.io/description"
# Tools show it to users, so it is in the words that they know from any cluster.
WORDS = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)
TERMINATING = "NamespaceTerminating"

AccountMetadata = only_metadata(ServiceAccount)


def add_accounts_to(operator: Operator) -> None:
    """Have the ServiceAccount `default` in every namespace."""

    @operator.controller(
        Namespace, watches=[Watch(AccountMetadata, to=_namespace_of_account)], name="serviceaccount-controller"
    )
    async def make_account(namespace: Namespace, ctx: Context) -> None:
        name = namespace.metadata.name
        if is_active(namespace) and ctx.get(AccountMetadata, ACCOUNT, namespace=name) is None:
            await _create(ctx.client, ServiceAccount(metadata=ObjectMeta(name=ACCOUNT, namespace=name)))


def add_root_ca_to(operator: Operator, certificate: str) -> None:
    """Have the ConfigMap `kube-root-ca.crt` in every namespace, with this certificate in it."""
    operator.watch_only(ConfigMap, fields={"metadata.name": ROOT_CA})

    @operator.controller(
        Namespace, watches=[Watch(ConfigMap, to=_namespace_of)], name="root-ca-certificate-publisher-controller"
    )
    async def publish(namespace: Namespace, ctx: Context) -> None:
        if not is_active(namespace):
            return
        there = ctx.get(ConfigMap, ROOT_CA, namespace=namespace.metadata.name)
        if there is None:
            await _create(ctx.client, root_ca_map(namespace.metadata.name, certificate))
        elif not is_right(there, certificate):
            there.data = {"ca.crt": certificate}
            there.metadata.annotations[DESCRIPTION] = WORDS
            await ctx.client.replace(there)


def is_active(namespace: Namespace) -> bool:
    """Whether things can be created in it."""
    return namespace.status.phase == "Active"


def root_ca_map(namespace: str, certificate: str) -> ConfigMap:
    """The ConfigMap as it should be."""
    metadata = ObjectMeta(name=ROOT_CA, namespace=namespace, annotations={DESCRIPTION: WORDS})
    return ConfigMap(metadata=metadata, data={"ca.crt": certificate})


def is_right(there: ConfigMap, certificate: str) -> bool:
    """Whether a ConfigMap has the certificate and nothing else, and says in any words what it is."""
    return there.data == {"ca.crt": certificate} and bool(there.metadata.annotations.get(DESCRIPTION))


def _namespace_of(thing: Object) -> str:
    return thing.metadata.namespace


def _namespace_of_account(account: Object) -> str | None:
    return account.metadata.namespace if account.metadata.name == ACCOUNT else None


async def _create(client: Client, thing: Object) -> None:
    try:
        await client.create(thing)
    except (AlreadyExists, NotFound):
        pass  # another client was faster; or the namespace is gone
    except APIError as error:
        if not any(cause.reason == TERMINATING for cause in error.causes):
            raise
