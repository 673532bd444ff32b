"""The subresource resize: what a running pod and its containers may use."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.core.pod.qos import quality_of_service
from windvane.cluster.apiserver.registry.core.pod.validation import any_pod
from windvane.cluster.apiserver.registry.subresource import SubresourceStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems, same

ONLY = "only cpu and memory resources are mutable"
RESIZABLE = ("cpu", "memory")


class ResizeStrategy(SubresourceStrategy):
    """Writes the part of a pod that the subresource is about, and ignores the rest."""

    def reset(self, wire: Wire, current: Wire) -> Wire:
        """The current pod with the new resources.

        Containers that were added, removed or renamed are left for validation to refuse.
        """
        wanted, spec = wire.get("spec") or {}, dict(current["spec"])
        for sort in ("containers", "initContainers"):
            if len(wanted.get(sort) or ()) != len(spec.get(sort) or ()):
                return _with_spec(current, wanted)
        for sort in ("containers", "initContainers"):
            pairs = list(zip(wanted.get(sort) or (), spec.get(sort) or (), strict=True))
            if any(new.get("name") != old.get("name") for new, old in pairs):
                spec[sort] = wanted[sort]
            elif pairs:
                spec[sort] = [_with(old, new, ("resources", "resizePolicy")) for new, old in pairs]
        return _with_spec(current, _with(spec, wanted, ("resources",)))

    def validate_update(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """Check that only the cpu and memory of a pod and its containers change."""
        any_pod(obj, problems, old)
        spec, before = obj["spec"], old["spec"]
        if (before.get("os") or {}).get("name") == "windows":
            problems[:] = []
            problems.forbidden("[]", "windows pods cannot be resized")
            return
        class_ = (old.get("status") or {}).get("qosClass") or quality_of_service(before)
        if quality_of_service(spec) != class_:
            problems.invalid("spec", class_, "Pod QOS Class may not change as a result of resizing")
        if not _can_be_resized(old):
            problems.forbidden("spec", "Pod running on node without support for resize")
        if _stated(before) or _stated(spec):
            _pod_level(spec, before, problems)
        if not _same_containers(spec, before, problems):
            return
        for sort in ("initContainers", "containers"):
            for index, (new, was) in enumerate(zip(spec.get(sort) or (), before.get(sort) or (), strict=True)):
                _nothing_removed(new, was, f"spec.{sort}[{index}].resources", "resource", problems)
        for new, was in zip(spec["containers"], before["containers"], strict=True):
            if _differ(new, was):
                problems.forbidden("spec", ONLY)
        for index, (new, was) in enumerate(
            zip(spec.get("initContainers") or (), before.get("initContainers") or (), strict=True)
        ):
            here = f"spec.initContainers[{index}]"
            if _differ(new, was):
                problems.forbidden(here, "only cpu and memory resources for init or sidecar containers are mutable")
            restarts = any(each.get("restartPolicy") == "RestartContainer" for each in new.get("resizePolicy") or ())
            if restarts and new.get("restartPolicy") != "Always" and not same(new, was):
                rule = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
                problems.forbidden(here, rule)


def _with_spec(current: Wire, spec: Wire) -> Wire:
    return {**current, "metadata": dict(current["metadata"]), "spec": spec}


def _with(holder: Wire, other: Wire, fields: tuple[str, ...]) -> Wire:
    """One with these fields of another."""
    kept = {key: value for key, value in holder.items() if key not in fields}
    return kept | {field: other[field] for field in fields if field in other}


def _can_be_resized(pod: Wire) -> bool:
    """Whether the pod's node says what its containers may use; where none runs yet, that is not known."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    running = next((each for each in statuses if "running" in (each.get("state") or {})), None)
    return running is None or running.get("resources") is not None


def _stated(spec: Wire) -> bool:
    resources = spec.get("resources") or {}
    return bool(resources.get("requests") or resources.get("limits"))


def _pod_level(spec: Wire, before: Wire, problems: Problems) -> None:
    if before.get("resources") is not None:
        if spec.get("resources") is None:
            problems.forbidden("spec.resources", "pod-level resources cannot be removed")
            return
        _nothing_removed(spec, before, "spec.resources", "pod-level resource", problems)
    if _put_back(spec, before)["resources"] != _put_back(before, before)["resources"]:
        problems.forbidden("spec", f"{ONLY} at pod-level")


def _same_containers(spec: Wire, before: Wire, problems: Problems) -> bool:
    found = len(problems)
    for sort in ("containers", "initContainers"):
        new, was = spec.get(sort) or (), before.get(sort) or ()
        if len(new) != len(was):
            problems.forbidden(f"spec.{sort}", f"{sort} may not be added or removed on resize")
            continue
        for index, (one, other) in enumerate(zip(new, was, strict=True)):
            if one.get("name") != other.get("name"):
                where = f"spec.{sort}[{index}].name"
                problems.forbidden(where, f"{sort} may not be renamed or reordered on resize")
    return len(problems) == found


def _nothing_removed(new: Wire, old: Wire, path: str, word: str, problems: Problems) -> None:
    for field in ("requests", "limits"):
        had, has = ((each.get("resources") or {}).get(field) or {} for each in (old, new))
        if had.keys() - has.keys():
            problems.forbidden(f"{path}.{field}", f"{word} {field} cannot be removed")


def _differ(new: Wire, old: Wire) -> bool:
    """Whether containers differ in more than what may change."""
    return not same(_put_back(new, old), _put_back(old, old))


def _put_back(holder: Wire, before: Wire) -> Wire:
    """What may change, as it was."""
    resources: Wire = {}
    for field in ("requests", "limits"):
        now, was = ((each.get("resources") or {}).get(field) or {} for each in (holder, before))
        amounts = {name: amount for name, amount in now.items() if name not in RESIZABLE}
        if amounts := amounts | {name: was[name] for name in RESIZABLE if name in was}:
            resources[field] = amounts
    return {**holder, "resources": resources}
