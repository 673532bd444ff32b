"""keeper.py with real snapshots: what is kept, what is refused, and that it may be killed anywhere."""

import contextlib
import json
import os
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from etcd_operator import keeper
from ports import free_port
from single_etcd import etcd, run


@dataclass(frozen=True)
class Taken:
    """A snapshot that etcdctl has taken, and what was in etcd."""

    file: Path
    keys: dict[str, str]
    cluster_id: int


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Taken:
    place = tmp_path_factory.mktemp("etcd")
    with etcd(place / "data") as server:
        keys = server.write(20)
        server.ctl("snapshot", "save", str(place / "snapshot.db"))
        return Taken(place / "snapshot.db", keys, server.cluster_id())


@dataclass
class Volume:
    """A directory as Jobs see it."""

    root: Path
    source: Path
    said: str = ""
    report: dict[str, Any] = field(default_factory=dict)

    def call(self, *words: str) -> int:
        """Run keeper.py, as a container would."""
        report = self.root / "termination-log"
        report.write_text("")
        code = keeper.main([f"--report={report}", *words])
        self.report = json.loads(report.read_text()) if code == 0 else {}
        return code

    @property
    def backups(self) -> Path:
        return self.root / "backups"

    @property
    def incoming(self) -> Path:
        return self.backups / "incoming"

    def begin(self, name: str, *more: str) -> int:
        return self.call("begin", f"--directory={self.backups}", f"--name={name}", *more)

    def keep(self, name: str, *more: str, job: str = "") -> int:
        facts = ("--cluster=prod", "--version=3.5.1", f"--id={job or name}")
        return self.call("keep", f"--directory={self.backups}", f"--name={name}", *facts, *more)

    def etcdctl(self, name: str) -> None:
        """What etcdctl leaves."""
        shutil.copy(self.source, self.incoming / f"{name}.db")

    def take(self, name: str, *more: str, job: str = "") -> int:
        """A whole pod."""
        assert self.begin(name) == 0
        self.etcdctl(name)
        return self.keep(name, *more, job=job)

    def names(self) -> list[str]:
        """The snapshots that are there, each of which must be whole."""
        found = [each for each in keeper.records(self.backups) if (self.backups / f"{each['name']}.db").exists()]
        for record in found:
            assert keeper.checksum(self.backups / f"{record['name']}.db") == record["sha256"]
        return sorted(record["name"] for record in found)

    # Restoring

    def prepare(self, *more: str, restore: str = "r1") -> int:
        (self.root / "source").mkdir(exist_ok=True)
        (self.root / "member").mkdir(exist_ok=True)
        return self.call("prepare", *self.restore(restore), f"--directory={self.backups}", "--version=3.5.1", *more)

    def finish(self, restore: str = "r1") -> int:
        return self.call("finish", *self.restore(restore))

    def restore(self, restore: str) -> list[str]:
        return [f"--data={self.root / 'member'}", f"--source={self.root / 'source'}", f"--id={restore}"]

    def etcdutl(self, peer: str, *more: str) -> None:
        options = [f"--initial-cluster=m0={peer}", f"--initial-advertise-peer-urls={peer}", "--name=m0", *more]
        target = f"--data-dir={self.root / 'member' / 'restoring'}"
        done = run("etcdutl", "snapshot", "restore", str(self.root / "source" / "snapshot.db"), target, *options)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def volume(tmp_path: Path, taken: Taken) -> Volume:
    return Volume(tmp_path, taken.file)


# Taking


def test_a_whole_snapshot_is_kept_and_told_of(volume: Volume, taken: Taken) -> None:
    assert volume.take("monday", "--purpose=ondemand") == 0
    assert (volume.backups / "monday.db").read_bytes() == taken.file.read_bytes()
    record = json.loads((volume.backups / "monday.json").read_text())
    assert record == {key: value for key, value in volume.report.items() if key != "pruned"}
    assert record["size"] == taken.file.stat().st_size
    assert (record["cluster"], record["version"], record["purpose"]) == ("prod", "3.5.1", "ondemand")
    assert list(volume.incoming.iterdir()) == []


