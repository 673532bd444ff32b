"""Log files: how lines are written, and how large the files become."""

from pathlib import Path

from windvane.cluster.node.logs.writer import KEPT, LONGEST_LINE, Log, log_files, tail


def test_a_long_line_is_written_in_parts(tmp_path: Path) -> None:
    log = Log(tmp_path, "main", 0)
    log.write("stdout", b"x" * (LONGEST_LINE + 5))
    log.write("stdout", b"\nshort\nunfinished")
    log.close()
    lines = [line.split(b" ", 3)[1:] for line in log.file.read_bytes().splitlines()]
    assert [(tag, len(text)) for _, tag, text in lines] == [(b"P", LONGEST_LINE), (b"F", 5), (b"F", 5), (b"P", 10)]


def test_a_log_does_not_grow_for_ever(tmp_path: Path) -> None:
    log = Log(tmp_path, "main", 0, largest=1000)
    for number in range(200):
        log.write("stdout", b"%d %s\n" % (number, b"x" * 80))
    log.close()
    files = log_files(log.file)
    assert len(files) == KEPT + 1
    assert all(file.stat().st_size <= 1000 for file in files)
    assert b" 199 " in files[-1].read_bytes()


def test_the_end_of_a_log_is_told_without_times(tmp_path: Path) -> None:
    log = Log(tmp_path, "main", 0)
    log.write("stderr", b"one\ntwo\nthree\n")
    log.close()
    assert tail(log.file, 2, 1000) == "two\nthree\n"
    assert tail(log.file, 80, 6) == "three\n"
    assert tail(tmp_path / "none", 2, 1000) == ""
