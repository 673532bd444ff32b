"""Pod security checks: AppArmor, seccomp and SELinux profiles."""

from windvane.api.json_value import Wire
from windvane.api.wording import quoted
from windvane.cluster.apiserver.admission.pod_security.violation import (
    Violation,
    containers,
    counted,
    listed,
    named,
    security,
    setters,
)

CONFINED = ("RuntimeDefault", "Localhost")
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_OF_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
SELINUX_TYPES = frozenset({"", "container_t", "container_init_t", "container_kvm_t"})
SELINUX_TYPES_31 = SELINUX_TYPES | {"container_engine_t"}


def app_armor(pod: Wire) -> Violation | None:
    """No process is left unconfined, neither by a field nor by an annotation, as was done before there was a field."""
    offenders, types = _unconfined(pod, "appArmorProfile")
    annotations = sorted(
        f"{key}={quoted(value)}"
        for key, value in _annotations(pod).items()
        if key.startswith(APP_ARMOR) and value not in ("", "runtime/default") and not value.startswith("localhost/")
    )
    offenders = " and ".join(
        [*([offenders] if offenders else []), *([counted("annotation", annotations)] if annotations else [])]
    )
    if not offenders:
        return None
    values = [*types, *annotations]
    reason = counted("forbidden AppArmor profile", values)
    return Violation(reason, f"{offenders} must not set AppArmor profile type to {listed(values)}")


def seccomp_annotations(pod: Wire) -> Violation | None:
    """No process is left unconfined, by the annotations that there were before there were fields."""
    keys = {SECCOMP, *(SECCOMP_OF_CONTAINER + container["name"] for container in containers(pod))}
    stated = {key: value for key, value in _annotations(pod).items() if key in keys}
    wrong = sorted(
        f"{key}={quoted(value)}"
        for key, value in stated.items()
        if value not in ("runtime/default", "docker/default") and not value.startswith("localhost/")
    )
    detail = f"forbidden {counted('annotation', wrong)} {', '.join(wrong)}"
    return Violation("seccompProfile", detail) if wrong else None


def seccomp(pod: Wire) -> Violation | None:
    """No process is left unconfined."""
    offenders, types = _unconfined(pod, "seccompProfile")
    detail = f"{offenders} must not set securityContext.seccompProfile.type to {listed(types)}"
    return Violation("seccompProfile", detail) if offenders else None


def seccomp_required(pod: Wire) -> Violation | None:
    """Every process is confined: by the pod, or by a container for itself."""
    if (wrong := seccomp(pod)) or security(pod["spec"]).get("seccompProfile") is not None:
        return wrong
    offenders = [each["name"] for each in containers(pod) if security(each).get("seccompProfile") is None]
    detail = f"pod or {named('container', offenders)} must set securityContext.seccompProfile.type to {_or(CONFINED)}"
    return Violation("seccompProfile", detail) if offenders else None


def selinux(pod: Wire) -> Violation | None:
    """Every process has the type of a container, and the user and role that come with it."""
    return _selinux(pod, SELINUX_TYPES)


def selinux_31(pod: Wire) -> Violation | None:
    """The same, with one more type."""
    return _selinux(pod, SELINUX_TYPES_31)


def _selinux(pod: Wire, allowed: frozenset[str]) -> Violation | None:
    own = security(pod["spec"]).get("seLinuxOptions") or {}
    of_containers = {each["name"]: security(each).get("seLinuxOptions") or {} for each in containers(pod)}
    types = sorted({each.get("type") or "" for each in (own, *of_containers.values())} - allowed)
    words = {word for each in (own, *of_containers.values()) for word in ("user", "role") if each.get(word)}

    def wrong(options: Wire) -> bool:
        return bool(options.get("user") or options.get("role") or options.get("type") in types)

    offenders = setters(pod=wrong(own), names=[name for name, options in of_containers.items() if wrong(options)])
    details = [named("type", types)] if types else []
    details += [f"{word} may not be set" for word in ("user", "role") if word in words]
    told = f"{offenders} set forbidden securityContext.seLinuxOptions: {'; '.join(details)}"
    return Violation("seLinuxOptions", told) if offenders else None


def _unconfined(pod: Wire, field: str) -> tuple[str, list[str]]:
    """The containers, or pod, with an unconfined profile, and the types of those."""
    own = _type(pod["spec"], field)
    of_containers = {each["name"]: _type(each, field) for each in containers(pod)}
    offenders = setters(
        pod=own not in (None, *CONFINED),
        names=[name for name, type_ in of_containers.items() if type_ not in (None, *CONFINED)],
    )
    return offenders, sorted({type_ for type_ in (own, *of_containers.values()) if type_ is not None} - {*CONFINED})


def _type(holder: Wire, field: str) -> str | None:
    profile = security(holder).get(field)
    return None if profile is None else profile.get("type", "")


def _annotations(pod: Wire) -> dict[str, str]:
    return (pod.get("metadata") or {}).get("annotations") or {}


def _or(words: tuple[str, ...]) -> str:
    return " or ".join(f'"{word}"' for word in words)
