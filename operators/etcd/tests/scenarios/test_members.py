"""Members come and go: scaling, and an operator that dies in the midst of it."""

from collections.abc import Callable
from pathlib import Path

from etcd_operator import names
from scenarios.gateway import LOST, Refused
from scenarios.machine import NAMESPACE
from scenarios.membership import removed_while_leading
from scenarios.scene import NAME, Scene, condition, identities
from scenarios.waiting import until
from windvane import ambient


async def test_03_the_leader_is_killed_and_writes_pause_for_less_than_five_seconds(stage: Scene) -> None:
    await stage.create()
    before = await stage.settled()
    async with stage.under_load() as load:
        await load.writer.more(50)
        victim = await stage.etcd.member("Leader")
        with stage.timed():
            await stage.machine.crash(victim)
            after = await stage.settled()
        assert identities(after) == identities(before)
    assert load.writer.longest_gap() < 5


async def test_04_one_member_becomes_three_and_then_five_with_one_learner_at_a_time(stage: Scene) -> None:
    await stage.create(replicas=1)
    await stage.settled(1)
    async with stage.under_load() as load:
        with stage.timed():
            await stage.change(replicas=3)
            await stage.settled(3, within=180)
            await stage.change(replicas=5)
            await stage.settled(5, within=180)
        learners = {each.id for look in load.membership.looks for each in look.members if each.learner}
        assert len(learners) == 4  # each began as one, and none was needed twice
    assert load.writer.longest_gap() < 5


async def test_05_five_become_three_and_a_leader_that_goes_hands_over_first(stage: Scene) -> None:
    await stage.create(replicas=5)
    await stage.settled(5, within=180)
    disks = [await stage.machine.disk(names.claim(NAME, ordinal)) for ordinal in (3, 4)]
    async with stage.under_load() as load:
        await stage.etcd.lead(names.member(NAME, 4))
        with stage.timed():
            await stage.change(replicas=3)
            await stage.settled(3, within=180)
        assert sorted(identities(await stage.cluster())) == [names.member(NAME, each) for each in range(3)]
        assert removed_while_leading(load.membership.looks) == []
        assert sorted(await stage.claims()) == [names.claim(NAME, each) for each in range(3)]
        await until("the volumes are gone", lambda: absent(disks), within=30)
    assert load.writer.longest_gap() < 5


async def test_06_three_become_five_again_and_no_old_data_is_used(stage: Scene) -> None:
    await stage.create(replicas=5)
    before = identities(await stage.settled(5, within=180))
    claims = await stage.claims()
    async with stage.under_load():
        await stage.change(replicas=3)
        await stage.settled(3, within=180)
        with stage.timed():
            await stage.change(replicas=5)
            after = identities(await stage.settled(5, within=180))
        again = await stage.claims()
        for ordinal in (3, 4):
            assert after[names.member(NAME, ordinal)] != before[names.member(NAME, ordinal)]
            assert again[names.claim(NAME, ordinal)] != claims[names.claim(NAME, ordinal)]


async def test_07_the_operator_is_killed_between_adding_a_member_and_making_its_pod(stage: Scene) -> None:
    await stage.create(replicas=1)
    await stage.settled(1)
    async with stage.observed():
        with stage.timed():
            for replicas in (2, 3):
                known = {each.id for each in await stage.etcd.members()}
                await stage.change(replicas=replicas)
                await killed_when(stage, lambda ids: ids - known)  # noqa: B023 - it is awaited here
                await stage.settled(replicas, within=180)
            # For certain, too: the operator died when it had added a member and done nothing else.
            await stage.operator.kill()
            await until("etcd takes a new member", lambda: added(stage, 3), within=60)
            await stage.change(replicas=4)
            await stage.operator.start()
            await stage.settled(4, within=180)
            # And that is one that nobody wants by now.
            await stage.operator.kill()
            await until("etcd takes a new member", lambda: added(stage, 4), within=60)
            await stage.operator.start()
            await until("the member that nobody wants is removed", lambda: count(stage, 4), within=60)
            await stage.settled(4)
        assert all(each.name for each in await stage.etcd.members())


async def test_08_the_operator_is_killed_between_removing_a_member_and_deleting_its_pod(stage: Scene) -> None:
    await stage.create(replicas=5)
    await stage.settled(5, within=180)
    async with stage.observed():
        with stage.timed():
            for replicas in (4, 3):
                known = {each.id for each in await stage.etcd.members()}
                await stage.change(replicas=replicas)
                await killed_when(stage, lambda ids: known - ids)  # noqa: B023 - it is awaited here
                await stage.settled(replicas, within=180)
            # For certain, too: the operator died when it had removed a member and done nothing else.
            await stage.operator.kill()
            members = {each.name: each.id for each in await stage.etcd.members()}
            going = names.member(NAME, 2)
            if await stage.etcd.member("Leader") == going:
                await stage.etcd.lead(names.member(NAME, 0))
            await (await stage.etcd.service()).ask("cluster/member/remove", ID=str(int(members[going], 16)))
            await stage.change(replicas=2)
            await stage.operator.start()
            await stage.settled(2, within=180)
            assert sorted(await stage.claims()) == [names.claim(NAME, each) for each in range(2)]


async def test_14_scaling_waits_while_a_member_is_down_and_says_so(stage: Scene) -> None:
    await stage.create()
    await stage.settled()
    async with stage.under_load():
        victim = await stage.etcd.member("Follower")
        async with stage.machine.frozen(victim):
            await stage.until("it is known to be down", lambda it: not all(each.healthy for each in it.status.members))
            with stage.timed():
                await stage.change(replicas=5)
                waiting = await stage.until(
                    "Progressing says that it waits for the member",
                    lambda it: (
                        condition(it, "Progressing").observed_generation == it.metadata.generation
                        and victim in condition(it, "Progressing").message
                    ),
                )
            assert condition(waiting, "Available").status == "True"
            assert len(await stage.etcd.members()) == 3
        await stage.settled(5, within=180)


async def killed_when(stage: Scene, changed: Callable[[set[str]], object]) -> None:
    """Kill the operator as soon as etcd's list of members has changed so, and start it again."""
    pods = len(await stage.etcd.pods())
    at = await stage.etcd.service()
    deadline = ambient.monotonic() + 60
    while True:
        assert ambient.monotonic() < deadline, stage.log()
        try:
            ids = {each.id for each in await at.members()}
        except (*LOST, Refused):
            continue
        if changed(ids):
            await stage.operator.kill()
            break
    # How often it died in time: before it could tell Kubernetes anything.
    stage.note(hits=stage.figures.get("hits", 0) + (len(await stage.etcd.pods()) == pods))
    await stage.operator.start()


async def added(stage: Scene, ordinal: int) -> bool:
    """Whether etcd has taken a new member: it does not while it thinks that others are not well, of which it is slow
    to be convinced."""
    peer = names.peer_url(NAME, NAMESPACE, ordinal, scheme="http")
    try:
        await (await stage.etcd.service(patience=5)).ask("cluster/member/add", peerURLs=[peer], isLearner=True)
    except Refused:
        return False
    return True


async def count(stage: Scene, members: int) -> bool:
    """Whether etcd has so many members."""
    return len(await stage.etcd.members()) == members


async def absent(disks: list[Path]) -> bool:
    """Whether all of these directories are gone."""
    return not any(disk.exists() for disk in disks)
