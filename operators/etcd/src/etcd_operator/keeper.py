"""Looks after the files of snapshots, in the pods of Jobs: keeps those that are whole, finds one to restore, prunes.

This file is all that such a pod has, on any image with a Python from 3.9 on: it is mounted from a ConfigMap, and needs
nothing but the standard library. The programs beside it are etcd's own, whose images have no shell.

    begin → etcdctl snapshot save → etcdutl snapshot status → keep           a snapshot
    find                                                                     whether a restore can be
    prepare → etcdutl snapshot restore → finish                              a restore
    salvage → etcdutl snapshot restore → replace                             a restore of what a member has left

On the volume, NAME.db is a snapshot and NAME.json what is known of it. A file is no snapshot before both are there: it
grows in incoming/, and what a killed pod leaves in there counts for nothing. Each step may be killed at any moment, and
done again.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import json
import os
import shutil
import ssl
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

CHUNK = 1024 * 1024
PAGE = 512
"""What the size of a database is a multiple of, whatever its pages are; etcdctl looks at this, too."""
TRAILER = 32
"""The length of the SHA-256 that etcd sends after a snapshot, and etcdctl leaves at the end of the file."""
SCHEDULED = "scheduled"
"""The purpose of snapshots that are pruned. Whatever somebody has asked for stays."""


class Refused(Exception):
    """It can't be done; the message is for people."""


# Files


def checksum(file: Path) -> str:
    """The SHA-256 of a snapshot, if it is whole: the checksum at its end must be that of all that comes before."""
    size = file.stat().st_size
    if size <= TRAILER or size % PAGE != TRAILER:
        raise Refused(f"{file} is no whole snapshot: it has {size} bytes, and no checksum at its end")
    digest, left = hashlib.sha256(), size - TRAILER
    with file.open("rb") as stream:
        while left:
            chunk = stream.read(min(CHUNK, left))
            if not chunk:
                raise Refused(f"{file} became shorter while it was read")
            digest.update(chunk)
            left -= len(chunk)
        trailer = stream.read(TRAILER)
    if digest.digest() != trailer:
        raise Refused(f"{file} is damaged: its content does not match the checksum that etcd sent with it")
    digest.update(trailer)
    return digest.hexdigest()


