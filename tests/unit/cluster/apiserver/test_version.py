import re

from windvane.cluster.apiserver.version import version


def test_the_version_is_one_that_clients_can_parse() -> None:
    found = version()
    assert (found["major"], found["minor"]) == ("1", "36")
    assert re.fullmatch(r"v1\.36\.\d+\+windvane", found["gitVersion"])


def test_the_platform_is_named_as_go_names_it() -> None:
    system, _, machine = version()["platform"].partition("/")
    assert system
    assert machine not in ("", "x86_64", "aarch64")
