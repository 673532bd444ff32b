"""How an answer looks: tables for kubectl, metadata alone, YAML, and what can't be served."""

import gzip
from typing import Any

import pytest

from conformance.crds import gadget
from conformance.objects import config_map, deployment, job, pod, service
from conformance.requests import Raw, Refused
from conformance.streaming import MARKED, first_change, first_event, streaming

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
META = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
METAS = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

COLUMNS = [
    ("configmaps", ["Name", "Data", "Age"]),
    ("secrets", ["Name", "Type", "Data", "Age"]),
    ("pods", ["Name", "Ready", "Status", "Restarts", "Age", "IP*", "Node*", "Nominated Node*", "Readiness Gates*"]),
    ("services", ["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector*"]),
    ("deployments", ["Name", "Ready", "Up-to-date", "Available", "Age", "Containers*", "Images*", "Selector*"]),
    ("replicasets", ["Name", "Desired", "Current", "Ready", "Age", "Containers*", "Images*", "Selector*"]),
    ("statefulsets", ["Name", "Ready", "Age", "Containers*", "Images*"]),
    (
        "daemonsets",
        [
            "Name",
            "Desired",
            "Current",
            "Ready",
            "Up-to-date",
            "Available",
            "Node Selector",
            "Age",
            "Containers*",
            "Images*",
            "Selector*",
        ],
    ),
    ("jobs", ["Name", "Status", "Completions", "Duration", "Age", "Containers*", "Images*", "Selector*"]),
    (
        "cronjobs",
        [
            "Name",
            "Schedule",
            "Timezone",
            "Suspend",
            "Active",
            "Last Schedule",
            "Age",
            "Containers*",
            "Images*",
            "Selector*",
        ],
    ),
    (
        "persistentvolumeclaims",
        [
            "Name",
            "Status",
            "Volume",
            "Capacity",
            "Access Modes",
            "StorageClass",
            "VolumeAttributesClass",
            "Age",
            "VolumeMode*",
        ],
    ),
    ("serviceaccounts", ["Name", "Age"]),
    ("ingresses", ["Name", "Class", "Hosts", "Address", "Ports", "Age"]),
    ("networkpolicies", ["Name", "Pod-Selector", "Age"]),
    ("leases", ["Name", "Holder", "Age"]),
    ("roles", ["Name", "Created At"]),
    ("rolebindings", ["Name", "Role", "Age", "Users*", "Groups*", "ServiceAccounts*"]),
    ("poddisruptionbudgets", ["Name", "Min Available", "Max Unavailable", "Allowed Disruptions", "Age"]),
    ("horizontalpodautoscalers", ["Name", "Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age"]),
    ("endpointslices", ["Name", "AddressType", "Ports", "Endpoints", "Age"]),
    (
        "events",
        ["Last Seen", "Type", "Reason", "Object", "Subobject*", "Source*", "Message", "First Seen*", "Count*", "Name*"],
    ),
    ("resourcequotas", ["Name", "Request", "Limit", "Age"]),
    ("limitranges", ["Name", "Created At"]),
    ("endpoints", ["Name", "Endpoints", "Age"]),
    ("gadgets", ["Name", "Size", "Color", "Code*", "Age"]),
    ("plainthings", ["Name", "Age"]),
    ("/api/v1/namespaces", ["Name", "Status", "Age"]),
    (
        "/api/v1/nodes",
        [
            "Name",
            "Status",
            "Roles",
            "Age",
            "Version",
            "Internal-IP*",
            "External-IP*",
            "OS-Image*",
            "Kernel-Version*",
            "Container-Runtime*",
        ],
    ),
    (
        "/api/v1/persistentvolumes",
        [
            "Name",
            "Capacity",
            "Access Modes",
            "Reclaim Policy",
            "Status",
            "Claim",
            "StorageClass",
            "VolumeAttributesClass",
            "Reason",
            "Age",
            "VolumeMode*",
        ],
    ),
    (
        "/apis/storage.k8s.io/v1/storageclasses",
        ["Name", "Provisioner", "ReclaimPolicy", "VolumeBindingMode", "AllowVolumeExpansion", "Age"],
    ),
    ("/apis/rbac.authorization.k8s.io/v1/clusterroles", ["Name", "Created At"]),
    ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", ["Name", "Created At"]),
    ("/apis/scheduling.k8s.io/v1/priorityclasses", ["Name", "Value", "Global-Default", "Age", "PreemptionPolicy"]),
]


