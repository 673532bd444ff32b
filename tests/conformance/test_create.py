"""Creating objects: what the server fills in, what it takes away, and what it refuses."""

import re
from typing import Any

import pytest

from conformance.objects import Thing, config_map, deployment, job, pod, service, without
from conformance.requests import Raw


async def test_the_server_gives_uid_version_and_time(raw: Raw) -> None:
    meta = (await raw.ok("POST configmaps", config_map()))["metadata"]
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", meta["uid"])
    assert meta["resourceVersion"].isdecimal()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", meta["creationTimestamp"])
    assert set(meta) == {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}


async def test_a_time_that_is_brought_along_is_replaced(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map(metadata={"creationTimestamp": "2001-01-01T00:00:00Z"}))
    assert not made["metadata"]["creationTimestamp"].startswith("2001")


async def test_every_write_has_a_higher_version(raw: Raw) -> None:
    versions = [
        int((await raw.ok("POST configmaps", config_map(name)))["metadata"]["resourceVersion"]) for name in "abc"
    ]
    assert versions == sorted(set(versions))


async def test_a_dry_run_makes_nothing(raw: Raw) -> None:
    await raw.ok("POST configmaps?dryRun=All", config_map())
    assert (await raw("GET configmaps/a")).code == 404


async def test_a_dry_run_of_what_exists_is_refused_all_the_same(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    assert (await raw("POST configmaps?dryRun=All", config_map())).refusal.reason == "AlreadyExists"


async def test_generate_name_adds_five_characters_without_vowels(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", {"metadata": {"generateName": "x-"}})
    assert re.fullmatch(r"x-[bcdfghjklmnpqrstvwxz2456789]{5}", made["metadata"]["name"])
    assert made["metadata"]["generateName"] == "x-"


async def test_a_name_wins_over_generate_name(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", {"metadata": {"generateName": "x-", "name": "a"}})
    assert made["metadata"]["name"] == "a"


async def test_generate_name_is_cut_so_that_the_name_fits_a_label(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", {"metadata": {"generateName": "x" * 70}})
    assert made["metadata"]["name"][:58] == "x" * 58
    assert len(made["metadata"]["name"]) == 63


async def test_secrets_read_string_data_and_never_show_it(raw: Raw) -> None:
    made = await raw.ok(
        "POST secrets", {"metadata": {"name": "s"}, "data": {"a": "eA=="}, "stringData": {"a": "y", "b": "z"}}
    )
    assert (made["data"], made["type"]) == ({"a": "eQ==", "b": "eg=="}, "Opaque")
    assert "stringData" not in made


async def test_a_deployment_is_filled_with_defaults(raw: Raw) -> None:
    made = await raw.ok("POST deployments", deployment())
    assert made["spec"] == {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "main",
                        "image": "nginx",
                        "resources": {},
                        "terminationMessagePath": "/dev/termination-log",
                        "terminationMessagePolicy": "File",
                        "imagePullPolicy": "Always",
                    }
                ],
                "restartPolicy": "Always",
                "terminationGracePeriodSeconds": 30,
                "dnsPolicy": "ClusterFirst",
                "securityContext": {},
                "schedulerName": "default-scheduler",
            },
        },
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    }
    assert made["status"] == {}


async def test_a_pod_is_filled_with_defaults(raw: Raw) -> None:
    made = await raw.ok("POST pods", pod())
    assert made["spec"] == {
        "containers": [
            {
                "name": "main",
                "image": "nginx",
                "resources": {},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "imagePullPolicy": "Always",
            }
        ],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "tolerations": [
            {
                "key": "node.kubernetes.io/not-ready",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            },
            {
                "key": "node.kubernetes.io/unreachable",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            },
        ],
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }
    assert made["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


async def test_a_service_is_filled_with_defaults_and_an_address(raw: Raw) -> None:
    made = await raw.ok("POST services", service())
    address = made["spec"].pop("clusterIP")
    assert made["spec"].pop("clusterIPs") == [address]
    assert address.startswith("10.0.")
    assert made["spec"] == {
        "ports": [{"protocol": "TCP", "port": 80, "targetPort": 80}],
        "type": "ClusterIP",
        "sessionAffinity": "None",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "internalTrafficPolicy": "Cluster",
    }
    assert made["status"] == {"loadBalancer": {}}


async def test_a_job_is_filled_with_defaults(raw: Raw) -> None:
    made = await raw.ok("POST jobs", job())
    uid = made["metadata"]["uid"]
    labels = made["spec"]["template"].pop("metadata")["labels"]
    assert labels == {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": "j",
        "controller-uid": uid,
        "job-name": "j",
    }
    assert made["spec"].pop("selector") == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert {key: value for key, value in made["spec"].items() if key != "template"} == {
        "parallelism": 1,
        "completions": 1,
        "backoffLimit": 6,
        "manualSelector": False,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed",
    }


async def test_a_stateful_set_is_filled_with_defaults(raw: Raw) -> None:
    made = await raw.ok("POST statefulsets", deployment(serviceName="s"))
    assert without(without(made["spec"], "template"), "selector") == {
        "replicas": 1,
        "serviceName": "s",
        "podManagementPolicy": "OrderedReady",
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        "revisionHistoryLimit": 10,
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    }


async def test_a_claim_is_filled_with_defaults(raw: Raw) -> None:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    made = await raw.ok("POST persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": wanted})
    assert made["spec"] == {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "volumeMode": "Filesystem",
    }
    assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    assert made["status"] == {"phase": "Pending"}


