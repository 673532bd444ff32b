"""Files of a volume: all of them change at once."""

from pathlib import Path

from windvane.cluster.node.volumes.atomic_writer import FileContent, write_all


def test_files_change_all_at_once(tmp_path: Path) -> None:
    volume = tmp_path / "v"
    assert write_all(volume, {"a": FileContent(b"1", 0o644), "deep/b": FileContent(b"2", 0o400)})
    first = (volume / "..data").readlink()
    assert (volume / "a").read_text() == "1"
    assert (volume / "deep" / "b").stat().st_mode & 0o777 == 0o400
    assert not write_all(volume, {"a": FileContent(b"1", 0o644), "deep/b": FileContent(b"2", 0o400)})
    assert write_all(volume, {"a": FileContent(b"3", 0o644)})
    assert (volume / "..data").readlink() != first
    assert not (volume / first).exists()
    assert sorted(each.name for each in volume.iterdir() if not each.name.startswith("..")) == ["a"]
    assert (volume / "a").read_text() == "3"
