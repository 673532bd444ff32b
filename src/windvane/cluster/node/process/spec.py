"""What a container is begun with: its words and variables, what it sees of the file system, and its user."""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from windvane.cluster.node.process.expansion import expand
from windvane.cluster.node.process.hosts_file import hostname
from windvane.cluster.node.process.images import Program
from windvane.cluster.node.process.launch import Isolation, LaunchSpec, Mount
from windvane.cluster.node.process.terminal import VARIABLES
from windvane.cluster.node.sources import MissingSource
from windvane.cluster.node.volumes.pod_volumes import Volumes, sub_path
from windvane.k8s.core import Container, Pod, VolumeMount

TERMINATION_LOG = "/dev/termination-log"
POD_IP = "WINDVANE_POD_IP"
"""A variable that every container has: the address that its program should listen on."""


@dataclass(frozen=True)
class ContainerFiles:
    """Where the files are that every container has."""

    place: Path
    """What it writes to its own file system."""
    hosts: Path
    """The names that it knows, of which all containers of a pod have the same."""
    termination: Path
    """What it says at its end."""


def surroundings(pod: Pod, container: Container, program: Program, address: str) -> dict[str, str]:
    """The variables that a container has unless it says otherwise."""
    path = (program.directory, str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))
    return {
        "PATH": os.pathsep.join(filter(None, path)),
        "HOME": os.environ.get("HOME", "/"),
        "HOSTNAME": hostname(pod),
        POD_IP: address,
        **(VARIABLES if container.tty else {}),
    }


def spec_of(
    pod: Pod,
    container: Container,
    program: Program,
    *,
    variables: dict[str, str],
    volumes: Volumes,
    files: ContainerFiles,
    isolation: Isolation,
    among: int,
) -> LaunchSpec:
    """What the launcher needs; `MissingSource` if something is not there. `among` is a pid whose processes it sees."""
    argv = [expand(each, variables) for each in program.words(container.command, container.args)]
    if not argv:
        words = f"no command specified: {container.image} has no entrypoint, so the container needs a command"
        raise MissingSource("CreateContainerError", words)
    mounts = [_mount(each, volumes, variables) for each in container.volume_mounts]
    uid, gid, groups = _user(pod, container, isolation)
    directory = container.working_dir or ""
    if isolation == "none":
        argv = [rewritten(each, mounts) for each in argv]
        directory = rewritten(directory, mounts)
        variables = {name: rewritten(value, mounts) for name, value in variables.items()}
    else:
        mounts.append(Mount(str(files.termination), container.termination_message_path or TERMINATION_LOG))
        if not any(each.target == "/etc/hosts" for each in mounts):
            mounts.append(Mount(str(files.hosts), "/etc/hosts"))
    argv[0] = program.path_of(argv[0])
    return LaunchSpec(
        argv=argv,
        env=variables,
        directory=str(files.place),
        isolation=isolation,
        hostname=hostname(pod),
        cwd=directory,
        mounts=mounts,
        uid=uid,
        gid=gid,
        groups=groups,
        tty=bool(container.tty),
        among=among,
        programs=program.directory,
    )


def _mount(each: VolumeMount, volumes: Volumes, variables: Mapping[str, str]) -> Mount:
    place = volumes.places.get(each.name)
    if place is None:
        raise MissingSource("CreateContainerConfigError", f"there is no volume {each.name!r}")
    part = ""
    if each.sub_path or each.sub_path_expr:
        # Of a volume that is filled, the file itself: it does not follow later changes, as on a real node.
        part = sub_path(place, each.sub_path or expand(each.sub_path_expr or "", variables))
    read_only = bool(each.read_only) or each.name in volumes.filled
    return Mount(str(place), each.mount_path, read_only, part)


def rewritten(text: str, mounts: list[Mount]) -> str:
    """`text` with the paths of volumes replaced by where they really are, for systems where they can't be mounted."""
    for each in sorted(mounts, key=lambda each: -len(each.target)):
        text = re.sub(rf"(?<![\w./-]){re.escape(each.target.rstrip('/'))}(?![\w.-])", lambda _: each.path, text)  # noqa: B023
    return text


def _user(pod: Pod, container: Container, isolation: Isolation) -> tuple[int | None, int | None, list[int] | None]:
    """The user of a container. Only root can be another user; else it runs as the user that runs windvane.

    And only in a view of the system that is root's to make: elsewhere another user could not enter the directories that
    its volumes are in, below root's home, say, or does not exist at all.
    """
    common = pod.spec.security_context
    said = [each for each in (container.security_context, common) if each is not None]
    uid = next((each.run_as_user for each in said if each.run_as_user is not None), None)
    gid = next((each.run_as_group for each in said if each.run_as_group is not None), None)
    not_root = next((each.run_as_non_root for each in said if each.run_as_non_root is not None), False)
    if not_root and (os.getuid() if uid is None else uid) == 0:
        which = f"pod: {pod.metadata.name}, container: {container.name}"
        words = f"container has runAsNonRoot and image will run as root ({which})"
        raise MissingSource("CreateContainerConfigError", words)
    if os.getuid() != 0 or isolation != "root":
        return None, None, None
    groups = list(common.supplemental_groups) if common is not None else []
    if common is not None and common.fs_group is not None:
        groups.append(common.fs_group)
    if uid is None and gid is None and not groups:
        return None, None, None
    return uid, gid if gid is not None else 0, groups