async def test_two_services_can_not_have_one_address(raw: Raw) -> None:
    first = await raw.ok("POST services", service("a"))
    answer = await raw("POST services", service("b", clusterIP=first["spec"]["clusterIP"]))
    assert answer.refusal.message.replace(first["spec"]["clusterIP"], "ADDRESS") == (
        'Service "b" is invalid: spec.clusterIPs: Invalid value: ["ADDRESS"]: failed to allocate IP '
        "ADDRESS: provided IP is already allocated"
    )


QUANTITIES = [
    ("1000m", "1"), ("0.5", "500m"), ("1e3", "1e3"), ("0.1234", "124m"), ("1024Ki", "1Mi"),
    (2, "2"), ("1.5Gi", "1536Mi"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "shown"), QUANTITIES)
async def test_a_quantity_is_shown_in_its_canonical_form(raw: Raw, written: Any, shown: str) -> None:
    made = await raw.ok("POST pods", pod(container={"resources": {"limits": {"memory": written}}}))
    assert made["spec"]["containers"][0]["resources"]["limits"] == {"memory": shown}


async def test_a_selector_can_not_be_chosen_for_a_job(raw: Raw) -> None:
    refusal = (await raw("POST jobs", job(selector={"matchLabels": {"a": "b"}}))).refusal
    assert re.sub(r'"[0-9a-f-]{36}"', "UID", refusal.message) == (
        'Job.batch "j" is invalid: [spec.selector: Invalid value: '
        '{"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":UID}}: `selector` not '
        "auto-generated, spec.template.metadata.labels: Invalid value: "
        '{"batch.kubernetes.io/controller-uid":UID,"batch.kubernetes.io/job-name":"j",'
        '"controller-uid":UID,"job-name":"j"}: '
        "`selector` does not match template `labels`]"
    )
    assert refusal.causes == ["FieldValueInvalid spec.selector", "FieldValueInvalid spec.template.metadata.labels"]


async def test_a_node_brings_its_status_along(raw: Raw) -> None:
    status = {"capacity": {"cpu": "2"}, "conditions": [{"type": "Ready", "status": "True"}]}
    made = await raw.ok("POST /api/v1/nodes", {"metadata": {"generateName": "node-"}, "status": status})
    assert made["status"]["capacity"] == made["status"]["allocatable"] == {"cpu": "2"}
    assert [(each["type"], each["status"]) for each in made["status"]["conditions"]] == [("Ready", "True")]
    assert [entry["fieldsV1"] for entry in made["metadata"]["managedFields"]] == [
        {"f:metadata": {"f:generateName": {}}}
    ]


async def test_some_lists_are_written_even_if_there_is_nothing_in_them(raw: Raw) -> None:
    limits: list[Thing] = [{}, {"limits": []}]
    for number, spec in enumerate(limits):
        made = await raw.ok("POST limitranges", {"metadata": {"name": f"l{number}"}, "spec": spec})
        assert made["spec"] == {"limits": None}
    volumes: list[Thing] = [{}, {"sources": []}]
    for number, projected in enumerate(volumes):
        made = await raw.ok("POST pods", pod(f"p{number}", volumes=[{"name": "v", "projected": projected}]))
        assert made["spec"]["volumes"] == [{"name": "v", "projected": {"sources": None, "defaultMode": 420}}]
        owned = made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:volumes"]['k:{"name":"v"}']
        assert owned["f:projected"] == {".": {}, "f:defaultMode": {}, "f:sources": {}}
        labelled = {"metadata": {"labels": {"a": "b"}}}
        assert (await raw.ok(f"PATCH pods/p{number}", labelled, patch="merge"))["spec"] == made["spec"]
