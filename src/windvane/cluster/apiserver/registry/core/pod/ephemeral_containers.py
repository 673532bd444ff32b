"""The subresource ephemeralcontainers: containers for debugging, added to a pod that runs."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.core.pod.validation import any_pod
from windvane.cluster.apiserver.registry.subresource import SubresourceStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems, same


class EphemeralContainersStrategy(SubresourceStrategy):
    """Writes the part of a pod that the subresource is about, and ignores the rest."""

    def reset(self, wire: Wire, current: Wire) -> Wire:
        """The current pod with the new ephemeral containers."""
        spec = {key: value for key, value in current["spec"].items() if key != "ephemeralContainers"}
        if containers := (wire.get("spec") or {}).get("ephemeralContainers"):
            spec["ephemeralContainers"] = containers
        return {**current, "metadata": dict(current["metadata"]), "spec": spec}

    def validate_update(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """Check that ephemeral containers are added, and neither changed nor removed."""
        any_pod(obj, problems, old)
        now = {each.get("name"): each for each in obj["spec"].get("ephemeralContainers") or ()}
        for container in old["spec"].get("ephemeralContainers") or ():
            name = container["name"]
            if name not in now:
                rule = f'existing ephemeral containers "{name}" may not be removed\n'
                problems.forbidden("spec.ephemeralContainers", rule)
            elif not same(now[name], container):
                rule = f'existing ephemeral containers "{name}" may not be changed\n'
                problems.forbidden("spec.ephemeralContainers", rule)
