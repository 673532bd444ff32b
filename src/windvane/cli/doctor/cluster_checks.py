"""What `windvane doctor` asks the cluster: whether it answers, and whether an operator could work there.

Nothing is written: whether CRDs are as the classes say, and whether webhooks answer, is found out by dry runs.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from cryptography import x509

from windvane import ambient
from windvane.api.custom_resources.crd import CustomResourceDefinition
from windvane.api.resource import Dynamic, Object, kind_of
from windvane.cli.api_server_check import first_answer
from windvane.cli.doctor.finding import Finding, fail, ok, warn
from windvane.client.client import Client
from windvane.client.config import ClientConfig
from windvane.client.errors import (
    APIError,
    ClientError,
    Forbidden,
    NotFound,
    Unauthorized,
    Unreachable,
    Untrusted,
)
from windvane.k8s.admissionregistration import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from windvane.k8s.authorization import ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec
from windvane.k8s.coordination import Lease
from windvane.runtime.admission import AdmissionHook
from windvane.runtime.crds import definitions
from windvane.runtime.operator import Operator
from windvane.runtime.rbac import Permission, own_kinds, permissions_of

SOON = timedelta(days=14)
INSTALL = "windvane run {0} --install-crds, or: windvane crd {0} | kubectl apply --server-side -f -"
API_SERVER = "API server"
"""What the finding is called that says whether there is one."""
FAILED = "failed calling webhook"
HAVE_A_CLUSTER = "windvane cluster start --detach && export KUBECONFIG=$(windvane cluster kubeconfig)"


@dataclass(frozen=True)
class OperatorPlace:
    """Which operator it is, and where it is to work."""

    named: str
    """As the command line names it."""
    namespaces: Sequence[str]
    home: str
    """The namespace of its Lease."""
    elected: bool = True


async def check_server(client: Client, config: ClientConfig) -> Finding:
    """Whether the API server answers, and knows us. What is looked at after it may take that for granted."""
    try:
        await first_answer(client.calls.transport, config)
        began = ambient.monotonic()
        version = await client.version()
        took = ambient.monotonic() - began
        await client.create(_review(Permission(kind_of(Lease), ("get",)), "get"))
    except Untrusted as error:
        return fail(API_SERVER, str(error), "correct certificate-authority of that cluster in the kubeconfig")
    except Unreachable as error:
        return fail(API_SERVER, str(error), f"is it running? To have one on this machine: {HAVE_A_CLUSTER}")
    except Unauthorized as error:
        return fail(API_SERVER, str(error), f"the credentials are not good there: log in again ({config.source})")
    except ClientError as error:
        return fail(API_SERVER, str(error), f"kubectl --context {config.context or '...'} version, which may say more")
    return ok(API_SERVER, f"{version.git_version}, answers in {took * 1000:.0f} ms")


async def check_operator(client: Client, operator: Operator, place: OperatorPlace) -> AsyncIterator[Finding]:
    """Whether an operator could work there."""
    for what in {(kind_of(each).group, kind_of(each).name): each for each in own_kinds(operator)}.values():
        yield await check_crd(client, operator, what, INSTALL.format(place.named))
    for right in permissions_of(operator, namespaces=place.namespaces, home=place.home, elected=place.elected):
        yield await _right(client, right)
    if operator.declarations and place.elected:
        yield await _lease(client, operator, place.home)
    if operator.defaulting:
        yield await _webhooks(client, operator, MutatingWebhookConfiguration, operator.defaulting.values())
    if operator.validating:
        yield await _webhooks(client, operator, ValidatingWebhookConfiguration, operator.validating.values())


# CRDs


async def check_crd(client: Client, operator: Operator, what: type[Object], install: str) -> Finding:
    """Whether the CRD of a kind is installed, and as the class says; if not, `install` is what to do."""
    kind = kind_of(what)
    versions = [each for each in own_kinds(operator) if _is_version(each, what)]
    (definition,) = definitions(versions)
    label, name = f"CRD {kind.name}", definition.metadata.name
    try:
        there = await client.get(CustomResourceDefinition, name)
        # A patch, which an operator that installs its CRDs may do; it need not have the right to replace them.
        change = [{"op": "replace", "path": "/spec", "value": _as_stated(there, definition)}]
        would_be = await client.patch(CustomResourceDefinition, name, change, type="json", dry_run=True)
    except NotFound:
        return fail(label, f"{name} is not installed", install)
    except Forbidden as error:
        return warn(label, f"whether it is installed, and as the class says, can't be seen: {error}")
    except APIError as error:
        return fail(label, f"the server would not take the class: {error}", "windvane crd MODULE shows the whole of it")
    if path := difference(there["spec"], would_be["spec"], "spec"):
        return fail(label, f"{name} differs from the class at {path}", install)
    return ok(label, f"{name} is as the class says")


def _is_version(one: type[Object], other: type[Object]) -> bool:
    return (kind_of(one).group, kind_of(one).name) == (kind_of(other).group, kind_of(other).name)


def _as_stated(there: Dynamic, definition: Dynamic) -> dict[str, Any]:
    """The spec, if it were as the classes say; how versions are converted is the running operator's to say."""
    conversion = there["spec"].get("conversion")
    return {**definition["spec"], **({"conversion": conversion} if conversion else {})}


