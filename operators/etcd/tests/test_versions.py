"""Which version of etcd may follow which."""

import pytest

from etcd_operator.versions import Version, refusal


def test_versions_are_compared_as_numbers() -> None:
    assert Version.of("3.10.0") > Version.of("3.9.9")


def test_a_version_is_written_as_it_is_read() -> None:
    assert str(Version.of("v3.5.1")) == "3.5.1"


@pytest.mark.parametrize("text", ["", "3.5", "latest", "3.5.x", "3.5.1-rc.0", "3.5.1.2"])
def test_what_is_no_version_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no version of etcd: write three numbers, 3\.5\.1, say"):
        Version.of(text)


@pytest.mark.parametrize("wanted", ["3.5.1", "3.5.2", "3.6.0", "3.6.9"])
def test_a_patch_and_the_next_minor_version_may_follow(wanted: str) -> None:
    assert refusal(Version.of("3.5.1"), Version.of(wanted)) == ""


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ("3.5.0", "is older than 3.5.1, which runs"),
        ("3.4.23", "is older than 3.5.1, which runs"),
        ("3.7.0", "skips a minor version: upgrade to a 3.6 first"),
        ("4.0.0", "is another major version"),
    ],
)
def test_others_may_not_and_it_is_said_why(wanted: str, reason: str) -> None:
    assert reason in refusal(Version.of("3.5.1"), Version.of(wanted))
