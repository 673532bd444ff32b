"""Rules for the kernel parameters that a pod asks for."""

import re

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.validation.problems import Problems

LONGEST = 253
SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
PATTERN = rf"^({SEGMENT}[\./])*{SEGMENT}$"
_name = re.compile(PATTERN)

# Parameters that are separate for each namespace of the kernel: not to be changed by a pod that shares the host's.
OF_IPC = frozenset(
    {
        "kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", "kernel.shm",
        "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg",
    }
)  # fmt: skip


def sysctls(spec: Wire, path: str, problems: Problems) -> None:
    """Check the parameters in the security context of a pod's spec."""
    seen: set[str] = set()
    for index, parameter in enumerate((spec.get("securityContext") or {}).get("sysctls") or ()):
        name, here = parameter.get("name", ""), f"{path}[{index}].name"
        if not name:
            problems.required(here)
        elif len(name.encode()) > LONGEST or not _name.fullmatch(name):
            problems.invalid(here, name, f"must have at most {LONGEST} characters and match regex {PATTERN}")
        elif name in seen:
            problems.duplicate(here, name)
        seen.add(name)
        dotted = _dotted(name)
        if spec.get("hostNetwork") and dotted.startswith("net."):
            problems.invalid(here, name, "may not be specified when 'hostNetwork' is true")
        elif spec.get("hostIPC") and (dotted in OF_IPC or dotted.startswith("fs.mqueue.")):
            problems.invalid(here, name, "may not be specified when 'hostIPC' is true")


def _dotted(name: str) -> str:
    """A name that is written as a path, `net/ipv4/conf/eth0.1/forwarding`, has dots and slashes the other way round."""
    first = next((character for character in name if character in "./"), ".")
    return name if first == "." else name.translate(str.maketrans("./", "/."))