def sync(path: Path) -> None:
    """Have a file, or the names in a directory, on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if not (path.is_dir() and error.errno in (errno.EINVAL, errno.ENOTSUP)):  # not all file systems can do that
            raise
    finally:
        os.close(descriptor)


def write(file: Path, content: dict[str, Any]) -> None:
    """Write a file that is there whole, or not at all."""
    unfinished = file.with_name(file.name + ".unfinished")
    unfinished.write_text(json.dumps(content, sort_keys=True) + "\n")
    sync(unfinished)
    unfinished.replace(file)
    sync(file.parent)


def read(file: Path) -> dict[str, Any]:
    """What a file of ours says; nothing if it is not there, or not one of ours."""
    try:
        content = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def changed(file: Path) -> float:
    """When a file was last written to; 0 if somebody has taken it away by now."""
    try:
        return file.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def remove(*files: Path) -> None:
    """Have files gone."""
    for file in files:
        file.unlink(missing_ok=True)


# Snapshots


def begin(args: argparse.Namespace) -> dict[str, Any]:
    """Make room before etcdctl writes, or what failed tries left behind would fill the volume for good.

    And see that etcd answers: etcdctl would wait for that, for as long as it may, and not say what is wrong.
    """
    if args.url:
        ask(args.url, args.tls)
    incoming: Path = args.directory / "incoming"
    incoming.mkdir(parents=True, exist_ok=True)
    newest = time.time() - args.deadline
    for file in sorted(incoming.iterdir()):
        # Another Job may be at work. But none works for longer than its deadline, and a file that grows is not old.
        if file.name in leavings(args.name) or 0 < changed(file) < newest:
            _settle(file, args.directory)
    prune(args.directory, args.retain)  # who wants fewer of them may want that because there is no room for another
    (incoming / f"{args.name}.begun").touch()
    return {"free": shutil.disk_usage(incoming).free}


def ask(url: str, tls: Path | None) -> None:
    """See that etcd answers there."""
    context = ssl.create_default_context(cafile=str(tls / "ca.crt")) if tls else None
    if context and tls:
        context.load_cert_chain(str(tls / "tls.crt"), str(tls / "tls.key"))
    try:
        with urllib.request.urlopen(f"{url}/version", timeout=10, context=context):  # noqa: S310 - it is our own
            return
    except OSError as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise Refused(f"etcd does not answer at {url}: {reason}") from error


def leavings(name: str) -> list[str]:
    """What can be found of a snapshot where it grows."""
    return [name + end for end in (".begun", ".db", ".db.part", ".json", ".json.unfinished")]


def _settle(file: Path, directory: Path) -> None:
    """Remove what a killed pod left; but if all that was missing was the record of a kept snapshot, it gets that."""
    kept, record = directory / f"{file.stem}.db", directory / file.name
    if file.suffix == ".json" and kept.exists() and not record.exists() and _is_of(read(file), kept):
        file.replace(record)
    else:
        remove(file)


def _is_of(record: dict[str, Any], file: Path) -> bool:
    try:
        return bool(record.get("sha256") == checksum(file))
    except Refused:
        return False


def keep(args: argparse.Namespace) -> dict[str, Any]:
    """Make a snapshot of the file that etcdctl has written, if it is whole, and remove those that are one too many."""
    directory: Path = args.directory
    incoming = directory / "incoming"
    record = read(directory / f"{args.name}.json")
    if record.get("id") != args.id:  # else an earlier try came this far, and could not say so
        record = _take_in(args, incoming)
    elif checksum(directory / f"{args.name}.db") != record["sha256"]:
        raise Refused(f"{args.name}.db is not what was kept under that name: somebody has written to {directory}")
    remove(*(incoming / name for name in leavings(args.name)))
    return {**record, "pruned": prune(directory, args.retain, kept=args.name)}


def _take_in(args: argparse.Namespace, incoming: Path) -> dict[str, Any]:
    source = incoming / f"{args.name}.db"
    if not source.exists():
        raise Refused(f"there is no {source}: etcdctl said that it had written it")
    digest = checksum(source)
    sync(source)
    # What was written to etcd before that moment is in the snapshot; of what came later, nobody can be sure.
    taken = changed(incoming / f"{args.name}.begun") or changed(source)
    record = {
        "name": args.name,
        "id": args.id,
        "cluster": args.cluster,
        "purpose": args.purpose,
        "version": args.version,
        "taken": _moment(taken),
        "size": source.stat().st_size,
        "sha256": digest,
    }
    # The record goes last: until then, the file is not a snapshot. One of that name that another Job took goes first.
    write(incoming / f"{args.name}.json", record)
    remove(args.directory / f"{args.name}.json")
    source.replace(args.directory / f"{args.name}.db")
    (incoming / f"{args.name}.json").replace(args.directory / f"{args.name}.json")
    sync(args.directory)
    return record


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def prune(directory: Path, retain: int, *, kept: str = "") -> int:
    """Remove the scheduled snapshots but for the one just kept and the newest; how many were removed."""
    known = records(directory)
    lost = [record for record in known if not (directory / f"{record['name']}.db").exists()]
    scheduled = [record for record in known if record.get("purpose") == SCHEDULED and record not in lost]
    scheduled.sort(key=lambda record: record["name"] != kept)  # first, even if a clock went backwards
    for record in lost + scheduled[retain:]:
        # The file first: a record without one is nothing, but a file without a record might be somebody's.
        remove(directory / f"{record['name']}.db", directory / f"{record['name']}.json")
    return len(scheduled[retain:])


def records(directory: Path) -> list[dict[str, Any]]:
    """What was written about snapshots on a volume, of the newest first."""
    read_ones = [(file, read(file)) for file in directory.glob("*.json")]
    found = [record for file, record in read_ones if record.get("name") == file.stem and "taken" in record]
    return sorted(found, key=lambda record: (record["taken"], record["name"]), reverse=True)


# Restoring what a member has left, on its own volume
#
#     data             what the member had; in the end, what came of it
#     given-up         what it had, from when the new data is complete until that is in its place
#     restoring        what etcdutl makes


def salvage(args: argparse.Namespace) -> dict[str, Any]:
    """Find a member's database, and link it to where etcdutl, which has no shell, will look for it."""
    data, given_up = args.data / "data", args.data / "given-up"
    # Killed in between, an earlier try has left the old data under its other name.
    begun = given_up.exists() and not data.exists()
    database = (given_up if begun else data) / "member" / "snap" / "db"
    if not database.is_file():
        raise Refused(f"there is no database of a member at {database}")
    size = database.stat().st_size
    if size == 0 or size % PAGE:
        raise Refused(f"{database} is no whole database: it has {size} bytes")
    half_restored = args.data / "restoring"
    if half_restored.exists():
        shutil.rmtree(half_restored)
    record = {
        "name": args.member,
        "taken": _moment(changed(database)),
        "size": size,
        "sha256": digest_of(database),
        "version": args.version,
    }
    remove(args.source / "snapshot.db")
    (args.source / "snapshot.db").symlink_to(database)
    if not _restored(args):  # else it is told again as it was
        write(args.source / "record.json", record)
    return record