@pytest.mark.parametrize(("path", "columns"), COLUMNS, ids=[each[0].rpartition("/")[2] for each in COLUMNS])
async def test_a_table_has_the_columns_that_kubectl_shows(raw: Raw, crds: None, path: str, columns: list[str]) -> None:
    table = await raw.ok(f"GET {path}?limit=1", accept=TABLE)
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    shown = [each["name"] + ("*" if each["priority"] else "") for each in table["columnDefinitions"]]
    assert shown == columns  # those with a star only in wide output


# A real server gives such low addresses and ports, 10.0.0.2 to 10.0.0.255 and 30000 to 30085, only to who names them:
# any other may be that of a service of another test. The embedded one begins with 10.0.0.11 and 30000.
CELLS = [
    ("configmaps", config_map(data={"k": "v", "n": "w"}), ["a", 2]),
    ("secrets", {"metadata": {"name": "s"}, "data": {"k": "eA=="}}, ["s", "Opaque", 1]),
    ("pods", pod(), ["p", "0/1", "Pending", "0"]),
    ("services", service(clusterIP="10.0.0.2"), ["s", "ClusterIP", "10.0.0.2", "<none>", "80/TCP"]),
    (
        "services",
        service(type="NodePort", clusterIP="10.0.0.3", ports=[{"port": 80, "nodePort": 30085}]),
        ["s", "NodePort", "10.0.0.3", "<none>", "80:30085/TCP"],
    ),
    ("deployments", deployment(replicas=2), ["web", "0/2", 0, 0]),
    ("replicasets", deployment(replicas=2), ["web", 2, 0, 0]),
    ("statefulsets", deployment(replicas=2, serviceName="s"), ["web", "0/2"]),
    ("jobs", job(completions=3), ["j", "Running", "0/3", ""]),
    (
        "persistentvolumeclaims",
        {
            "metadata": {"name": "c"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        },
        ["c", "Pending", "", "", "", ""],
    ),
    ("leases", {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me"}}, ["l", "me"]),
    ("gadgets", gadget(code="abc"), ["g", 1, "red", "abc"]),
]


@pytest.mark.parametrize(("plural", "thing", "cells"), CELLS)
async def test_the_cells_of_a_row(raw: Raw, crds: None, plural: str, thing: Any, cells: list[Any]) -> None:
    await raw.ok(f"POST {plural}", thing)
    (row,) = (await raw.ok(f"GET {plural}", accept=TABLE))["rows"]
    assert row["cells"][: len(cells)] == cells


async def test_a_table_carries_the_metadata_of_each_row(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    table = await raw.ok("GET configmaps", accept=TABLE)
    assert set(table["metadata"]) == {"resourceVersion"}
    shown = table["rows"][0]["object"]
    assert (shown["kind"], shown["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert shown["metadata"] == made["metadata"]


@pytest.mark.parametrize(
    ("include", "kind"), [("None", None), ("Metadata", "PartialObjectMetadata"), ("Object", "ConfigMap")]
)
async def test_a_table_includes_what_it_is_asked_to(raw: Raw, include: str, kind: str | None) -> None:
    await raw.ok("POST configmaps", config_map())
    table = await raw.ok(f"GET configmaps?includeObject={include}", accept=TABLE)
    assert (table["rows"][0].get("object") or {}).get("kind") == kind


async def test_one_object_is_a_table_of_one_row(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    table = await raw.ok("GET configmaps/a", accept=TABLE)
    assert len(table["rows"]) == 1
    assert table["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


async def test_an_empty_table_has_its_columns(raw: Raw) -> None:
    table = await raw.ok("GET configmaps", accept=TABLE)
    assert (table["rows"], len(table["columnDefinitions"])) == ([], 3)


async def test_a_watch_of_tables_has_columns_in_its_first_event_only(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a"))
    async with streaming(raw, "configmaps", TABLE) as ((_, first), events):
        await raw.ok("POST configmaps", config_map("b"))
        _, second = await events.next()
    assert (first["kind"], len(first["columnDefinitions"])) == ("Table", 3)
    assert second["columnDefinitions"] is None


async def test_the_description_of_a_column(raw: Raw) -> None:
    table = await raw.ok("GET configmaps", accept=TABLE)
    assert table["columnDefinitions"][1] == {
        "name": "Data",
        "type": "string",
        "format": "",
        "description": (
            "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', "
            "'_' or '.'. Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored "
            "in Data must not overlap with the keys in the BinaryData field, this is enforced during "
            "validation process."
        ),
        "priority": 0,
    }


async def test_the_columns_of_a_custom_kind_are_described(raw: Raw, crds: None) -> None:
    table = await raw.ok("GET gadgets", accept=TABLE)
    assert table["columnDefinitions"][1:3] == [
        {"name": "Size", "type": "integer", "format": "", "description": "How large it is.", "priority": 0},
        {
            "name": "Color",
            "type": "string",
            "format": "",
            "description": "Custom resource definition column (in JSONPath format): .spec.color",
            "priority": 0,
        },
    ]


async def test_metadata_alone_of_one_object(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map(data={"k": "v"}))
    assert await raw.ok("GET configmaps/a", accept=META) == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": made["metadata"],
    }


async def test_metadata_alone_of_many(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    found = await raw.ok("GET configmaps", accept=METAS)
    assert (found["kind"], found["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1")
    assert found["items"][0]["metadata"] == made["metadata"]


async def test_a_watch_of_metadata_alone(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    kind, seen = await first_event(raw, "configmaps", META)
    assert (kind, seen["kind"], set(seen)) == ("ADDED", "PartialObjectMetadata", {"kind", "apiVersion", "metadata"})


async def test_metadata_alone_of_a_custom_kind(raw: Raw, crds: None) -> None:
    await raw.ok("POST gadgets", gadget())
    assert (await raw.ok("GET gadgets/g", accept=META))["kind"] == "PartialObjectMetadata"


async def test_yaml(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map(data={"k": "v"}))
    answer = await raw("GET configmaps/a", accept="application/yaml")
    assert answer.content_type == "application/yaml"
    lines = answer.body.decode().splitlines()
    assert lines[:4] == ["apiVersion: v1", "data:", "  k: v", "kind: ConfigMap"]


async def test_text_in_yaml_that_could_be_read_as_something_else_has_double_quotes(raw: Raw) -> None:
    data = {"a": "true", "b": "", "c": "1", "d": "*", "e": "null", "f": "2001-01-01", "g": "plain text", "h": "1.5"}
    await raw.ok("POST configmaps", config_map(data=data))
    body = (await raw("GET configmaps/a", accept="application/yaml")).body.decode()
    written = ['"true"', '""', '"1"', "'*'", '"null"', '"2001-01-01"', "plain text", '"1.5"']
    lines = [f"  {key}: {each}\n" for key, each in zip(data, written, strict=True)]
    assert f"data:\n{''.join(lines)}kind:" in body


async def test_json_for_people(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    answer = await raw("GET configmaps/a?pretty=true")
    assert answer.body.startswith(b'{\n  "kind": "ConfigMap",\n  "apiVersion": "v1",\n')


async def test_a_body_ends_with_a_line_break(raw: Raw) -> None:
    assert (await raw("GET configmaps")).body.endswith(b"}\n")


async def test_a_long_answer_is_compressed_if_asked(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map(data={"k": "x" * 200_000}))
    answer = await raw("GET configmaps/a", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert b"x" * 200_000 in gzip.decompress(answer.body)


async def test_a_short_answer_is_not_compressed(raw: Raw) -> None:
    answer = await raw("GET configmaps", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in answer.headers


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("application/yaml;q=0.9, application/json;q=0.5", "application/yaml"),
        ("application/json;q=0.5, application/yaml;q=0.9", "application/yaml"),
        ("application/json;q=0.5,application/yaml;q=0.5", "application/json"),
        ("text/html, application/xhtml+xml, */*;q=0.1", "application/json"),
        ("*/*, application/yaml", "application/yaml"),
        ("application/json;q=0", "application/json"),
        ("application/json;q=much, application/yaml;q=0.1", "application/yaml"),
        ("application/json;charset=utf-8", "application/json"),
        ("application/json;as=Poem;v=v1;g=meta.k8s.io, application/yaml", "application/yaml"),
    ],
)
async def test_the_most_welcome_type_is_sent(raw: Raw, accept: str, content_type: str) -> None:
    answer = await raw("GET configmaps", accept=accept)
    assert (answer.code, answer.content_type) == (200, content_type)


async def test_a_table_of_the_version_before(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    table = await raw.ok("GET configmaps", accept="application/json;as=Table;v=v1beta1;g=meta.k8s.io")
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1beta1")
    assert table["rows"][0]["object"]["apiVersion"] == "meta.k8s.io/v1beta1"


async def test_an_error_is_told_in_yaml_to_who_reads_yaml(raw: Raw) -> None:
    answer = await raw("GET configmaps/nope", accept="application/yaml")
    assert (answer.code, answer.content_type) == (404, "application/yaml")
    assert answer.body.startswith(
        b"apiVersion: v1\ncode: 404\ndetails:\n  kind: configmaps\n  name: nope\nkind: Status\n"
    )


async def test_an_item_of_a_list_in_yaml_says_neither_its_kind_nor_its_version(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    body = (await raw("GET configmaps", accept="application/yaml")).body.decode()
    assert body.startswith("apiVersion: v1\nitems:\n- metadata:\n")


async def test_there_is_no_watch_in_yaml(raw: Raw) -> None:
    answer = await raw("GET configmaps?watch=true", accept="application/yaml")
    assert (answer.code, answer.content_type) == (406, "application/yaml")
    assert b"application/json;stream=watch" in answer.body


PEOPLE = [
    ("?pretty=1", "conformance/1", True),
    ("?pretty=T", "conformance/1", True),
    ("?pretty=yes", "conformance/1", False),
    ("?pretty", "conformance/1", False),
    ("", "curl/8.5.0", True),
    ("", "Mozilla/5.0 (X11; Linux x86_64)", True),
    ("", "Wget/1.21", True),
    ("?pretty=false", "curl/8.5.0", False),
    ("?pretty", "curl/8.5.0", True),
]


@pytest.mark.parametrize(("query", "agent", "pretty"), PEOPLE)
async def test_people_get_a_line_for_each_field(raw: Raw, query: str, agent: str, pretty: bool) -> None:
    await raw.ok("POST configmaps", config_map())
    body = (await raw(f"GET configmaps/a{query}", headers={"User-Agent": agent})).body
    assert body.startswith(b'{\n  "kind"' if pretty else b'{"kind"')
    assert body.endswith(b"}") if pretty else body.endswith(b"}\n")


async def test_a_media_type_can_ask_for_pretty_json(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    answer = await raw("GET configmaps/a", accept="application/json;pretty=1")
    assert answer.body.startswith(b'{\n  "kind"')


async def test_an_error_is_pretty_too(raw: Raw) -> None:
    assert (await raw("GET configmaps/nope?pretty=true")).body.startswith(b'{\n  "kind": "Status",\n')


async def test_an_error_is_pretty_for_who_asks_for_a_table(raw: Raw) -> None:
    assert (await raw("GET configmaps/nope", accept=TABLE)).body.startswith(b'{\n  "kind": "Status",\n')


async def test_a_watch_is_never_pretty(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    assert await first_change(raw, "configmaps", pretty="true") == ("ADDED", "a")


async def test_no_metadata_at_all_is_null(raw: Raw) -> None:
    assert (await raw.ok("GET configmaps", accept=METAS))["items"] is None


async def test_what_can_not_be_shown_is_stored_all_the_same(raw: Raw) -> None:
    assert (await raw("POST configmaps", config_map(), accept=METAS)).code == 406
    assert (await raw("GET configmaps/a")).code == 200


async def test_a_type_that_is_not_offered_keeps_a_request_from_being_done(raw: Raw) -> None:
    assert (await raw("POST configmaps", config_map(), accept="text/html")).code == 406
    assert (await raw("GET configmaps/a")).code == 404


async def test_an_answer_to_a_question_is_no_table(raw: Raw) -> None:
    review = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
    answer = await raw("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review, accept=TABLE)
    assert answer.refusal == Refused(
        406,
        "NotAcceptable",
        "only the following media types are accepted: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf",
    )


async def test_a_collection_offers_streams_too(raw: Raw) -> None:
    answer = await raw("GET configmaps", accept="text/html")
    assert answer.refusal == Refused(
        406,
        "NotAcceptable",
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf, application/json;stream=watch, "
        "application/vnd.kubernetes.protobuf;stream=watch",
        "",
    )


async def test_metadata_of_one_for_a_custom_list(raw: Raw, crds: None) -> None:
    answer = await raw("GET gadgets", accept=META)
    assert answer.refusal == Refused(
        406,
        "NotAcceptable",
        "you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)",
    )


@pytest.mark.parametrize(
    ("include", "kind"), [("None", None), ("Metadata", "PartialObjectMetadata"), ("Object", "ConfigMap"), ("", None)]
)
async def test_a_watch_of_tables_includes_what_it_is_asked_to(raw: Raw, include: str, kind: str | None) -> None:
    made = await raw.ok("POST configmaps", config_map())
    _, table = await first_event(raw, "configmaps", TABLE, includeObject=include)
    assert table["metadata"] == {"resourceVersion": made["metadata"]["resourceVersion"]}
    shown = table["rows"][0].get("object")
    assert (shown and shown["kind"]) == (kind if include else "PartialObjectMetadata")


async def test_a_watch_of_tables_that_includes_something_else_does_not_begin(raw: Raw) -> None:
    answer = await raw("GET configmaps?watch=true&includeObject=Half", accept=TABLE)
    assert answer.refusal.code == 400


async def test_a_bookmark_is_a_table_with_an_empty_row(raw: Raw) -> None:
    kind, table = await first_event(raw, "configmaps", TABLE, **MARKED)
    assert (kind, table["kind"], len(table["columnDefinitions"])) == ("BOOKMARK", "Table", 3)
    (row,) = table["rows"]
    assert row["cells"] == ["", 0, "<unknown>"]
    assert row["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert table["metadata"]["resourceVersion"] == row["object"]["metadata"]["resourceVersion"]


@pytest.mark.parametrize("plural", ["gadgets", "pods", "deployments", "services", "events", "jobs", "secrets"])
async def test_a_bookmark_of_any_kind_is_a_table(raw: Raw, crds: None, plural: str) -> None:
    kind, table = await first_event(raw, plural, TABLE, **MARKED)
    assert (kind, table["kind"], len(table["rows"])) == ("BOOKMARK", "Table", 1)


async def test_a_bookmark_can_be_metadata_alone(raw: Raw) -> None:
    kind, seen = await first_event(raw, "configmaps", META, **MARKED)
    assert (kind, seen["kind"], seen["apiVersion"]) == ("BOOKMARK", "PartialObjectMetadata", "meta.k8s.io/v1")
    assert set(seen) == {"kind", "apiVersion", "metadata"}


@pytest.mark.parametrize("accept_encoding", ["gzip", "deflate, gzip", "br,gzip"])
async def test_gzip_may_be_one_of_several_encodings(raw: Raw, accept_encoding: str) -> None:
    await raw.ok("POST configmaps", config_map(data={"k": "x" * 200_000}))
    answer = await raw("GET configmaps/a", headers={"Accept-Encoding": accept_encoding})
    assert answer.headers["Content-Encoding"] == "gzip"


@pytest.mark.parametrize("accept_encoding", ["", "identity", "deflate", "gzip;q=0", "x-gzip"])
async def test_who_does_not_ask_for_gzip_gets_none(raw: Raw, accept_encoding: str) -> None:
    await raw.ok("POST configmaps", config_map(data={"k": "x" * 200_000}))
    answer = await raw("GET configmaps/a", headers={"Accept-Encoding": accept_encoding})
    assert "Content-Encoding" not in answer.headers


async def test_what_was_written_is_shown_compressed_too(raw: Raw) -> None:
    answer = await raw("POST configmaps", config_map(data={"k": "x" * 200_000}), headers={"Accept-Encoding": "gzip"})
    assert (answer.code, answer.headers.get("Content-Encoding")) == (201, "gzip")
