"""Volumes are directories: empty ones, ones filled from the cluster, and ones whose data outlives the pod."""

import asyncio
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from windvane import ambient
from windvane.cluster.node.pod import downward_api
from windvane.cluster.node.sources import MissingSource, Sources
from windvane.cluster.node.volumes.atomic_writer import FileContent, write_all
from windvane.k8s.core import (
    ConfigMap,
    Container,
    DownwardAPIVolumeFile,
    KeyToPath,
    Pod,
    Secret,
    ServiceAccountTokenProjection,
    Volume,
)

MODE = 0o644
WAITING = "ContainerCreating"
"""What the status of a container says that waits for a volume."""
Files = dict[str, FileContent]
_NOBODY = Container(name="")


class Volumes:
    """The volumes of one pod."""

    def __init__(self, directory: Path, sources: Sources, address: str, host: str, *, host_paths: bool) -> None:
        self._directory = directory
        self._sources = sources
        self._address = address
        self._host = host
        self._host_paths = host_paths
        self._tokens: dict[tuple[str, str], tuple[bytes, datetime]] = {}
        self._turn = asyncio.Lock()  # else one that waited long for a token would put back what was there before
        self.places: dict[str, Path] = {}
        """Where each is, once prepared."""
        self.filled: set[str] = set()
        """Those whose content is the cluster's: containers can't write there, nor put links in our way."""

    async def prepare(self, pod: Pod) -> None:
        """Have all volumes of a pod be there, with their content. `MissingSource` if that is not possible yet."""
        async with self._turn:
            for volume in pod.spec.volumes:
                place, fresh = await self._prepare(pod, volume)
                if fresh:
                    await asyncio.to_thread(_give_to_group, place, pod, files=self._group_mode(volume))
                self.places[volume.name] = place

    async def refresh(self, pod: Pod) -> None:
        """Bring what is in the volumes up to date. What is missing now stays as it was."""
        async with self._turn:
            for volume in pod.spec.volumes:
                if volume.name in self.places and _is_filled(volume):
                    with suppress(MissingSource):
                        if write_all(self.places[volume.name], await self._files(pod, volume)):
                            await asyncio.to_thread(_give_to_group, self.places[volume.name], pod, files=0)

    def next_refresh(self) -> datetime | None:
        """When a token is to be renewed."""
        return min((due for _, due in self._tokens.values()), default=None)

    def _group_mode(self, volume: Volume) -> int:
        """What the pod's group may do with files, beyond what they say themselves."""
        return 0 if volume.name in self.filled else 0o660

    async def _prepare(self, pod: Pod, volume: Volume) -> tuple[Path, bool]:
        """Where a volume is, and whether its files are of our making."""
        place = self._directory / volume.name
        if (claim := volume.persistent_volume_claim) is not None:
            return self._claimed(pod, claim.claim_name), True
        if volume.ephemeral is not None:
            return self._claimed(pod, f"{pod.metadata.name}-{volume.name}"), True
        if (host_path := volume.host_path) is not None:
            if not self._host_paths:
                raise MissingSource(
                    WAITING, f'volume "{volume.name}" is a hostPath, which needs `windvane cluster start --host-paths`'
                )
            return _of_host(Path(host_path.path), host_path.type or ""), False
        if volume.empty_dir is not None:
            place.mkdir(parents=True, exist_ok=True)
            place.chmod(0o777)
            return place, True
        if _is_filled(volume):
            self.filled.add(volume.name)
            write_all(place, await self._files(pod, volume))
            return place, True
        raise MissingSource(WAITING, f'volume "{volume.name}" is of a kind that windvane does not support')

    def _claimed(self, pod: Pod, name: str) -> Path:
        claim = self._sources.claim(pod.metadata.namespace, name)
        if claim is None:
            raise MissingSource(WAITING, f'persistentvolumeclaim "{name}" not found')
        bound = self._sources.volume(claim.spec.volume_name) if claim.spec.volume_name else None
        if bound is None:
            raise MissingSource(WAITING, f'persistentvolumeclaim "{name}" is not bound yet')
        path = bound.spec.host_path.path if bound.spec.host_path else bound.spec.local.path if bound.spec.local else ""
        if not path:
            raise MissingSource(WAITING, f'PersistentVolume "{bound.metadata.name}" is no directory of this machine')
        Path(path).mkdir(parents=True, exist_ok=True)
        return Path(path)

    async def _files(self, pod: Pod, volume: Volume) -> Files:
        files = await self._content(pod, volume)
        if _group(pod) is None:
            return files
        return {path: FileContent(data, mode | 0o040) for path, (data, mode) in files.items()}

    async def _content(self, pod: Pod, volume: Volume) -> Files:
        if (config := volume.config_map) is not None:
            return self._of_config_map(pod, config.name, config.items, config.default_mode, config.optional)
        if (secret := volume.secret) is not None:
            return self._of_secret(pod, secret.secret_name, secret.items, secret.default_mode, secret.optional)
        if (down := volume.downward_api) is not None:
            return dict(self._of_pod(pod, down.items, down.default_mode))
        files: Files = {}
        projected = volume.projected
        mode = projected.default_mode if projected is not None else None
        for each in projected.sources if projected is not None else ():
            if (config_map := each.config_map) is not None:
                files |= self._of_config_map(pod, config_map.name, config_map.items, mode, config_map.optional)
            elif (held := each.secret) is not None:
                files |= self._of_secret(pod, held.name, held.items, mode, held.optional)
            elif each.downward_api is not None:
                files |= dict(self._of_pod(pod, each.downward_api.items, mode))
            elif (token := each.service_account_token) is not None:
                files[token.path] = FileContent(await self._token(pod, token), _mode(None, mode))
            else:
                raise MissingSource(WAITING, f'volume "{volume.name}" projects what windvane does not support')
        return files

    def _of_config_map(
        self, pod: Pod, name: str | None, items: Iterable[KeyToPath], mode: int | None, optional: bool | None
    ) -> Files:
        found = self._sources.config_map(pod.metadata.namespace, name or "")
        if found is None and not optional:
            raise MissingSource(WAITING, f'configmap "{name}" not found')
        return _chosen(_data(found), items, mode, optional, f'configmap "{name}"')

    def _of_secret(
        self, pod: Pod, name: str | None, items: Iterable[KeyToPath], mode: int | None, optional: bool | None
    ) -> Files:
        found = self._sources.secret(pod.metadata.namespace, name or "")
        if found is None and not optional:
            raise MissingSource(WAITING, f'secret "{name}" not found')
        return _chosen(_data(found), items, mode, optional, f'secret "{name}"')

    def _of_pod(
        self, pod: Pod, items: Iterable[DownwardAPIVolumeFile], mode: int | None
    ) -> Iterator[tuple[str, FileContent]]:
        for item in items:
            text = ""
            if item.field_ref is not None:
                text = downward_api.field(pod, self._address, self._host, item.field_ref)
            elif (wanted := item.resource_field_ref) is not None:
                text = downward_api.resource(pod, _NOBODY, wanted, self._sources.resources())
            yield item.path, FileContent(text.encode(), _mode(item.mode, mode))

    async def _token(self, pod: Pod, asked: ServiceAccountTokenProjection) -> bytes:
        key = (asked.audience or "", asked.path)
        if key in self._tokens and ambient.now() < self._tokens[key][1]:
            return self._tokens[key][0]
        meta, account = pod.metadata, pod.spec.service_account_name or "default"
        given = await self._sources.token(
            meta.namespace, account, asked.audience or "", asked.expiration_seconds, (meta.name, meta.uid)
        )
        now = ambient.now()
        lifetime = (given.expiration_timestamp - now) if given.expiration_timestamp else timedelta(hours=1)
        self._tokens[key] = ((given.token or "").encode(), now + lifetime * 0.8)
        return self._tokens[key][0]