def test_a_snapshot_is_as_old_as_the_moment_before_it_was_taken(volume: Volume) -> None:
    volume.begin("monday")
    os.utime(volume.incoming / "monday.begun", (1_700_000_000, 1_700_000_000))
    volume.etcdctl("monday")
    volume.keep("monday")
    assert volume.report["taken"] == "2023-11-14T22:13:20Z"


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda data: data[:5000] + bytes([data[5000] ^ 1]) + data[5001:], "is damaged"),
        (lambda data: data[:-4096], "is damaged"),
        (lambda data: data[:-7], "no whole snapshot"),
        (lambda data: data[:-32], "no whole snapshot"),
        (lambda data: b"", "no whole snapshot"),
    ],
    ids=["a flipped bit", "a page less", "a few bytes less", "no checksum", "nothing"],
)
def test_what_is_not_whole_is_refused(
    volume: Volume, spoil: Callable[[bytes], bytes], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    volume.begin("monday")
    (volume.incoming / "monday.db").write_bytes(spoil(volume.source.read_bytes()))
    assert volume.keep("monday") == 1
    assert why in capsys.readouterr().err
    assert volume.names() == []


def test_etcdutl_alone_would_not_have_noticed(taken: Taken, tmp_path: Path) -> None:
    data = taken.file.read_bytes()
    (tmp_path / "damaged.db").write_bytes(data[:9000] + bytes([data[9000] ^ 1]) + data[9001:])
    assert run("etcdutl", "snapshot", "status", str(tmp_path / "damaged.db"), "-w", "json").returncode == 0


def test_without_a_file_it_says_so(volume: Volume, capsys: pytest.CaptureFixture[str]) -> None:
    volume.begin("monday")
    assert volume.keep("monday") == 1
    assert "there is no" in capsys.readouterr().err


def test_a_pod_that_is_tried_again_after_all_was_done_changes_nothing(volume: Volume) -> None:
    volume.take("monday")
    before = (volume.backups / "monday.json").read_text()
    assert volume.take("monday") == 0
    assert (volume.backups / "monday.json").read_text() == before


def test_another_job_of_that_name_takes_another_snapshot(volume: Volume) -> None:
    volume.take("monday", job="first")
    assert volume.take("monday", job="second") == 0
    assert json.loads((volume.backups / "monday.json").read_text())["id"] == "second"
    assert volume.names() == ["monday"]


def test_the_newest_scheduled_snapshots_stay_and_all_that_were_asked_for(volume: Volume) -> None:
    for number in range(5):
        volume.begin(f"s{number}")
        os.utime(volume.incoming / f"s{number}.begun", (1000 + number, 1000 + number))
        volume.etcdctl(f"s{number}")
        volume.keep(f"s{number}", "--retain=2")
    volume.take("mine", "--purpose=ondemand", "--retain=2")
    volume.take("before", "--purpose=upgrade", "--retain=2")
    assert volume.names() == ["before", "mine", "s3", "s4"]
    assert not (volume.backups / "s0.db").exists()


def test_fewer_are_kept_already_before_the_next_one_needs_room(volume: Volume) -> None:
    for name in ("s1", "s2", "s3"):
        volume.take(name)
    assert volume.begin("s4", "--retain=1") == 0
    assert volume.names() == ["s3"]


def test_what_was_just_kept_is_never_pruned_even_if_the_clock_went_backwards(volume: Volume) -> None:
    volume.take("old", "--retain=1")
    volume.begin("new")
    os.utime(volume.incoming / "new.begun", (1000, 1000))
    volume.etcdctl("new")
    assert volume.keep("new", "--retain=1") == 0
    assert volume.names() == ["new"]


def test_files_that_somebody_has_brought_are_not_touched(volume: Volume) -> None:
    volume.backups.mkdir()
    (volume.backups / "theirs.db").write_bytes(b"theirs")
    (volume.backups / "notes.json").write_text('"hands off"')
    volume.take("monday", "--retain=1")
    assert (volume.backups / "theirs.db").read_bytes() == b"theirs"
    assert (volume.backups / "notes.json").exists()


def test_what_failed_tries_left_is_removed_and_what_grows_is_not(volume: Volume) -> None:
    volume.begin("monday")
    for name in ("monday.db.part", "dead.db.part", "alive.db.part"):
        (volume.incoming / name).write_bytes(b"half")
    os.utime(volume.incoming / "dead.db.part", (1000, 1000))
    volume.begin("monday")
    assert sorted(each.name for each in volume.incoming.iterdir()) == ["alive.db.part", "monday.begun"]


def test_who_does_not_answer_is_named(volume: Volume, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # it does not listen, and nobody else can
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert volume.call("begin", f"--directory={volume.backups}", "--name=monday", f"--url={url}") == 1
    assert f"etcd does not answer at {url}: [Errno 111] Connection refused" in capsys.readouterr().err


# Restoring


def test_a_restored_etcd_has_all_keys_and_is_another_cluster(volume: Volume, taken: Taken) -> None:
    volume.take("monday")
    peer = f"http://127.0.0.1:{free_port()}"
    assert volume.prepare() == 0
    volume.etcdutl(peer)
    assert volume.finish() == 0
    assert volume.report["name"] == "monday"
    with etcd(volume.root / "member" / "data", peer=peer) as server:
        assert server.keys() == taken.keys
        assert server.cluster_id() != taken.cluster_id


def test_the_newest_snapshot_is_chosen_or_the_one_that_is_named(volume: Volume) -> None:
    for name, when in (("tuesday", 2000), ("monday", 1000)):
        volume.begin(name)
        os.utime(volume.incoming / f"{name}.begun", (when, when))
        volume.etcdctl(name)
        volume.keep(name)
    link = volume.root / "source" / "snapshot.db"
    assert (volume.prepare(), link.readlink().stem) == (0, "tuesday")
    assert (volume.prepare("--snapshot=monday"), link.readlink().stem) == (0, "monday")


def test_a_snapshot_that_is_not_there_is_refused_with_those_that_are(
    volume: Volume, capsys: pytest.CaptureFixture[str]
) -> None:
    volume.take("monday")
    assert volume.prepare("--snapshot=sunday") == 1
    assert "no snapshot 'sunday' on the volume; there are: monday" in capsys.readouterr().err


def test_an_empty_volume_has_nothing_to_restore(volume: Volume, capsys: pytest.CaptureFixture[str]) -> None:
    volume.backups.mkdir()
    assert volume.prepare() == 1
    assert "there is none at all" in capsys.readouterr().err


def test_a_snapshot_that_rotted_is_refused(volume: Volume, capsys: pytest.CaptureFixture[str]) -> None:
    volume.take("monday")
    data = bytearray((volume.backups / "monday.db").read_bytes())
    data[5000] ^= 1
    (volume.backups / "monday.db").write_bytes(data)
    assert volume.prepare() == 1
    assert "is damaged" in capsys.readouterr().err


def test_a_snapshot_can_be_read_without_a_place_to_restore_it(
    volume: Volume, capsys: pytest.CaptureFixture[str]
) -> None:
    volume.take("monday")
    words = ("find", f"--directory={volume.backups}", "--snapshot=monday", "--version=3.5.1")
    before = sorted(volume.root.rglob("*"))
    assert volume.call(*words) == 0
    assert volume.report["name"] == "monday"
    assert sorted(volume.root.rglob("*")) == before
    (volume.backups / "monday.db").write_bytes(b"")
    assert volume.call(*words) == 1
    assert "is no whole snapshot" in capsys.readouterr().err


def test_a_file_that_was_exchanged_is_refused(volume: Volume, capsys: pytest.CaptureFixture[str]) -> None:
    volume.take("monday")
    record = json.loads((volume.backups / "monday.json").read_text())
    (volume.backups / "monday.json").write_text(json.dumps({**record, "sha256": "0" * 64}))
    assert volume.prepare() == 1
    assert "is not the file that was kept" in capsys.readouterr().err


def test_a_file_that_somebody_has_brought_can_be_named(volume: Volume) -> None:
    volume.backups.mkdir()
    shutil.copy(volume.source, volume.backups / "from-elsewhere.db")
    assert volume.prepare("--snapshot=from-elsewhere") == 0
    assert volume.report["name"] == "from-elsewhere"


def test_a_snapshot_of_a_newer_etcd_is_refused(volume: Volume, capsys: pytest.CaptureFixture[str]) -> None:
    volume.take("monday", "--version=3.6.0")
    assert volume.prepare() == 1
    assert "was taken from etcd 3.6.0, and etcd 3.5.1 can't read it" in capsys.readouterr().err


def test_data_that_did_not_come_from_this_restore_is_left_alone(
    volume: Volume, capsys: pytest.CaptureFixture[str]
) -> None:
    volume.take("monday")
    (volume.root / "member" / "data").mkdir(parents=True)
    assert volume.prepare() == 1
    assert volume.finish() == 1
    assert "it is left alone" in capsys.readouterr().err


def test_another_restore_does_not_touch_what_the_first_one_did(volume: Volume) -> None:
    volume.take("monday")
    volume.prepare()
    volume.etcdutl("http://127.0.0.1:1")
    volume.finish()
    assert volume.prepare(restore="r2") == 1


def test_a_restore_that_is_done_again_does_nothing(volume: Volume) -> None:
    volume.take("monday")
    volume.prepare()
    volume.etcdutl("http://127.0.0.1:1")
    volume.finish()
    before = (volume.root / "member" / "data").stat()
    assert volume.prepare() == 0
    volume.etcdutl("http://127.0.0.1:1")
    assert volume.finish() == 0
    assert volume.report["name"] == "monday"
    assert (volume.root / "member" / "data").stat().st_ino == before.st_ino
    assert not (volume.root / "member" / "restoring").exists()


# What a member has left


def salvaged(volume: Volume, peer: str = "http://127.0.0.1:1") -> None:
    """All of a pod that makes a new cluster of what a member has left."""
    (volume.root / "source").mkdir(exist_ok=True)
    assert volume.call("salvage", *volume.restore("r1"), "--member=prod-2", "--version=3.5.1") == 0
    volume.etcdutl(peer, "--skip-hash-check=true")
    assert volume.call("replace", *volume.restore("r1")) == 0


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str], int]:
    """The data directory of a member that was stopped, its keys, and the id of its cluster."""
    place = tmp_path_factory.mktemp("left") / "data"
    with etcd(place) as server:
        keys, cluster_id = server.write(20), server.cluster_id()
        server.ctl(
            "defrag"
        )  # when it stops as it should, all that it has applied is in its database; here it is killed
    return place, keys, cluster_id


