"""Every test runs once, and on a cluster that suits it."""

from e2e import clusters
from e2e.__main__ import plan
from e2e.score import HERE, read_names, read_tiers
from e2e.suite import Spec

QUICK = Spec("[sig-apps] quick", "job")
SLOW = Spec("[sig-apps] slow [Slow]", "cronjob")
SERIAL = Spec("[sig-apps] alone [Serial]", "daemon_set")
WITHOUT_IMAGE = Spec("[sig-apps] Deployment deployment should support proportional scaling [Conformance]", "deployment")


def test_those_that_want_a_cluster_for_themselves_run_one_by_one_on_another() -> None:
    assert plan([QUICK, SERIAL], "embedded", 4) == [(clusters.embedded, [QUICK], 4), (clusters.embedded, [SERIAL], 1)]


def test_the_slow_ones_begin() -> None:
    assert plan([QUICK, SLOW], "embedded", 4) == [(clusters.embedded, [SLOW, QUICK], 4)]


def test_those_that_want_an_image_to_be_missing_run_where_pods_are_processes() -> None:
    assert plan([WITHOUT_IMAGE], "embedded", 4) == [(clusters.processes, [WITHOUT_IMAGE], 1)]


def test_on_the_reference_server_all_run_there() -> None:
    assert plan([WITHOUT_IMAGE], "reference", 4) == [(clusters.reference, [WITHOUT_IMAGE], 4)]


def test_all_of_these_are_tests_that_there_are() -> None:
    assert read_names((HERE / "processes.txt").read_text()) <= read_tiers((HERE / "tiers.txt").read_text()).keys()
