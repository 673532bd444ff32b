"""Rules for annotations of pods that mean something: a pod can't have them changed to what it could not be made with.

Before there were fields for them, AppArmor and seccomp profiles were annotations, which still count for old pods.
"""

import re
from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.api.wording import quoted
from windvane.cluster.apiserver.registry.core.pod.warnings import APP_ARMOR_OF, SECCOMP, SECCOMP_OF
from windvane.cluster.apiserver.registry.validation.problems import Problems

MIRROR = "kubernetes.io/config.mirror"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
LOCAL = "localhost/"
WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]*|-[0-9]+")


def annotated(pod: Wire, path: str, problems: Problems, before: Wire | None = None) -> None:
    """Check the annotations of a pod, or of a template; `before` is the pod that it was."""
    noted, spec = _annotations(pod), pod["spec"]
    if MIRROR in noted and not spec.get("nodeName"):
        why = "must set spec.nodeName if mirror pod annotation is set"
        problems.invalid(f"{path}[{MIRROR}]", noted[MIRROR], why)
    if not _is_cost(noted) and (before is None or _is_cost(_annotations(before))):
        problems.invalid(f"{path}[{DELETION_COST}]", noted[DELETION_COST], "must be a 32bit integer")
    for key in sorted(noted):
        if key == SECCOMP or key.startswith(SECCOMP_OF):
            _seccomp(noted[key], f"{path}.{key}", problems)
    containers = set(_containers(spec))
    for key in sorted(noted):
        if not key.startswith(APP_ARMOR_OF):
            continue
        if (container := key.removeprefix(APP_ARMOR_OF)) not in containers:
            problems.invalid(f"{path}[{key}]", container, "container not found")
        if noted[key] not in ("", "runtime/default", "unconfined") and not noted[key].startswith(LOCAL):
            problems.invalid(f"{path}[{key}]", noted[key], f"invalid AppArmor profile name: {quoted(noted[key])}")


def changed_annotations(pod: Wire, before: Wire, problems: Problems) -> None:
    """Check how the annotations of a pod change: what holds its containers back stays as it is."""
    path, now, then = "metadata.annotations", _annotations(pod), _annotations(before)
    for key in sorted(key for key in then if now.get(key) != then[key]):
        if what := _fixed(key):
            problems.forbidden(f"{path}[{key}]", f"may not remove or update {what}")
    for key in sorted(now.keys() - then.keys()):
        if what := _fixed(key):
            problems.forbidden(f"{path}[{key}]", f"may not add {what}")
    annotated(pod, path, problems, before)


def _fixed(key: str) -> str:
    """What can't be changed by that name; empty if anything can."""
    if key.startswith(APP_ARMOR_OF):
        return "AppArmor annotations"
    return "mirror pod annotation" if key == MIRROR else ""


def _is_cost(noted: dict[str, str]) -> bool:
    """Whether what a pod costs that is deleted is a number, if it is stated."""
    cost = noted.get(DELETION_COST, "0")
    return bool(WHOLE_NUMBER.fullmatch(cost)) and len(cost) <= 20 and -(2**31) <= int(cost) < 2**31


def _seccomp(profile: str, path: str, problems: Problems) -> None:
    if profile in ("runtime/default", "docker/default", "unconfined"):
        return
    name = profile.removeprefix(LOCAL)
    if name == profile:
        problems.invalid(path, profile, "must be a valid seccomp profile")
    elif name.startswith("/"):
        problems.invalid(path, name, "must be a relative path")
    elif ".." in name.split("/"):
        problems.invalid(path, name, "must not contain '..'")


def _containers(spec: Wire) -> Iterator[str]:
    for field in ("initContainers", "containers", "ephemeralContainers"):
        yield from (each.get("name", "") for each in spec.get(field) or ())


def _annotations(pod: Wire) -> dict[str, str]:
    return (pod.get("metadata") or {}).get("annotations") or {}