def difference(one: Any, other: Any, path: str) -> str:
    """Where two values differ first; empty if they don't."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = dict.fromkeys([*one, *other])
        found = (difference(one.get(name), other.get(name), f"{path}.{name}") for name in names)
        return next(filter(None, found), "")
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        numbered = enumerate(zip(one, other, strict=True))
        return next(filter(None, (difference(a, b, f"{path}[{number}]") for number, (a, b) in numbered)), "")
    return "" if one == other else path


# Rights


async def _right(client: Client, right: Permission) -> Finding:
    label = "rights"
    try:
        missing = await denied(client, right)
    except ClientError as error:
        return warn(label, f"on {right.resource}: can't be asked: {error}")
    if not missing:
        return ok(label, f"{', '.join(right.verbs)} {right.resource}{_where(right)}")
    words = f"no right to {', '.join(missing)} {right.resource}{_where(right)} ({right.why})"
    return fail(label, words, f"put this rule into {role_for(right)} that is bound to the operator:\n{rule_for(right)}")


async def denied(client: Client, right: Permission) -> list[str]:
    """Which verbs of a right the client does not have."""
    return [verb for verb in right.verbs if not (await client.create(_review(right, verb))).status.allowed]


def rule_for(right: Permission) -> str:
    """The rule that grants it, as a line of a role."""
    plural = "/".join(filter(None, (right.kind.plural, right.subresource)))
    named = f", resourceNames: [{right.name}]" if right.name else ""
    return f'- {{apiGroups: ["{right.kind.group}"], resources: [{plural}]{named}, verbs: [{", ".join(right.verbs)}]}}'


def role_for(right: Permission) -> str:
    """The role that the rule belongs into."""
    return f"a Role in {right.namespace}" if right.namespace else "a ClusterRole"


def _where(right: Permission) -> str:
    return (f" {right.name}" if right.name else "") + (f" in {right.namespace}" if right.namespace else "")


def _review(right: Permission, verb: str) -> SelfSubjectAccessReview:
    attributes = ResourceAttributes(
        verb=verb,
        group=right.kind.group,
        version=right.kind.version,
        resource=right.kind.plural,
        subresource=right.subresource or None,
        namespace=right.namespace or None,
        name=right.name or None,
    )
    return SelfSubjectAccessReview(spec=SelfSubjectAccessReviewSpec(resource_attributes=attributes))


# The Lease, and webhooks


async def _lease(client: Client, operator: Operator, home: str) -> Finding:
    try:
        lease = await client.get(Lease, operator.name, namespace=home)
    except NotFound:
        return ok("Lease", f"there is no {home}/{operator.name}: no replica leads, and the next one will")
    except ClientError as error:
        return warn("Lease", f"{home}/{operator.name} can't be read: {error}")
    holder, renewed = lease.spec.holder_identity, lease.spec.renew_time
    if not holder or renewed is None:
        return ok("Lease", f"{home}/{operator.name} was given back: the next replica leads")
    age = (ambient.now() - renewed).total_seconds()
    if age > (lease.spec.lease_duration_seconds or 0):
        return ok(
            "Lease", f"{home}/{operator.name}: {holder} was last heard of {age:.0f} s ago; the next replica leads"
        )
    return ok("Lease", f"{home}/{operator.name}: {holder} leads, and was heard of {max(age, 0):.0f} s ago")


async def _webhooks(
    client: Client,
    operator: Operator,
    what: type[MutatingWebhookConfiguration] | type[ValidatingWebhookConfiguration],
    hooks: Iterable[AdmissionHook],
) -> Finding:
    label = "webhooks"
    name = f"{kind_of(what).name} {operator.name}"
    try:
        there = await client.get(what, operator.name)
    except NotFound:
        return warn(label, f"there is no {name}: the API server asks nothing", "it is made when the operator runs")
    except ClientError as error:
        return warn(label, f"{name} can't be read: {error}")
    bundles = {each.client_config.ca_bundle for each in there.webhooks if each.client_config.ca_bundle}
    ends = [each.not_valid_after_utc for bundle in bundles for each in x509.load_pem_x509_certificates(bundle)]
    run = "run the operator, which renews it; or, if it is gone for good: kubectl delete "
    remove = f"{run}{kind_of(what).singular} {operator.name}"
    if ends and max(ends) < ambient.now():
        return fail(label, f"{name} trusts a certificate that expired on {max(ends):%Y-%m-%d}", remove)
    tried = [await _tried(client, hook) for hook in hooks]
    if failed := [each for each in tried if FAILED in each]:
        return fail(label, f"{name}: the API server does not reach the operator: {failed[0]}", remove)
    soon = f"; its certificate expires on {max(ends):%Y-%m-%d}" if ends and max(ends) < ambient.now() + SOON else ""
    if UNTRIED in tried:
        return ok(label, f"{name} is there; without an object, whether the operator is reached can't be tried{soon}")
    return ok(label, f"{name} is there, and the operator is reached{soon}")


UNTRIED = "there is nothing to try it with"


async def _tried(client: Client, hook: AdmissionHook) -> str:
    """Have the API server call a webhook, by a dry run of what it is for; what came of it, empty if that was granted.

    A refusal in the author's words is a good sign. What is invalid never gets as far as a webhook that judges, so an
    object that is there is tried rather than one that is made up.
    """
    try:
        async with aclosing(client.list(hook.what, page_size=1).pages()) as pages:
            there = next(iter(await anext(pages)), None)
        if there is None:
            return UNTRIED
        name, namespace = there.metadata.name, there.metadata.namespace
        if "update" in hook.operations:
            await client.patch(hook.what, name, {}, namespace=namespace, dry_run=True)
        elif "delete" in hook.operations:
            await client.delete(hook.what, name, namespace=namespace, dry_run=True)
        else:
            return UNTRIED
    except ClientError as error:
        return str(error)
    return ""
