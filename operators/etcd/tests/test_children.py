"""What a cluster consists of, where it matters that it is so and not otherwise."""

import pytest

from etcd_operator import children, names
from etcd_operator.children import Joining, Security
from windvane.k8s import core
from worlds import cluster


def etcd(version: str = "3.5.1") -> core.Container:
    [found] = children.stateful_set(cluster(), 3, version, Security()).spec.template.spec.containers
    return found


def flag(name: str) -> str:
    [found] = [each for each in etcd().args if each.startswith(f"--{name}=")]
    return found.partition("=")[2]


def test_members_find_each_other_before_they_are_ready() -> None:
    spec = children.peers_service(cluster()).spec
    assert (spec.cluster_ip, spec.publish_not_ready_addresses) == ("None", True)


def test_clients_are_sent_to_members_that_have_a_vote() -> None:
    assert children.client_service(cluster()).spec.selector[names.LABEL_ROLE] == names.VOTER


def test_all_members_may_start_at_once_and_none_is_restarted_behind_our_back() -> None:
    spec = children.stateful_set(cluster(), 3, "3.5.1", Security()).spec
    assert spec.pod_management_policy == "Parallel"
    assert spec.update_strategy is not None
    assert spec.update_strategy.type == "OnDelete"


def test_who_may_join_is_read_when_a_member_starts_so_it_never_restarts_others() -> None:
    before = children.stateful_set(cluster(), 3, "3.5.1", Security())
    assert "prod-0=" not in str(before.spec.template)
    references = {each.name: each.value_from for each in etcd().env}
    source = references["INITIAL_CLUSTER"]
    assert source is not None
    assert source.config_map_key_ref is not None
    assert source.config_map_key_ref.name == names.configuration("prod")


def test_by_default_nobody_may_join() -> None:
    data = children.configuration(cluster(), Joining()).data
    assert data == {"initial-cluster-state": "existing", "initial-cluster": "nobody=http://127.0.0.1:1"}


@pytest.mark.parametrize("listens", ["listen-client-urls", "listen-peer-urls", "listen-metrics-urls"])
def test_members_listen_on_their_own_address_only(listens: str) -> None:
    assert flag(listens).startswith("http://$(POD_IP):")


def test_members_are_known_by_names_that_outlive_their_addresses() -> None:
    assert flag("initial-advertise-peer-urls") == "http://$(POD_NAME).prod-peers.db.svc:2380"


def test_two_clusters_of_one_name_have_different_tokens() -> None:
    first, second = cluster(), cluster()
    second.metadata.uid = "u-2"
    assert children.token(first) != children.token(second)


def test_a_cluster_without_quorum_is_not_helped_by_restarts() -> None:
    probe = etcd().liveness_probe
    assert probe is not None
    assert probe.http_get is not None
    assert probe.http_get.path == "/metrics"  # which says nothing about a leader


def test_a_full_member_is_still_led_to_for_reads() -> None:
    probe = etcd().readiness_probe
    assert probe is not None
    assert probe.http_get is not None
    assert probe.http_get.path == "/health?exclude=NOSPACE"


@pytest.mark.parametrize(
    ("version", "path"),
    [
        ("3.4.28", "/health?exclude=NOSPACE"),
        ("3.4.29", "/readyz"),
        ("3.5.10", "/health?exclude=NOSPACE"),
        ("3.5.11", "/readyz"),
        ("3.6.0", "/readyz"),
    ],
)
def test_a_version_that_says_itself_whether_it_is_ready_is_not_asked_to_leave_out_an_alarm(
    version: str, path: str
) -> None:
    probe = etcd(version).readiness_probe
    assert probe is not None
    assert probe.http_get is not None
    assert probe.http_get.path == path


def test_data_is_compared_before_a_member_takes_part_with_the_flag_of_its_version() -> None:
    assert "--experimental-initial-corrupt-check=true" in etcd("3.5.1").args
    assert "--feature-gates=InitialCorruptCheck=true" in etcd("3.6.0").args


def test_drains_take_one_member_at_a_time() -> None:
    assert children.disruption_budget(cluster()).spec.max_unavailable == 1


def test_the_selector_of_members_finds_no_pod_of_a_backup() -> None:
    assert names.selector("prod")["app.kubernetes.io/component"] == "member"
