"""The pod security standards: which checks each level has, and from which version of Kubernetes on.

A pod that keeps to a version of a level goes on doing so: what became stricter, or laxer, is a check of a later one.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.pod_security import host, privileges, profiles, users, volumes
from windvane.cluster.apiserver.admission.pod_security.policy import Level, Standard
from windvane.cluster.apiserver.admission.pod_security.violation import Violation

Judge = Callable[[Wire], Violation | None]


class Check(NamedTuple):
    """One check of a level, in each of its forms, with the first minor version of each."""

    level: Level
    forms: Sequence[tuple[int, Judge]]
    instead_of: Judge | None = None
    """The baseline's laxer check of the same, by the first of its forms, which is not made where this one is."""

    def at(self, minor: int) -> Judge | None:
        """The check as it was in that version, if there was any."""
        return next((judge for first, judge in reversed(self.forms) if first <= minor), None)


def unless_windows(judge: Judge) -> Judge:
    """The check, but not of Windows pods: they can't set what it asks for."""
    return lambda pod: None if (pod["spec"].get("os") or {}).get("name") == "windows" else judge(pod)


def unless_own_users(judge: Judge) -> Judge:
    """The check, but not of pods in a user namespace: root in there is no root outside."""
    return lambda pod: None if pod["spec"].get("hostUsers") is False else judge(pod)


# In the order of messages.
CHECKS = (
    Check("baseline", [(0, profiles.app_armor)]),
    Check("baseline", [(0, privileges.usual_capabilities)]),
    Check("baseline", [(0, host.namespaces)]),
    Check("baseline", [(0, volumes.not_of_the_node)]),
    Check("baseline", [(0, host.ports)]),
    Check("baseline", [(34, host.probes)]),
    Check("baseline", [(0, privileges.privileged)]),
    Check("baseline", [(0, host.process_mounts), (35, unless_own_users(host.process_mounts))]),
    Check("baseline", [(0, profiles.selinux), (31, profiles.selinux_31)]),
    Check("baseline", [(0, profiles.seccomp_annotations), (19, profiles.seccomp)]),
    Check("baseline", [(0, host.sysctls), (27, host.sysctls_27), (29, host.sysctls_29), (32, host.sysctls_32)]),
    Check("baseline", [(0, host.windows_processes)]),
    Check("restricted", [(8, privileges.escalation), (25, unless_windows(privileges.escalation))]),
    Check(
        "restricted",
        [(22, privileges.fewest_capabilities), (25, unless_windows(privileges.fewest_capabilities))],
        instead_of=privileges.usual_capabilities,
    ),
    Check("restricted", [(35, host.process_mounts)], instead_of=host.process_mounts),
    Check("restricted", [(0, volumes.harmless)], instead_of=volumes.not_of_the_node),
    Check("restricted", [(0, users.non_root), (35, unless_own_users(users.non_root))]),
    Check("restricted", [(23, users.not_user_zero), (35, unless_own_users(users.not_user_zero))]),
    Check(
        "restricted",
        [(19, profiles.seccomp_required), (25, unless_windows(profiles.seccomp_required))],
        instead_of=profiles.seccomp_annotations,
    ),
)
LATEST = max(first for check in CHECKS for first, _ in check.forms)


def violations(pod: Wire, standard: Standard) -> list[Violation]:
    """In what ways a pod, or a template of pods, does not keep to a standard."""
    if standard.level == "privileged":
        return []
    minor = LATEST if standard.minor is None else min(standard.minor, LATEST)
    return [found for judge in _judges(standard.level, minor) if (found := judge(pod))]


@cache
def _judges(level: Level, minor: int) -> list[Judge]:
    made = [check for check in CHECKS if level in ("restricted", check.level) and check.at(minor)]
    replaced = {check.instead_of for check in made}
    kept = [check for check in made if check.level == "restricted" or check.forms[0][1] not in replaced]
    return [judge for check in kept if (judge := check.at(minor))]