def sub_path(place: Path, path: str) -> str:
    """Where a part of a volume is, with links followed; made if it is not there. `MissingSource` if it leads out of it.

    Containers can write to volumes, and we may be root: nothing is made through a link that one of them has put there.
    """
    if ".." in Path(path).parts or Path(path).is_absolute():
        raise MissingSource("CreateContainerConfigError", f"subPath {path!r} must not lead out of the volume")
    part = Path(os.path.realpath(place / path))
    if not part.is_relative_to(place.resolve()):
        raise MissingSource("CreateContainerConfigError", f"subPath {path!r} leads out of the volume")
    part = part.relative_to(place.resolve())
    handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    mode = os.fstat(handle).st_mode & 0o7777
    try:
        for depth, name in enumerate(part.parts, start=1):
            made = _made(name, handle)
            if not made and depth == len(part.parts):
                break  # it may be a file
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=handle)
            os.close(handle)
            handle = inner
            if made:
                os.fchmod(handle, mode)  # a user that can write to the volume can write to its parts
    finally:
        os.close(handle)
    return "" if part == Path() else str(part)


def _made(name: str, place: int) -> bool:
    try:
        os.mkdir(name, dir_fd=place)
    except FileExistsError:
        return False
    return True


def sources_of(pod: Pod) -> list[str]:
    """The ConfigMaps and Secrets that the volumes of a pod are filled from, each as `ConfigMap/name`."""
    found = []
    for volume in pod.spec.volumes:
        if volume.config_map is not None:
            found.append(f"ConfigMap/{volume.config_map.name}")
        if volume.secret is not None:
            found.append(f"Secret/{volume.secret.secret_name}")
        for each in volume.projected.sources if volume.projected is not None else ():
            if each.config_map is not None:
                found.append(f"ConfigMap/{each.config_map.name}")
            if each.secret is not None:
                found.append(f"Secret/{each.secret.name}")
    return found


