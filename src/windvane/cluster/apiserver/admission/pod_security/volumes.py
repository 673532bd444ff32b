"""Pod security checks: which types of volumes a pod may have."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.pod_security.violation import Violation, named

HARMLESS = (
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret",
)  # fmt: skip
OTHERS = (
    "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd",
    "flexVolume", "cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk",
    "photonPersistentDisk", "portworxVolume", "scaleIO", "storageos",
)  # fmt: skip


def not_of_the_node(pod: Wire) -> Violation | None:
    """No directory of the node."""
    names = [volume["name"] for volume in pod["spec"].get("volumes") or () if volume.get("hostPath") is not None]
    return Violation("hostPath volumes", named("volume", names)) if names else None


def harmless(pod: Wire) -> Violation | None:
    """Nothing but what the cluster itself hands out."""
    others = {
        volume["name"]: next((type_ for type_ in OTHERS if volume.get(type_) is not None), "unknown")
        for volume in pod["spec"].get("volumes") or ()
        if all(volume.get(type_) is None for type_ in HARMLESS)
    }
    if not others:
        return None
    verb = "uses" if len(others) == 1 else "use"
    types = named("restricted volume type", sorted(set(others.values())))
    return Violation("restricted volume types", f"{named('volume', list(others))} {verb} {types}")
