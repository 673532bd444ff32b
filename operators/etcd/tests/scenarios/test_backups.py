"""Snapshots: on schedule, kept and verified, and made a new cluster of."""

from hashlib import sha256

from etcd_operator import names
from scenarios.scene import NAME, Scene, condition

COPY = "copy"


async def test_19_snapshots_are_taken_on_schedule_and_a_failing_destination_is_shown(stage: Scene) -> None:
    await stage.create(replicas=1, backupSchedule="* * * * *", backupRetention=1)
    await stage.settled(1)
    async with stage.under_load() as load:
        with stage.timed():
            first = await stage.until("a snapshot was taken", lambda it: it.status.last_backup, within=100)
            second = await stage.until(
                "another one was taken", lambda it: it.status.last_backup != first.status.last_backup, within=100
            )
            assert condition(second, "BackupReady").status == "True"
            snapshot = second.status.last_backup
            assert snapshot is not None
            disk = await stage.machine.disk(names.backups(NAME))
            kept = list(disk.rglob("*.db"))
            assert [each.stem for each in kept] == [snapshot.name]
            assert sha256(kept[0].read_bytes()).hexdigest() == snapshot.sha256
            aside = disk.with_name("aside")
            disk.rename(aside)
            disk.write_text("no directory")
            await stage.until(
                "BackupReady is False", lambda it: condition(it, "BackupReady").status == "False", within=150
            )
            disk.unlink()
            aside.rename(disk)
            await stage.until(
                "BackupReady is True", lambda it: condition(it, "BackupReady").status == "True", within=150
            )
        await load.writer.more(10)


async def test_20_a_snapshot_becomes_a_new_cluster_with_all_keys(stage: Scene) -> None:
    await stage.create()
    original = await stage.settled()
    async with stage.under_load() as load:
        await load.writer.more(200)
    await stage.backup("all")
    with stage.timed():
        await stage.create(COPY, restore={"backup": "all"})
        copied = await stage.settled(name=COPY, within=180)
    assert copied.status.cluster_id not in ("", original.status.cluster_id)
    assert copied.status.restored_from is not None
    assert copied.status.restored_from.revision > 200
    assert await load.writer.missing(await stage.etcd_of(COPY).service(patience=10)) == []
    assert len(set((await stage.etcd_of(COPY).hashes()).values())) == 1
    assert not {each.id for each in copied.status.members} & {each.id for each in original.status.members}
