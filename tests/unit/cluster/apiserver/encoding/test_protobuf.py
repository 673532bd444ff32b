"""Protobuf bodies as Go's own serializer of Kubernetes 1.36 wrote them, and what becomes of them."""

from base64 import b64decode
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.api.resource import kind_of
from windvane.cluster.apiserver.encoding.protobuf import MOST_FIELDS, to_json_value
from windvane.cluster.apiserver.encoding.protobuf_fields import KINDS, MESSAGES
from windvane.cluster.apiserver.schema.models import builtin_models

CONFIG_MAP = b64decode(
    "azhzAAoPCgJ2MRIJQ29uZmlnTWFwEjcKGAoIZ3JlZXRpbmcSABoAIgAqADIAOABCABIPCgR0ZXh0EgdncsO8ZXppGgoKA3JhdxIDAAH/GgAiAA=="
)
DEPLOYMENT = b64decode(
    "azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50Er0BCh8KA3dlYhIAGgAiACoAMgA4AEIAWgoKA2FwcBIDd2ViEosBCAASDAoKCgNhcHASA3dl"
    "YhpxChwKABIAGgAiACoAMgA4AEIAWgoKA2FwcBIDd2ViElESMwoFbmdpbngSBW5naW54KgBCEQoPCgZtZW1vcnkSBQoDMUdpagByAIABAIgB"
    "AJABAKIBABoAMgBCAEoAUgBYAGAAaACCAQCKAQCaAQDCAQAiAgoAKAA4ABoMCAAQABgAIAAoADgAGgAiAA=="
)
DELETE_OPTIONS = b64decode("azhzAAoYCgdhcHBzL3YxEg1EZWxldGVPcHRpb25zEhQIABIECgJ1MSIKQmFja2dyb3VuZBoAIgA=")
SERVICE = b64decode(
    "azhzAAoNCgJ2MRIHU2VydmljZRJUChMKA3dlYhIAGgAiACoAMgA4AEIAEjkKFAoAEgAYUCIKCAEQABoEaHR0cCgAChEKABIAGFEiBwgAEJA/"
    "GgAoABoAIgA6AEIAUgBaAGAAaAAaAgoAGgAiAA=="
)
LEASE = b64decode(
    "azhzAAofChZjb29yZGluYXRpb24uazhzLmlvL3YxEgVMZWFzZRIoChkKAWwSABoAIgAqADIAOABCCAil69zKBhAAEgsiCQil69zKBhDwLhoAIgA="
)
REVISION = b64decode(
    "azhzAAodCgdhcHBzL3YxEhJDb250cm9sbGVyUmV2aXNpb24SPAoRCgFyEgAaACIAKgAyADgAQgASHAoaeyJzcGVjIjp7InJlcGxpY2FzIjpu"
    "dWxsfX0Y////////////ARoAIgA="
)
POD = b64decode(
    "azhzAAoJCgJ2MRIDUG9kElsKEQoBcBIAGgAiACoAMgA4AEIAEjEKCQoBdhIEEgIKABoAIAAyAEIASgBSAFgAYABoAHIGGAAgASACggEAigEA"
    "mgEAwgEAGhMKABoAIgAqADIASgBaAHIAiAEAGgAiAA=="
)
REVIEW = b64decode(
    "azhzAAouChdhdXRob3JpemF0aW9uLms4cy5pby92MRITU3ViamVjdEFjY2Vzc1JldmlldxI4ChAKABIAGgAiACoAMgA4AEIAEhoaBGphbmUq"
    "EAoGc2NvcGVzEgYKAWEKAWIyABoICAASABoAIAAaACIA"
)
DEFINITION = b64decode(
    "azhzAAozChdhcGlleHRlbnNpb25zLms4cy5pby92MRIYQ3VzdG9tUmVzb3VyY2VEZWZpbml0aW9uEv0DChMKA3gueRIAGgAiACoAMgA4AEIA"
    "EtcDCgF5GgoKAXgSACIBWCoAIgpOYW1lc3BhY2VkOrcDCgJ2MRABGAEiqgMKpwMKABIAIgAqBm9iamVjdDIAOgBCDAoKeyJhIjpudWxsfUkA"
    "AAAAAAAUQFAAWQAAAAAAAOA/YAB6AJABAKIBAwoBMaIBAOoBTAoBYRJHCgASACIAKgAyADoAUABgAHoAkAEAwgEmCiQKABIAIgAqBnN0cmlu"
    "ZzIAOgBQAGAAegCQAQCoAgC4AgDAAgCoAgC4AgDAAgDqAU8KAWISSgoAEgAiACoAMgA6AFAAYAB6AJABAPIBKQgBEiUKABIAIgAqB2ludGVn"
    "ZXIyADoAUABgAHoAkAEAqAIAuAIAwAIAqAIAuAIAwAIA6gEoCgFjEiMKABIAIgAqADIAOgBQAGAAegCQAQCKAgIIAKgCALgCAMACAOoBTAoB"
    "ZBJHCgASACIAKgAyADoAUABgAHoAkAEAwgEmEiQKABIAIgAqBnN0cmluZzIAOgBQAGAAegCQAQCoAgC4AgDAAgCoAgC4AgDAAgDyAQIIAYIC"
    "CAoBYRIDEgFiggIpCgFiEiQKIgoAEgAiACoEbnVsbDIAOgBQAGAAegCQAQCoAgC4AgDAAgCoAgCwAgC4AgDAAgA4AFAAGgwSCAoAEgAiACoA"
    "IAAaACIA"
)
RECORDED = [CONFIG_MAP, DEPLOYMENT, DELETE_OPTIONS, SERVICE, LEASE, REVISION, POD, REVIEW, DEFINITION]