def test_what_a_member_has_left_is_a_new_cluster_with_all_its_keys(
    volume: Volume, left: tuple[Path, dict[str, str], int]
) -> None:
    place, keys, cluster_id = left
    shutil.copytree(place, volume.root / "member" / "data")
    peer = f"http://127.0.0.1:{free_port()}"
    salvaged(volume, peer)
    assert (volume.report["name"], volume.report["version"]) == ("prod-2", "3.5.1")
    assert sorted(each.name for each in (volume.root / "member").iterdir()) == ["data", "restored.json"]
    with etcd(volume.root / "member" / "data", peer=peer) as server:
        assert server.keys() == keys
        assert server.cluster_id() != cluster_id


def test_where_nothing_is_left_there_is_nothing_to_salvage(volume: Volume, capsys: pytest.CaptureFixture[str]) -> None:
    (volume.root / "source").mkdir()
    (volume.root / "member" / "data").mkdir(parents=True)
    assert volume.call("salvage", *volume.restore("r1"), "--member=prod-2") == 1
    assert "there is no database of a member at" in capsys.readouterr().err


# Killed anywhere


class Killed(BaseException):
    """The end of a process: nothing catches it."""


CHANGES = ("replace", "rename", "unlink", "write_text", "touch", "mkdir", "symlink_to")
"""What changes a volume; a process may be killed before each."""