def replace(args: argparse.Namespace) -> dict[str, Any]:
    """Put the restored directory into the place of the member's, which goes last of all."""
    data, given_up, restoring = args.data / "data", args.data / "given-up", args.data / "restoring"
    if not _restored(args):
        if not (restoring / "member" / "snap" / "db").is_file():
            raise Refused(f"there is no database in {restoring}: etcdutl said that it had restored it")
        if data.exists():
            if given_up.exists():  # of a recovery before this one
                shutil.rmtree(given_up)
            for path in (restoring, *restoring.rglob("*")):
                sync(path)
            data.rename(given_up)
            sync(args.data)
    snapshot = finish(args)
    if given_up.exists():
        shutil.rmtree(given_up)
    return snapshot


def digest_of(file: Path) -> str:
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


# Restoring


def prepare(args: argparse.Namespace) -> dict[str, Any]:
    """Find the snapshot, see that it is whole, and link it to where etcdutl, which has no shell, will look for it."""
    if (args.data / "data").exists() and not _restored(args):
        raise Refused(
            f"there is data in {args.data / 'data'}, and it did not come from this restore: it is left alone. "
            "Restore into a cluster with a new name, or delete the volume claim if nobody needs the data"
        )
    source, record = _find(args)
    half_restored = args.data / "restoring"
    if half_restored.exists():
        shutil.rmtree(half_restored)
    remove(args.source / "snapshot.db")
    (args.source / "snapshot.db").symlink_to(source)
    write(args.source / "record.json", record)
    return record


def find(args: argparse.Namespace) -> dict[str, Any]:
    """See that a snapshot is there, whole, and can be read by this version of etcd."""
    return _find(args)[1]


def _find(args: argparse.Namespace) -> tuple[Path, dict[str, Any]]:
    name = args.snapshot or _newest(args.directory)
    source = args.directory / f"{name}.db"
    if not source.is_file():
        raise Refused(f"there is no snapshot {name!r} on the volume; {_there_is(args.directory)}")
    record = read(args.directory / f"{name}.json")
    digest = checksum(source)
    if record and record.get("sha256") != digest:
        raise Refused(
            f"{name}.db is not the file that was kept: its SHA-256 is {digest}, and {name}.json says "
            f"{record.get('sha256')}; {_there_is(args.directory)}"
        )
    if _minor(record.get("version", "")) > _minor(args.version):
        raise Refused(
            f"snapshot {name!r} was taken from etcd {record['version']}, and etcd {args.version} can't read it: "
            "restore it into a cluster with that version"
        )
    if not record:  # a file that somebody has brought: all that is known of it is in it
        record = {"name": name, "taken": _moment(changed(source)), "size": source.stat().st_size, "sha256": digest}
    return source, record


