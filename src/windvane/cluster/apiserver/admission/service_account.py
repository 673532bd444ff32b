"""The admission plugin ServiceAccount: every pod runs as a ServiceAccount, and gets its token as a file.

A controller makes the account `default` in each namespace, and a pod whose account is missing is refused. Without that
controller accounts are not `required`: a pod whose account is missing is let in, with no token.
"""

from collections.abc import Iterator

import msgspec

from windvane import ambient
from windvane.api.json_value import Wire
from windvane.api.kind import Kind
from windvane.api.names import generate_name
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest, called
from windvane.cluster.apiserver.authentication.service_account_tokens import PROJECTED
from windvane.cluster.apiserver.failure import Failure, forbidden
from windvane.cluster.apiserver.storage.record import Key
from windvane.cluster.apiserver.storage.store import Store

PODS = Kind(group="", version="v1", name="Pod", plural="pods")
DEFAULT = "default"
ACCOUNTS = "/serviceaccounts"
TIMEOUT = 1.5
"""The seconds to wait for the account `default`; a real server retries ten times, 0.1 to 0.2 s apart."""
VOLUME_PREFIX = "kube-api-access-"
MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
MIRROR = "kubernetes.io/config.mirror"
ENFORCE = "kubernetes.io/enforce-mountable-secrets"
TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})


class ServiceAccount(AdmissionPlugin):
    """Gives new pods their account and its token."""

    name = "ServiceAccount"
    resources = frozenset({"pods"})
    operations = frozenset({"CREATE"})

    def __init__(self, store: Store, *, required: bool) -> None:
        self._store = store
        self._required = required

    async def mutate(self, request: AdmissionRequest) -> None:
        if request.object is not None:
            await self._wait(request.object)
            self._admit(request.object)

    async def _wait(self, pod: Wire) -> None:
        """Wait for the controller: a client may create a namespace and at once a pod in it."""
        name = pod.get("spec", {}).get("serviceAccountName") or DEFAULT
        namespace = pod["metadata"].get("namespace", "")
        account = Key(ACCOUNTS, namespace, DEFAULT)
        if not self._required or name != DEFAULT or self._store.get(account):
            return
        deadline = ambient.monotonic() + TIMEOUT
        watch = self._store.watch(ACCOUNTS, self._store.revision)
        try:
            while self._store.get(account) is None and (left := deadline - ambient.monotonic()) > 0:
                await watch.wait(left)
                watch.take(len(self._store.entries(ACCOUNTS)))
        finally:
            watch.close()

    def _admit(self, pod: Wire) -> None:
        metadata, spec = pod["metadata"], pod["spec"]
        if MIRROR in (metadata.get("annotations") or {}):
            _check_mirror(pod)
            return
        name = spec.get("serviceAccountName") or DEFAULT
        entry = self._store.get(Key(ACCOUNTS, metadata["namespace"], name))
        if entry is None:
            if self._required:
                place = f"{metadata['namespace']}/{name}"
                missing = f'serviceaccount "{name}" not found'
                raise _refusal(pod, f"error looking up service account {place}: {missing}")
            return
        account: Wire = msgspec.json.decode(entry.value)
        spec["serviceAccountName"] = spec["serviceAccount"] = name
        automount = spec.get("automountServiceAccountToken", account.get("automountServiceAccountToken", True))
        if automount:
            _mount_token(spec)
        if not spec.get("imagePullSecrets") and (secrets := account.get("imagePullSecrets")):
            spec["imagePullSecrets"] = [{"name": secret.get("name", "")} for secret in secrets]
        if (account["metadata"].get("annotations") or {}).get(ENFORCE) in TRUE:
            _check_secrets(pod, account)


def _mount_token(spec: Wire) -> None:
    volumes = spec.get("volumes") or []
    own = next((volume["name"] for volume in volumes if volume.get("name", "").startswith(VOLUME_PREFIX)), None)
    name = own or generate_name(VOLUME_PREFIX)
    needed = False
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        mounts = container.get("volumeMounts") or []
        if any(mount.get("mountPath") == MOUNT_PATH for mount in mounts):
            continue  # a volume that the pod itself mounts there stays
        container["volumeMounts"] = [*mounts, {"name": name, "readOnly": True, "mountPath": MOUNT_PATH}]
        needed = True
    if needed and own is None:
        spec["volumes"] = [*volumes, {"name": name, "projected": _token_volume()}]


def _token_volume() -> Wire:
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    return {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": PROJECTED, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [namespace]}},
        ],
        "defaultMode": 0o644,
    }


def _check_mirror(pod: Wire) -> None:
    """A mirror pod has no account, and nothing that needs one."""
    spec = pod["spec"]
    if spec.get("serviceAccountName"):
        raise _refusal(pod, "a mirror pod may not reference service accounts")
    if any(True for _ in _secrets(spec)) or spec.get("imagePullSecrets"):
        raise _refusal(pod, "a mirror pod may not reference secrets")
    for volume in spec.get("volumes") or ():
        if any("serviceAccountToken" in source for source in (volume.get("projected") or {}).get("sources") or ()):
            raise _refusal(pod, "a mirror pod may not use ServiceAccountToken volume projections")


def _check_secrets(pod: Wire, account: Wire) -> None:
    """An account may restrict its pods to the secrets that it lists."""
    name = account["metadata"]["name"]
    allowed = {secret.get("name") for secret in account.get("secrets") or ()}
    for what, secret in _secrets(pod["spec"]):
        if secret not in allowed:
            why = f'{what}secret.secretName="{secret}" is not allowed because service account {name} does not'
            raise _refusal(pod, f"{why} reference that secret")
    pulls = {secret.get("name") for secret in account.get("imagePullSecrets") or ()}
    for index, secret in enumerate(pod["spec"].get("imagePullSecrets") or ()):
        if secret.get("name") not in pulls:
            why = f'imagePullSecrets[{index}].name="{secret.get("name", "")}" is not allowed because service account'
            raise _refusal(pod, f"{why} {name} does not reference that imagePullSecret")


def _secrets(spec: Wire) -> Iterator[tuple[str, str]]:
    """The secrets that a pod uses, each with where."""
    for volume in spec.get("volumes") or ():
        if "secret" in volume:
            yield "volume with ", volume["secret"].get("secretName", "")
    for field, word in (("initContainers", "init container"), ("containers", "container")):
        for container in spec.get(field) or ():
            for variable in container.get("env") or ():
                if secret := (variable.get("valueFrom") or {}).get("secretKeyRef"):
                    where = f"{word} {container['name']} with envVar {variable['name']} referencing "
                    yield where, secret.get("name", "")
            for source in container.get("envFrom") or ():
                if secret := source.get("secretRef"):
                    yield f"{word} {container['name']} with envFrom referencing ", secret.get("name", "")


def _refusal(pod: Wire, why: str) -> Failure:
    return forbidden(PODS, called(pod), why)
