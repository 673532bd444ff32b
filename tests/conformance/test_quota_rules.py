"""Which ResourceQuotas there can be."""

from typing import Any

import pytest

from conformance.objects import Thing
from conformance.requests import Answer, Raw

NONE = "unsupported scope applied to resource"
ONLY_EXISTS = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)
NO_VALUE = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
CHOSEN = '{"ScopeName":"PriorityClass","Operator":"In","Values":["a"]}'
MATCH = "spec.scopeSelector.matchExpressions"


def selecting(*expressions: Thing) -> Thing:
    return {"scopeSelector": {"matchExpressions": expressions}}


def told(answer: Answer) -> list[tuple[str, str]]:
    causes = answer.json["details"]["causes"] if answer.code == 422 else []
    return [(cause["field"], cause["message"]) for cause in causes]


@pytest.mark.parametrize(
    ("hard", "spec", "problems"),
    [
        ({"pods": "1", "cpu": "1", "limits.memory": "1"}, {"scopes": ["NotTerminating", "NotBestEffort"]}, []),
        ({"pods": "1"}, {"scopes": ["BestEffort", "Terminating"]}, []),
        ({"pods": "1"}, {"scopes": ["CrossNamespacePodAffinity"]}, []),
        ({"persistentvolumeclaims": "1", "requests.storage": "1"}, {"scopes": ["VolumeAttributesClass"]}, []),
        (
            {"pods": "1"},
            {"scopes": ["Sometimes"]},
            [("spec.scopes", 'Invalid value: ["Sometimes"]: unsupported scope')],
        ),
        ({"cpu": "1"}, {"scopes": ["BestEffort"]}, [("spec.scopes", f'Invalid value: ["BestEffort"]: {NONE}')]),
        ({"secrets": "1"}, {"scopes": ["Terminating"]}, [("spec.scopes", f'Invalid value: ["Terminating"]: {NONE}')]),
        ({"count/secrets": "1"}, {"scopes": ["Terminating"]}, []),
        (
            {"requests.ephemeral-storage": "1"},
            {"scopes": ["Terminating"]},
            [("spec.scopes", f'Invalid value: ["Terminating"]: {NONE}')],
        ),
        (
            {"pods": "1"},
            {"scopes": ["Terminating", "NotTerminating"]},
            [("spec.scopes", 'Invalid value: ["Terminating","NotTerminating"]: conflicting scopes')],
        ),
        (
            {"pods": "1"},
            {"scopes": ["BestEffort", "NotBestEffort"]},
            [("spec.scopes", 'Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes')],
        ),
        ({"pods": "1"}, selecting({"scopeName": "PriorityClass", "operator": "In", "values": ["a"]}), []),
        ({"pods": "1"}, selecting({"scopeName": "PriorityClass", "operator": "DoesNotExist"}), []),
        (
            {"pods": "1"},
            selecting({"scopeName": "PriorityClass", "operator": "In"}),
            [
                (
                    f"{MATCH}.values",
                    "Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
                )
            ],
        ),
        (
            {"pods": "1"},
            selecting({"scopeName": "PriorityClass", "operator": "Exists", "values": ["a"]}),
            [
                (
                    f"{MATCH}.values",
                    f'Invalid value: ["a"]: {NO_VALUE}',
                )
            ],
        ),
        (
            {"pods": "1"},
            selecting({"scopeName": "PriorityClass", "operator": "Sometimes"}),
            [(f"{MATCH}.operator", 'Invalid value: "Sometimes": not a valid selector operator')],
        ),
        (
            {"pods": "1"},
            selecting({"scopeName": "Terminating", "operator": "In", "values": ["a"]}),
            [(f"{MATCH}.operator", f'Invalid value: "In": {ONLY_EXISTS}')],
        ),
        (
            {"pods": "1"},
            selecting({"scopeName": "Sometimes", "operator": "Exists"}),
            [(f"{MATCH}.scopeName", 'Invalid value: "Sometimes": unsupported scope')],
        ),
        (
            {"secrets": "1"},
            selecting({"scopeName": "PriorityClass", "operator": "In", "values": ["a"]}),
            [
                (
                    MATCH,
                    f'Invalid value: {{"MatchExpressions":[{CHOSEN}]}}: {NONE}',
                )
            ],
        ),
        (
            {"pods": "1"},
            selecting(
                {"scopeName": "Terminating", "operator": "Exists"},
                {"scopeName": "NotTerminating", "operator": "Exists"},
            ),
            [(MATCH, "Invalid value: null: conflicting scopes")],
        ),
        ({"hugepages-2Mi": "1"}, {}, []),
        ({"requests.hugepages-2Mi": "1"}, {}, []),
        ({"gold.storageclass.storage.k8s.io/requests.storage": "1Gi"}, {}, []),
        ({"pods": "1500m"}, {}, [("spec.hard[pods]", 'Invalid value: "1500m": must be an integer')]),
        ({"pods": "-1"}, {}, [("spec.hard[pods]", 'Invalid value: "-1": must be greater than or equal to 0')]),
        (
            {"nonsense": "1"},
            {},
            [
                (
                    "spec.hard[nonsense]",
                    'Invalid value: "nonsense": must be a standard resource type or fully qualified',
                ),
                ("spec.hard[nonsense]", 'Invalid value: "nonsense": must be a standard resource for quota'),
            ],
        ),
        ({"requests.example.com/gpu": "1"}, {}, []),
        ({"requests.example.com/gpu": "500m"}, {}, []),
    ],
)
async def test_what_a_quota_can_say(hard: Thing, spec: Thing, problems: list[tuple[str, str]], raw: Raw) -> None:
    answer = await raw("POST resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": hard, **spec}})
    assert told(answer) == problems


@pytest.mark.parametrize(
    ("status", "problems"),
    [
        ({"hard": {"pods": "1"}, "used": {"pods": "0"}}, []),
        ({"hard": {"pods": "500m"}}, [("status.hard[pods]", 'Invalid value: "500m": must be an integer')]),
        ({"used": {"pods": "-1"}}, [("status.used[pods]", 'Invalid value: "-1": must be greater than or equal to 0')]),
    ],
)
async def test_what_its_status_can_say(status: Any, problems: list[tuple[str, str]], raw: Raw) -> None:
    await raw.ok("POST resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}})
    assert told(await raw("PATCH resourcequotas/q/status", {"status": status}, patch="merge")) == problems
