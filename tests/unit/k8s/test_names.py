"""Field names as Python writes them, and back."""

import pytest

from generate.names import python_name
from windvane.api.struct import wire_name


@pytest.mark.parametrize(
    ("wire", "python"),
    [
        ("replicas", "replicas"),
        ("minReadySeconds", "min_ready_seconds"),
        ("clusterIP", "cluster_ip"),
        ("podIPs", "pod_ips"),
        ("podCIDRs", "pod_cidrs"),
        ("nonResourceURLs", "non_resource_urls"),
        ("hostPID", "host_pid"),
        ("setHostnameAsFQDN", "set_hostname_as_fqdn"),
        ("ipFamilies", "ip_families"),
        ("clientIPConfig", "client_ip_config"),
        ("fsGroupChangePolicy", "fs_group_change_policy"),
        ("seLinuxOptions", "se_linux_options"),
        ("fieldsV1", "fields_v1"),
    ],
)
def test_words_are_told_apart_and_come_back(wire: str, python: str) -> None:
    assert python_name(wire) == python
    assert wire_name(python) == wire


@pytest.mark.parametrize(
    ("wire", "python"),
    [
        ("targetWWNs", "target_wwns"),
        ("scaleIO", "scale_io"),
        ("$ref", "ref"),
        ("x-kubernetes-list-type", "x_kubernetes_list_type"),
        ("openAPIV3Schema", "open_api_v3_schema"),
    ],
)
def test_words_that_do_not_come_back_still_read_well(wire: str, python: str) -> None:
    assert python_name(wire) == python
    assert wire_name(python) != wire


@pytest.mark.parametrize("wire", ["from", "not", "except", "continue"])
def test_a_keyword_gets_an_underscore(wire: str) -> None:
    assert python_name(wire) == f"{wire}_"


@pytest.mark.parametrize("wire", ["int", "bool", "list", "field"])
def test_a_field_does_not_hide_the_types_of_its_neighbours(wire: str) -> None:
    assert python_name(wire) == f"{wire}_"
