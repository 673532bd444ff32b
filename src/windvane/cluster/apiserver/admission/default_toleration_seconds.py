"""The admission plugin DefaultTolerationSeconds: a pod stays for a while on a node that can't be reached."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest

SECONDS = 300
TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


class DefaultTolerationSeconds(AdmissionPlugin):
    """Gives pods their tolerations."""

    name = "DefaultTolerationSeconds"
    resources = frozenset({"pods"})

    async def mutate(self, request: AdmissionRequest) -> None:
        if request.object is None:
            return
        tolerations = request.object["spec"].setdefault("tolerations", [])
        for key in TAINTS:
            if not any(_covers(each, key) for each in tolerations):
                added = {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": SECONDS}
                tolerations.append(added)


def _covers(toleration: Wire, key: str) -> bool:
    return toleration.get("key") in (None, "", key) and toleration.get("effect") in (None, "", "NoExecute")