def finish(args: argparse.Namespace) -> dict[str, Any]:
    """Put the restored directory where etcd will look, all of it at once. A second time, there is nothing to do."""
    restoring, target = args.data / "restoring", args.data / "data"
    if not (marker := _restored(args)):
        if target.exists():
            raise Refused(f"there is data in {target} that did not come from this restore: it is left alone")
        if not (restoring / "member" / "snap" / "db").is_file():
            raise Refused(f"there is no database in {restoring}: etcdutl said that it had restored it")
        for path in (restoring, *restoring.rglob("*")):
            sync(path)
        marker = {"id": args.id, "snapshot": read(args.source / "record.json")}
        # Before the directory: if we are killed in between, the marker alone says nothing.
        write(args.data / "restored.json", marker)
        restoring.rename(target)
        sync(args.data)
    if restoring.exists():
        shutil.rmtree(restoring)
    snapshot: dict[str, Any] = marker["snapshot"]
    return snapshot


def _restored(args: argparse.Namespace) -> dict[str, Any]:
    """What this restore has said when it was done; nothing if it is not."""
    marker = read(args.data / "restored.json")
    return marker if marker.get("id") == args.id and (args.data / "data").exists() else {}


def _newest(directory: Path) -> str:
    for record in records(directory):
        if (directory / f"{record['name']}.db").exists():
            return str(record["name"])
    raise Refused(f"there is no snapshot on the volume that was kept here; {_there_is(directory)}")


def _there_is(directory: Path) -> str:
    names = sorted(file.stem for file in directory.glob("*.db"))
    return "there are: " + ", ".join(names[-20:]) if names else "there is none at all"


def _minor(version: str) -> tuple[int, ...]:
    numbers = version.split(".")[:2]
    return tuple(map(int, numbers)) if all(each.isdigit() for each in numbers) else ()


# The program


def arguments() -> argparse.ArgumentParser:
    """What can be asked."""
    parser = argparse.ArgumentParser(description="Looks after the files of etcd's snapshots.")
    parser.add_argument("--report", type=Path, default=Path("/dev/termination-log"), help="where the result goes")
    commands = parser.add_subparsers(required=True)
    for function in (begin, keep):
        command = commands.add_parser(function.__name__, help=function.__doc__)
        command.set_defaults(function=function)
        command.add_argument("--directory", type=Path, required=True, help="the volume")
        command.add_argument("--name", required=True, help="the snapshot's name, which is its Job's")
        command.add_argument("--deadline", type=int, default=3600, help="after how many seconds a Job is killed")
        command.add_argument("--url", default="", help="where etcd is")
        command.add_argument("--tls", type=Path, help="the directory with the certificate to show there")
        command.add_argument("--id", default="", help="the Job's uid")
        command.add_argument("--cluster", default="", help="the EtcdCluster")
        command.add_argument("--version", default="", help="of etcd")
        command.add_argument("--purpose", default=SCHEDULED, help="what it is taken for")
        command.add_argument("--retain", type=int, default=7, help="how many scheduled snapshots are kept")
    command = commands.add_parser(find.__name__, help=find.__doc__)
    command.set_defaults(function=find)
    command.add_argument("--directory", type=Path, required=True, help="the volume with snapshots")
    command.add_argument("--snapshot", default="", help="the snapshot's name; else the newest one is meant")
    command.add_argument("--version", default="", help="of etcd")
    for function in (prepare, finish, salvage, replace):
        command = commands.add_parser(function.__name__, help=function.__doc__)
        command.set_defaults(function=function)
        command.add_argument("--directory", type=Path, help="the volume with snapshots")
        command.add_argument("--snapshot", default="", help="the snapshot's name; else the newest one is meant")
        command.add_argument("--member", default="", help="whose data it is")
        command.add_argument("--data", type=Path, required=True, help="the member's volume")
        command.add_argument("--source", type=Path, required=True, help="the directory that etcdutl is shown")
        command.add_argument("--id", required=True, help="which restore this is")
        command.add_argument("--version", default="", help="of etcd")
    return parser


def main(words: list[str]) -> int:
    """Do what is asked; the exit code. What goes wrong is said in the last line, which Kubernetes shows."""
    args = arguments().parse_args(words)
    try:
        result = args.function(args)
        args.report.write_text(json.dumps(result))
    except (Refused, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(json.dumps(result) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
