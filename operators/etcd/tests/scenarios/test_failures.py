"""Members that fail: lost and corrupt disks, lost quorums, frozen processes, full databases."""

from etcd_operator.api import EtcdCluster
from scenarios.gateway import LOST, Refused, encoded
from scenarios.machine import NAMESPACE
from scenarios.scene import Scene, condition, identities, is_settled
from scenarios.waiting import until
from windvane import ambient


async def test_09_a_member_whose_volume_was_wiped_is_replaced_under_a_new_id(stage: Scene) -> None:
    await stage.create()
    before = identities(await stage.settled())
    async with stage.under_load() as load:
        await load.writer.more(50)
        victim = await stage.etcd.member("Follower")
        with stage.timed():
            await stage.machine.wipe(victim)
            after = await stage.replaced(victim, before[victim])
        assert {**identities(after), victim: ""} == {**before, victim: ""}
        there = [before[victim] in {each.id for each in look.members} for look in load.membership.looks]
        assert there == sorted(there, reverse=True)  # once it was removed, it never came back
    assert load.writer.longest_gap() < 5


async def test_10_a_member_whose_log_is_corrupt_is_replaced_and_the_quorum_is_kept(stage: Scene) -> None:
    await stage.create()  # whose data is broken is replaced long before `replaceAfter`
    before = identities(await stage.settled())
    async with stage.under_load() as load:
        await load.writer.more(200)
        victim = await stage.etcd.member("Follower")
        with stage.timed():
            await stage.machine.corrupt(victim)
            after = await stage.replaced(victim, before[victim])
        assert {**identities(after), victim: ""} == {**before, victim: ""}
    assert load.writer.longest_gap() < 5


async def test_11_two_of_three_stop_and_the_lost_quorum_is_shown_until_they_are_back(stage: Scene) -> None:
    await stage.create()
    before = await stage.settled()
    async with stage.under_load() as load:
        await load.writer.more(50)
        victims = sorted(identities(before))[1:]
        with stage.timed():
            async with stage.machine.frozen(*victims):
                lost = await stage.until("the quorum is lost", is_lost)
                assert condition(lost, "Available").status == "False"
            after = await stage.settled()
        assert identities(after) == identities(before)
        assert after.status.cluster_id == before.status.cluster_id
        assert after.status.restored_from is None


async def test_12_two_disks_are_lost_and_nothing_is_given_up_without_consent(stage: Scene) -> None:
    await stage.create()
    before = await stage.settled()
    async with stage.under_load() as load:
        await load.writer.more(50)
        saved = ambient.monotonic()
        taken = await stage.backup("before")
        await load.writer.more(50)
        claims = await stage.claims()
        await stage.machine.wipe(*sorted(identities(before))[1:])
        load.forgiven = (saved, ambient.monotonic())
        lost = await stage.until("the quorum is lost", is_lost, within=120)
        assert before.status.cluster_id in condition(lost, "Available").message  # what is to be agreed to
        # The operator begins anew several times meanwhile, and each time sees all of it.
        await stage.begun_anew(3)
        assert await stage.claims() == claims
        assert (await stage.cluster()).status.cluster_id == before.status.cluster_id
        with stage.timed():
            await stage.change(recovery={"giveUp": before.status.cluster_id, "source": "Snapshot"})
            after = await stage.until(
                "there is another cluster, and all is well",
                lambda it: is_settled(it, 3) and it.status.cluster_id != before.status.cluster_id,
                within=240,
            )
        assert taken.status.snapshot is not None
        assert after.status.restored_from is not None
        assert after.status.restored_from.sha256 == taken.status.snapshot.sha256