def number(value: int) -> bytes:
    groups = bytearray()
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])


def field(at: int, content: bytes | str) -> bytes:
    content = content.encode() if isinstance(content, str) else content
    return number(at << 3 | 2) + number(len(content)) + content


def body(api_version: str, kind: str, message: bytes) -> bytes:
    return b"k8s\x00" + field(1, field(1, api_version) + field(2, kind)) + field(2, message)


def schema_of(definition: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return schema


def test_a_config_map_has_its_text_and_its_bytes() -> None:
    assert to_json_value(CONFIG_MAP) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "greeting"},
        "data": {"text": "grüezi"},
        "binaryData": {"raw": "AAH/"},
    }


def test_a_deployment_is_as_go_writes_it_in_json() -> None:
    container = {"name": "nginx", "image": "nginx", "resources": {"limits": {"memory": "1Gi"}}}
    assert to_json_value(DEPLOYMENT) == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}},
            "strategy": {},
        },
        "status": {},
    }


def test_zeros_that_somebody_set_are_kept() -> None:
    spec = to_json_value(POD)["spec"]
    assert spec["terminationGracePeriodSeconds"] == 0
    assert spec["securityContext"]["runAsNonRoot"] is False


def test_zeros_that_nobody_set_are_left_out() -> None:
    assert set(to_json_value(POD)["spec"]) == {"volumes", "terminationGracePeriodSeconds", "securityContext"}


def test_lists_of_numbers_are_read() -> None:
    assert to_json_value(POD)["spec"]["securityContext"]["supplementalGroups"] == [1, 2]