def killed_at(last: int, work: Callable[[], object]) -> bool:
    """Do something, and be killed before that change of the volume; whether it came so far."""
    done = 0

    def counted(original: Callable[..., Any]) -> Callable[..., Any]:
        def change(*args: Any, **options: Any) -> Any:
            nonlocal done
            done += 1
            if done == last:
                raise Killed
            return original(*args, **options)

        return change

    with pytest.MonkeyPatch.context() as patched, contextlib.suppress(Killed):
        for name in CHANGES:
            patched.setattr(Path, name, counted(getattr(Path, name)))
        work()
    return done >= last


def test_killed_before_any_change_a_snapshot_is_there_whole_or_not_at_all(volume: Volume) -> None:
    volume.take("sunday", "--retain=1")
    for last in count(1):
        name = f"life{last:02}"
        killed = killed_at(last, lambda name=name: volume.take(name, "--retain=1"))  # type: ignore[misc]
        assert volume.names(), "there is always one to restore"
        assert volume.take(name, "--retain=1") == 0
        assert volume.names() == [name]
        assert list(volume.incoming.iterdir()) == []
        if not killed:
            break
    assert last > 8


def test_killed_while_it_replaces_one_of_the_same_name(volume: Volume) -> None:
    for last in count(1):
        volume.take("monday", job="first")
        killed = killed_at(last, lambda: volume.take("monday", job="second"))
        volume.names()  # which looks whether each is whole
        assert volume.take("monday", job="second") == 0
        assert json.loads((volume.backups / "monday.json").read_text())["id"] == "second"
        assert volume.names() == ["monday"]
        if not killed:
            break
    assert last > 8


def test_killed_anywhere_a_restore_comes_to_the_same_end(volume: Volume) -> None:
    volume.take("monday")

    def whole() -> None:
        assert volume.prepare() == 0
        volume.etcdutl("http://127.0.0.1:1")
        assert volume.finish() == 0

    for last in count(1):
        shutil.rmtree(volume.root / "member", ignore_errors=True)
        killed = killed_at(last, whole)
        whole()
        assert volume.report["name"] == "monday"
        assert sorted(each.name for each in (volume.root / "member").iterdir()) == ["data", "restored.json"]
        if not killed:
            break
    assert last > 5


def test_killed_anywhere_what_a_member_has_left_is_there_as_it_was_or_as_a_new_cluster(
    volume: Volume, left: tuple[Path, dict[str, str], int]
) -> None:
    place, _, _ = left
    digest = keeper.digest_of(place / "member" / "snap" / "db")
    for last in count(1):
        shutil.rmtree(volume.root / "member", ignore_errors=True)
        shutil.copytree(place, volume.root / "member" / "data")
        killed = killed_at(last, lambda: salvaged(volume))
        salvaged(volume)
        assert volume.report["sha256"] == digest
        assert sorted(each.name for each in (volume.root / "member").iterdir()) == ["data", "restored.json"]
        if not killed:
            break
    assert last > 5