async def test_27_two_disks_are_lost_and_the_data_of_the_member_that_is_left_is_what_goes_on(stage: Scene) -> None:
    await stage.create()
    before = await stage.settled()
    async with stage.under_load() as load:
        await load.writer.more(50)
        await stage.backup("old")
        await load.writer.more(100)
        lost_at = ambient.monotonic()
        *gone, left = sorted(identities(before))
        await stage.machine.wipe(*gone)
        # What the two others acknowledged in their last moments may not have reached the third.
        load.forgiven = (lost_at - 0.5, ambient.monotonic())
        lost = await stage.until("the quorum is lost", is_lost, within=120)
        said = condition(lost, "Available").message
        assert f"what {left} does not have" in said
        assert '"source":"Member"' in said
        with stage.timed():
            await stage.change(recovery={"giveUp": before.status.cluster_id, "source": "Member"})
            after = await stage.until(
                "there is another cluster, and all is well",
                lambda it: is_settled(it, 3) and it.status.cluster_id != before.status.cluster_id,
                within=240,
            )
        assert after.status.restored_from is not None
        assert (after.status.restored_from.name, after.status.restored_from.volume_claim) == (left, f"data-{left}")
        assert after.status.restored_from.revision > 150


async def test_13_a_member_that_is_frozen_for_a_minute_is_not_replaced(stage: Scene) -> None:
    await stage.create(replaceAfter="90s")
    before = await stage.settled()
    async with stage.under_load() as load:
        await load.writer.more(50)
        victim = await stage.etcd.member("Follower")
        with stage.timed():
            async with stage.machine.frozen(victim):
                await ambient.sleep(60)
                assert {each.id for each in await stage.etcd.members()} == set(identities(before).values())
            after = await stage.settled()
        assert identities(after) == identities(before)
        assert load.membership.ids() == set(identities(before).values())
    assert load.writer.longest_gap() < 5


async def test_24_a_majority_that_hung_for_longer_than_a_member_may_be_away_keeps_its_volumes(stage: Scene) -> None:
    await stage.create(replaceAfter="20s")
    before = await stage.settled()
    async with stage.observed() as load:  # by one operator, which has seen how long it took
        claims = await stage.claims()
        with stage.timed():
            for _ in range(2):
                await load.writer.more(50)
                leader = await stage.etcd.member("Leader")
                async with stage.machine.frozen(*({*identities(before)} - {leader})):
                    await stage.until("the quorum is lost", is_lost)
                    await ambient.sleep(45)
                after = await stage.settled()
                assert identities(after) == identities(before)
                assert await stage.claims() == claims
        assert load.membership.ids() == set(identities(before).values())
    told = [each.reason for each in await stage.events()]
    assert "MemberRemoved" not in told
    assert "VolumeDeleted" not in told


async def test_18_a_full_database_is_compacted_and_defragmented_and_takes_writes_again(stage: Scene) -> None:
    await stage.create(quota="16Mi")
    await stage.settled()
    async with stage.under_load() as load:
        await load.writer.more(50)
        filler = encoded("x" * 512 * 1024)
        at = await stage.etcd.service(patience=5)
        leader = await stage.etcd.member("Leader")

        async def full() -> bool:
            try:
                await at.ask("kv/put", key=encoded("filler"), value=filler)
            except Refused as error:
                return "space" in str(error)
            except LOST:
                return False
            return False

        await until("etcd has no space left", full, within=120)
        with stage.timed():
            await load.writer.more(50)
        shown = load.statements.said("Degraded", "True", lambda it: "NOSPACE" in it.message)
        assert shown
        await stage.settled()
        assert (await at.ask("maintenance/alarm")).get("alarms", []) == []
        members = await stage.etcd.each()
        sizes = [int((await each.ask("maintenance/status"))["dbSize"]) for each in members.values()]
        assert max(sizes) < 8 * 1024 * 1024
        begun = {name: await first_line(stage, name, '"msg":"defragmenting"') for name in members}
        assert max(begun, key=lambda name: begun[name]) == leader  # followers first


async def first_line(stage: Scene, pod: str, words: str) -> str:
    """The first line of a pod's log that has these words, with the time before it."""
    lines = [line.decode() async for line in stage.machine.client.pod(pod, namespace=NAMESPACE).logs(timestamps=True)]
    return next(line for line in lines if words in line)


def is_lost(cluster: EtcdCluster) -> bool:
    """Whether it says that its quorum is lost."""
    return cluster.status.quorum == "Lost" and condition(cluster, "Available").reason == "QuorumLost"