def test_fields_that_go_writes_inline_are_among_the_outer_ones() -> None:
    assert to_json_value(POD)["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]


def test_delete_options_are_the_same_in_every_group() -> None:
    assert to_json_value(DELETE_OPTIONS) == {
        "apiVersion": "apps/v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "u1"},
        "propagationPolicy": "Background",
    }


def test_a_port_is_a_number_or_a_name() -> None:
    assert [port["targetPort"] for port in to_json_value(SERVICE)["spec"]["ports"]] == ["http", 8080]


def test_times_have_whole_seconds_or_six_digits() -> None:
    lease = to_json_value(LEASE)
    assert lease["metadata"]["creationTimestamp"] == "2026-01-02T03:04:05Z"
    assert lease["spec"]["renewTime"] == "2026-01-02T03:04:05.000006Z"


def test_json_inside_keeps_its_nulls() -> None:
    assert to_json_value(REVISION)["data"] == {"spec": {"replicas": None}}


def test_numbers_may_be_negative() -> None:
    assert to_json_value(REVISION)["revision"] == -1


def test_a_list_that_is_a_message_of_its_own_is_a_list() -> None:
    assert to_json_value(REVIEW)["spec"]["extra"] == {"scopes": ["a", "b"]}


def test_the_schema_of_a_crd_takes_its_many_forms() -> None:
    assert schema_of(to_json_value(DEFINITION)) == {
        "type": "object",
        "default": {"a": None},
        "maximum": 5,
        "minimum": 0.5,
        "enum": [1, None],
        "properties": {
            "a": {"items": {"type": "string"}},
            "b": {"additionalProperties": {"type": "integer"}},
            "c": {"additionalItems": False},
            "d": {"items": [{"type": "string"}]},
        },
        "additionalProperties": True,
        "dependencies": {"a": ["b"], "b": {"type": "null"}},
        "x-kubernetes-preserve-unknown-fields": False,
    }


def test_a_whole_number_is_no_fraction_in_json() -> None:
    assert isinstance(schema_of(to_json_value(DEFINITION))["maximum"], int)


def test_fields_that_nobody_knows_are_skipped() -> None:
    unknown = field(900, "later") + number(901 << 3) + b"\x01" + number(902 << 3 | 1) + bytes(8) + number(903 << 3 | 5)
    message = field(1, field(1, "greeting")) + unknown + bytes(4)
    assert to_json_value(body("v1", "ConfigMap", message))["metadata"] == {"name": "greeting"}


def test_what_is_left_out_of_a_map_is_empty() -> None:
    assert to_json_value(body("v1", "ConfigMap", field(2, field(1, "a")) + field(2, b"")))["data"] == {"a": "", "": ""}


def test_an_object_may_be_empty() -> None:
    assert to_json_value(body("v1", "ConfigMap", b"")) == {"apiVersion": "v1", "kind": "ConfigMap"}


def test_every_served_kind_has_a_message() -> None:
    kinds = [kind_of(model) for model in builtin_models()]
    for kind in kinds:
        assert to_json_value(body(kind.api_version, kind.name, b""))["kind"] == kind.name


def test_every_message_that_is_named_is_stated() -> None:
    words = [word for text in MESSAGES.values() for word in text.split()]
    assert all(len(word.split(":")) == 3 for word in words)
    assert {message for text in KINDS.values() for message in text.split()} <= MESSAGES.keys()


@pytest.mark.parametrize(
    ("api_version", "kind"), [("v1", "Deployment"), ("demo.windvane.dev/v1", "Website"), ("v1", "PodSpec"), ("", "")]
)
def test_an_unknown_kind_is_named_in_the_error(api_version: str, kind: str) -> None:
    with pytest.raises(ValueError, match=f'kind "{kind}" in version "{api_version}": send it as JSON'):
        to_json_value(body(api_version, kind, b""))


@pytest.mark.parametrize("start", [b"", b"k8s", b'{"kind": "Pod"}'])
def test_a_body_without_the_magic_bytes_is_refused(start: bytes) -> None:
    with pytest.raises(ValueError, match="must start with the bytes"):
        to_json_value(start)


@pytest.mark.parametrize("at", [3, 4])
def test_an_encoded_message_is_refused(at: int) -> None:
    with pytest.raises(ValueError, match="not compressed"):
        to_json_value(body("v1", "Pod", b"") + field(at, "gzip"))


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (field(1, field(1, b"\xff")), r"core\.v1\.ConfigMap\.metadata\.name: the text is not UTF-8"),
        (field(1, b"\x08\x01"), r"metadata\.name: a string is expected here"),
        (b"\x08\x01", r"metadata: a message is expected here"),
        (b"\x0a\x7f", "ends in the middle of a field"),
        (b"\x0a", "ends in the middle of a number"),
        (b"\x08" + b"\xff" * 10 + b"\x01", "more than 64 bits"),
        (b"\x00\x01", "the number 0"),
        (b"\x0b\x0c", "wire type 3"),
        (field(1, field(8, b"\x08" + number(2**62))), r"creationTimestamp: the time is not in the years 1 to 9999"),
        (field(1, field(17, field(7, field(1, "{")))), r"managedFields\.fieldsV1\.Raw: this is not JSON: "),
    ],
)
def test_what_is_wrong_is_said_with_its_place(message: bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        to_json_value(body("v1", "ConfigMap", message))


def test_a_schema_that_is_nested_without_end_is_refused() -> None:
    schema = b""
    for _ in range(5_000):
        schema = field(28, schema)
    definition = field(2, field(7, field(4, field(1, schema))))
    with pytest.raises(ValueError, match="more than 100 messages are in one another"):
        to_json_value(body("apiextensions.k8s.io/v1", "CustomResourceDefinition", definition))


def test_more_fields_than_an_object_can_have_are_refused() -> None:
    containers = field(2, b"") * (MOST_FIELDS + 1)
    with pytest.raises(ValueError, match=f"more than {MOST_FIELDS} fields"):
        to_json_value(body("v1", "Pod", field(2, containers)))


@pytest.mark.parametrize("whole", RECORDED)
def test_a_body_that_ends_early_is_read_or_refused_and_never_breaks(whole: bytes) -> None:
    for end in range(len(whole)):
        read_or_refuse(whole[:end])


@given(st.data())
def test_a_damaged_body_is_read_or_refused_and_never_breaks(data: st.DataObject) -> None:
    damaged = bytearray(data.draw(st.sampled_from(RECORDED)))
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(4, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    read_or_refuse(bytes(damaged))


@given(st.sampled_from(["Pod", "Service", "Event", "Node"]), st.binary(max_size=200))
def test_random_bytes_are_read_or_refused_and_never_break(kind: str, message: bytes) -> None:
    read_or_refuse(body("v1", kind, message))


def read_or_refuse(whole: bytes) -> None:
    with suppress(ValueError):
        assert isinstance(to_json_value(whole), dict)
