"""Containers of which it is known how long they run."""

import pytest

from windvane.cluster.node.simulated.durations import NEVER, lasts
from windvane.k8s.core import Container


def container(*words: str, image: str = "busybox:1") -> Container:
    return Container(name="c", image=image, command=[*words[:1]], args=[*words[1:]])


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        (("sleep", "300"), 300),
        (("/bin/sleep", "0.5"), 0.5),
        (("sleep", "2m"), 120),
        (("sleep", "1h", "30m"), 5400),
        (("sleep", "1d"), 86400),
        (("sleep", "infinity"), NEVER),
    ],
)
def test_sleep_lasts_as_long_as_it_is_told(words: tuple[str, ...], seconds: float) -> None:
    assert lasts(container(*words)) == seconds


@pytest.mark.parametrize("image", ["pause", "registry.k8s.io/pause:3.10.1", "example.com:5000/pause@sha256:00"])
def test_pause_never_ends(image: str) -> None:
    assert lasts(container(image=image)) == NEVER


@pytest.mark.parametrize("words", [("sleep",), ("sleep", "$TIME"), ("sleep", "-1"), ("sh", "-c", "sleep 5"), ()])
def test_nobody_knows_how_long_others_last(words: tuple[str, ...]) -> None:
    assert lasts(container(*words)) is None


def test_an_image_that_only_sounds_like_pause_is_not_pause() -> None:
    assert lasts(container(image="example.com/pause/web:1")) is None
