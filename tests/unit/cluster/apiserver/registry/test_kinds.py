import subprocess
import sys
from functools import cache

import pytest

from windvane.api.resource import Object
from windvane.cluster.apiserver.registry import builtin as module
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.kinds import builtin_types, group_priorities, strategies, watched_models
from windvane.cluster.apiserver.schema.models import builtin_models
from windvane.k8s import apps, authorization, autoscaling, core, policy


def served() -> dict[type[Object], BuiltinStrategy]:
    return {each.model: each for type_ in builtin_types() if isinstance(each := type_.strategy, BuiltinStrategy)}


def test_every_class_has_a_strategy() -> None:
    assert set(builtin_models()) <= strategies().keys()


def test_a_kind_is_served_as_its_class_says() -> None:
    deployment = served()[apps.Deployment]
    assert (deployment.kind.api_version, deployment.kind.plural) == ("apps/v1", "deployments")
    assert deployment.is_routed
    assert deployment.has_status


def test_no_kind_is_served_twice() -> None:
    types = builtin_types()
    assert len({each.kind for each in types}) == len(types)


def test_kinds_of_subresources_have_no_place_of_their_own() -> None:
    assert not served().keys() & {autoscaling.Scale, policy.Eviction}


def test_what_can_not_be_watched_is_not_offered() -> None:
    watched = watched_models()
    assert core.Pod in watched
    assert not {core.Binding, core.ComponentStatus, autoscaling.Scale} & set(watched)


def test_most_kinds_have_all_verbs() -> None:
    assert len(served()[core.Pod].verbs) == 8


def test_a_review_can_only_be_asked_for() -> None:
    assert served()[authorization.SubjectAccessReview].verbs == ("create",)


def test_namespaces_can_not_be_deleted_all_at_once() -> None:
    assert "deletecollection" not in served()[core.Namespace].verbs


def test_pods_can_be_selected_by_their_node() -> None:
    assert "spec.nodeName" in served()[core.Pod].selectable_fields


def test_events_can_be_selected_by_what_they_are_about() -> None:
    assert "involvedObject.name" in served()[core.Event].selectable_fields


def test_the_schema_has_the_fields_of_the_class() -> None:
    assert "containers" in served()[core.Pod].schema["properties"]["spec"]["properties"]


def test_a_schema_is_made_once_for_all_servers_and_only_when_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def schema(model: type[Object], *, builtin: bool) -> dict[str, str]:
        made.append((model, builtin))
        return {"type": "object"}

    monkeypatch.setattr(module, "schema", schema)
    monkeypatch.setattr(module, "_schema_of", cache(module._schema_of.__wrapped__))
    pod, another_servers = served()[core.Pod], served()[core.Pod]
    assert made == []
    assert pod.schema is another_servers.schema
    assert made == [(core.Pod, True)]


def test_some_kinds_come_back_when_they_are_deleted() -> None:
    assert served()[core.Pod].returned_when_deleted
    assert not served()[apps.Deployment].returned_when_deleted


def test_every_group_says_where_it_is_listed() -> None:
    priorities = group_priorities()
    assert priorities.keys() == {strategy().kind.group for strategy in strategies().values()}
    assert priorities[""] == max(priorities.values())


def test_what_a_few_kinds_need_is_not_imported_for_all() -> None:
    served = "from windvane.cluster.apiserver.registry.kinds import builtin_types; builtin_types()"
    told = "import sys; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", f"{served}; {told}"], check=True, capture_output=True, text=True)
    assert not {"cryptography", "windvane.api.cel.compiler"} & set(found.stdout.split())
