"""Control groups, in files that look like the kernel's."""

from pathlib import Path

import pytest

from windvane.api.quantity import Quantity
from windvane.cluster.node.process.cgroups import Cgroups, InUse

LIMITS = {"memory": Quantity("64Mi"), "cpu": Quantity("500m"), "ephemeral-storage": Quantity("1Gi")}


def test_where_all_is_in_one_hierarchy(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("0::/mine\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "cgroup.subtree_control").write_text("cpu memory pids\n")
    group = Cgroups(tmp_path, tmp_path / "own").make("web", LIMITS)
    [place] = group.places
    assert (place / "memory.max").read_text() == str(64 * 2**20)
    assert (place / "cpu.max").read_text() == "50000 100000"
    (place / "memory.events").write_text("low 0\noom_kill 1\n")
    assert group.was_out_of_memory()


def test_where_each_has_its_own(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("4:memory:/mine\n3:cpu,cpuacct:/\n")
    (tmp_path / "memory" / "mine").mkdir(parents=True)
    (tmp_path / "cpu").mkdir()
    group = Cgroups(tmp_path, tmp_path / "own").make("web", LIMITS)
    memory, cpu = group.places
    assert (memory / "memory.limit_in_bytes").read_text() == str(64 * 2**20)
    assert (cpu / "cpu.cfs_quota_us").read_text() == "50000"
    assert not group.was_out_of_memory()


def test_limits_of_what_runs_are_changed_and_processes_without_one_come_to_have_it(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("4:memory:/\n3:cpu:/\n")
    for name in ("memory", "cpu"):
        (tmp_path / name).mkdir()
    cgroups = Cgroups(tmp_path, tmp_path / "own")
    group = cgroups.make("web", {"memory": Quantity("64Mi")})
    cgroups.resize(group, {"memory": Quantity("32Mi"), "cpu": Quantity(2)}, lambda: [7])
    memory, cpu = group.places
    assert (memory / "memory.limit_in_bytes").read_text() == str(32 * 2**20)
    assert not (memory / "cgroup.procs").exists()
    assert (cpu / "cpu.cfs_quota_us").read_text() == "200000"
    assert (cpu / "cgroup.procs").read_text() == "7"


def test_memory_is_not_limited_to_less_than_is_used(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("4:memory:/\n")
    (tmp_path / "memory").mkdir()
    cgroups = Cgroups(tmp_path, tmp_path / "own")
    group = cgroups.make("web", {"memory": Quantity("64")})
    (group.places[0] / "memory.usage_in_bytes").write_text("64\n")
    with pytest.raises(InUse, match=r"memory limit \(32\) below current usage \(64\)"):
        cgroups.resize(group, {"memory": Quantity("32")}, list)
    cgroups.resize(group, {"memory": Quantity("64")}, list)


def test_where_there_is_none_nothing_is_limited(tmp_path: Path) -> None:
    cgroups = Cgroups(tmp_path, tmp_path / "own")
    assert cgroups.make("web", LIMITS).places == []
    assert not cgroups.limits("memory")


def test_a_group_goes_when_its_container_has(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("4:memory:/\n")
    (tmp_path / "memory").mkdir()
    group = Cgroups(tmp_path, tmp_path / "own").make("web", LIMITS)
    [place] = group.places
    (place / "memory.limit_in_bytes").unlink()  # which the kernel's files don't keep a directory from going
    group.remove()
    assert not place.exists()


def test_groups_that_were_left_behind_go(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("4:memory:/\n")
    for name in ("windvane-mine-main", "windvane-mine-other", "windvane-theirs-main"):
        (tmp_path / "memory" / name).mkdir(parents=True)
    Cgroups(tmp_path, tmp_path / "own").remove_leftovers(["mine"])
    assert [each.name for each in (tmp_path / "memory").iterdir()] == ["windvane-theirs-main"]