def _is_filled(volume: Volume) -> bool:
    return any((volume.config_map, volume.secret, volume.projected, volume.downward_api))


def _data(found: ConfigMap | Secret | None) -> dict[str, bytes]:
    match found:
        case ConfigMap():
            return {**{key: text.encode() for key, text in found.data.items()}, **found.binary_data}
        case Secret():
            return dict(found.data)
    return {}


def _chosen(
    data: dict[str, bytes], items: Iterable[KeyToPath], mode: int | None, optional: bool | None, what: str
) -> Files:
    chosen = list(items)
    if not chosen:
        return {key: FileContent(value, _mode(None, mode)) for key, value in data.items()}
    files: Files = {}
    for item in chosen:
        if item.key in data:
            files[item.path] = FileContent(data[item.key], _mode(item.mode, mode))
        elif not optional:
            raise MissingSource(WAITING, f"{what} references non-existent key: {item.key}")
    return files


def _mode(own: int | None, default: int | None) -> int:
    return own if own is not None else default if default is not None else MODE


def _of_host(path: Path, kind: str) -> Path:
    match kind:
        case "DirectoryOrCreate":
            path.mkdir(parents=True, exist_ok=True)
        case "FileOrCreate":
            path.touch()
        case "Directory" if not path.is_dir():
            raise MissingSource(WAITING, f"hostPath type check failed: {path} is not a directory")
        case "File" if not path.is_file():
            raise MissingSource(WAITING, f"hostPath type check failed: {path} is not a file")
    return path


def _group(pod: Pod) -> int | None:
    """The group that the volumes of a pod are given to: only root can do that, and only for root it is needed."""
    security = pod.spec.security_context
    return security.fs_group if os.getuid() == 0 and security is not None else None


def _give_to_group(place: Path, pod: Pod, *, files: int) -> None:
    """Let the pod's group use a volume; its files get the mode `files`, too. Links are left alone."""
    group, security = _group(pod), pod.spec.security_context
    if group is None or security is None:
        return
    there = place.stat()
    given = there.st_gid == group and there.st_mode & 0o2070 == 0o2070
    if given and security.fs_group_change_policy == "OnRootMismatch":
        return
    for _, _, names, directory in os.fwalk(place):
        _give(directory, group, 0o2770)
        for name in names:
            with suppress(OSError):  # a link, or gone meanwhile
                file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
                try:
                    _give(file, group, files)
                finally:
                    os.close(file)


def _give(handle: int, group: int, mode: int) -> None:
    os.fchown(handle, -1, group)
    os.fchmod(handle, os.fstat(handle).st_mode & 0o7777 | mode)
