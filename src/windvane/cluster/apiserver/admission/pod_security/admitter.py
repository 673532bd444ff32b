"""The admission plugin PodSecurity: checks pods and pod templates against the standards of their namespace.

A pod that violates the enforced standard is refused. A template is never refused, and its author only warned: admission
may still change the pods that are made from it.
"""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.pod_security import existing
from windvane.cluster.apiserver.admission.pod_security.policy import (
    PREFIX,
    Policy,
    Standard,
    policy_of,
    policy_of_stored,
)
from windvane.cluster.apiserver.admission.pod_security.standards import violations
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.admission.stored_objects import StorePlugin
from windvane.cluster.apiserver.failure import forbidden, invalid
from windvane.cluster.apiserver.storage.record import Key

# The path of the pod, or its template, in each kind.
TEMPLATES: dict[str, tuple[str, ...]] = {
    "pods": (),
    "podtemplates": ("template",),
    "replicationcontrollers": ("spec", "template"),
    "replicasets.apps": ("spec", "template"),
    "deployments.apps": ("spec", "template"),
    "statefulsets.apps": ("spec", "template"),
    "daemonsets.apps": ("spec", "template"),
    "jobs.batch": ("spec", "template"),
    "cronjobs.batch": ("spec", "jobTemplate", "spec", "template"),
}
# Subresources that change what a pod runs.
OF_PODS = ("", "ephemeralcontainers", "resize")


class PodSecurity(StorePlugin):
    """Reads the labels of namespaces."""

    name = "PodSecurity"
    resources = frozenset({"namespaces", *TEMPLATES})

    def handles(self, request: AdmissionRequest) -> bool:
        through = OF_PODS if request.type.kind.resource == "pods" else ("",)
        return request.operation in self.operations and request.subresource in through

    async def validate(self, request: AdmissionRequest) -> None:
        if request.object is None:
            return
        resource = request.type.kind.resource
        if resource == "namespaces":
            await self._judge_namespace(request, request.object)
        elif entry := self._store.get(Key("/namespaces", "", request.namespace)):
            policy = policy_of_stored(entry.value)
            if resource == "pods":
                _judge_pod(request, request.object, policy)
            elif template := _template(request.object, TEMPLATES[resource]):
                _note(request, template, policy)
                _warn(request, template, policy)

    async def _judge_namespace(self, request: AdmissionRequest, namespace: Wire) -> None:
        """Refuse invalid labels; for a stricter standard, warn about the pods that violate it."""
        new = policy_of(namespace["metadata"].get("labels"))
        old = policy_of(request.old["metadata"].get("labels")) if request.old else None
        if new.problems and (old is None or new.problems != old.problems):
            raise invalid(request.type.kind, namespace["metadata"].get("name", ""), new.problems)
        if old is None or not _asks_for_more(new.enforce, old.enforce):
            return
        name = namespace["metadata"]["name"]
        pods = self.stored_objects("/pods", name)
        request.warnings += await existing.warnings(name, pods, new.enforce)


def _asks_for_more(new: Standard, old: Standard) -> bool:
    """Whether pods that kept to the old standard may break the new one."""
    return new.level != "privileged" and (new.minor != old.minor or new.is_stricter_than(old))


def _judge_pod(request: AdmissionRequest, pod: Wire, policy: Policy) -> None:
    if policy.is_privileged:
        request.annotations[f"{PREFIX}enforce-policy"] = str(Standard())
        return
    if request.old is not None and not _is_significant(pod, request.old):
        return
    request.annotations[f"{PREFIX}enforce-policy"] = str(policy.enforce)
    problems = _problems(pod, policy.enforce)
    _note(request, pod, policy)
    if problems:
        raise forbidden(request.type.kind, pod["metadata"].get("name", ""), f"violates {problems}")
    _warn(request, pod, policy)


def _note(request: AdmissionRequest, pod: Wire, policy: Policy) -> None:
    """For the audit log."""
    if policy.problems:
        told = ", ".join(f"{each.field}: {each.message}" for each in policy.problems)
        listed = told if len(policy.problems) == 1 else f"[{told}]"
        request.annotations[f"{PREFIX}error"] = f"Failed to parse policy: {listed}"
    if problems := _problems(pod, policy.audit):
        request.annotations[f"{PREFIX}audit-violations"] = f"would violate {problems}"


def _warn(request: AdmissionRequest, pod: Wire, policy: Policy) -> None:
    if problems := _problems(pod, policy.warn):
        request.warnings.append(f"would violate {problems}")


def _problems(pod: Wire, standard: Standard) -> str:
    found = violations(pod, standard)
    return f'PodSecurity "{standard}": {", ".join(str(each) for each in found)}' if found else ""


def _is_significant(pod: Wire, old: Wire) -> bool:
    """Whether a change of a pod is one of what it runs: all else that matters here can't be changed."""
    for field in ("containers", "initContainers"):
        new, before = (each["spec"].get(field) or () for each in (pod, old))
        if [each.get("image") for each in new] != [each.get("image") for each in before]:
            return True
    added = {each["name"]: each.get("image") for each in pod["spec"].get("ephemeralContainers") or ()}
    known = {each["name"]: each.get("image") for each in old["spec"].get("ephemeralContainers") or ()}
    return any(name not in known or known[name] != image for name, image in added.items())


def _template(wire: Wire, path: tuple[str, ...]) -> Wire | None:
    found: Wire | None = wire
    for field in path:
        found = (found or {}).get(field)
    return found
