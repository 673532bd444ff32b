"""What overlay mounts leave behind can be removed by who is not root."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from windvane.cluster.node.volumes.removal import remove

NOBODY = 65534


@contextmanager
def not_root() -> Iterator[None]:
    """For the length of the block, this is an ordinary user's process: root may open everything."""
    was_root = os.getuid() == 0
    if was_root:
        os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        if was_root:
            os.setresuid(0, 0, 0)


def test_a_directory_that_its_owner_may_not_open_is_removed() -> None:
    with tempfile.TemporaryDirectory() as scratch:  # not tmp_path, which is root's alone
        Path(scratch).chmod(0o777)
        pod, elsewhere = Path(scratch, "pod"), Path(scratch, "elsewhere")
        with not_root():
            closed = pod / "work" / "work"
            closed.mkdir(parents=True)
            elsewhere.mkdir()
            (closed / "file").touch()
            (pod / "link").symlink_to(elsewhere)
            closed.chmod(0)
            elsewhere.chmod(0)
            remove(pod)
            assert not pod.exists()
            assert elsewhere.stat().st_mode & 0o777 == 0, "what a link leads to is left alone"
