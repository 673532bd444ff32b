"""ValidatingAdmissionPolicies whose expressions don't fit the kinds that they are about."""

from typing import Any

from integration.controllers.cluster import Cluster
from windvane import Resource, Spec, Status
from windvane.api.custom_resources.crd import crd
from windvane.api.meta import ObjectMeta
from windvane.k8s.admissionregistration import (
    MatchResources,
    NamedRuleWithOperations,
    ParamKind,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicySpec,
    Validation,
    Variable,
)

DEPLOYMENTS = NamedRuleWithOperations(
    api_groups=["apps"], api_versions=["v1"], resources=["deployments"], operations=["CREATE"]
)


class Size(Spec):
    size: int


class Sized(Resource[Size, Status], group="sizes.windvane.dev", version="v1"):
    pass


async def checked(cluster: Cluster, *validations: Validation, **spec: Any) -> list[tuple[str, str]]:
    """The warnings about a policy, once it was looked at."""
    stated = {"match_constraints": MatchResources(resource_rules=[DEPLOYMENTS]), **spec}
    policy = ValidatingAdmissionPolicy(
        metadata=ObjectMeta(name="p"), spec=ValidatingAdmissionPolicySpec(validations=[*validations], **stated)
    )
    await cluster.admin.create(policy)
    await cluster.settled()
    found = await cluster.admin.get(ValidatingAdmissionPolicy, "p")
    assert found.status.observed_generation == found.metadata.generation
    assert found.status.type_checking is not None
    return [(each.field_ref, each.warning) for each in found.status.type_checking.expression_warnings]


async def test_nothing_is_told_about_expressions_that_fit(cluster: Cluster) -> None:
    assert await checked(cluster, Validation(expression="object.spec.replicas > 1")) == []


async def test_what_does_not_fit_is_told_with_its_place(cluster: Cluster) -> None:
    message = "'wants more than 1, got ' + object.spec.replicas"
    found = await checked(cluster, Validation(expression="object.spec.replicas > '1'", message_expression=message))
    assert found == [
        (
            "spec.validations[0].expression",
            (
                "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to "
                "'(int, string)'\n | object.spec.replicas > '1'\n | .....................^\n"
            ),
        ),
        (
            "spec.validations[0].messageExpression",
            (
                "apps/v1, Kind=Deployment: ERROR: <input>:1:27: found no matching overload for '_+_' applied to "
                "'(string, int)'\n | 'wants more than 1, got ' + object.spec.replicas\n | ..........................^\n"
            ),
        ),
    ]


async def test_fields_that_are_not_there_are_told(cluster: Cluster) -> None:
    [(field, warning)] = await checked(
        cluster,
        Validation(expression="variables.size > 1"),
        Validation(expression="object.metadata.labels['a'] == params.data.nothing"),
        Validation(expression="object.spec.size > 1"),
        variables=[Variable(name="size", expression="object.spec.replicas")],
        param_kind=ParamKind(api_version="v1", kind="ConfigMap"),
    )
    assert field == "spec.validations[2].expression"
    assert "undefined field 'size'" in warning


async def test_what_is_about_any_kind_is_not_checked(cluster: Cluster) -> None:
    anything = NamedRuleWithOperations(api_groups=["*"], api_versions=["*"], resources=["*"], operations=["CREATE"])
    match = MatchResources(resource_rules=[anything])
    assert await checked(cluster, Validation(expression="object.spec.size > 1"), match_constraints=match) == []


async def test_a_changed_policy_is_checked_again(cluster: Cluster) -> None:
    await checked(cluster, Validation(expression="object.spec.replicas > 1"))
    change = {"spec": {"validations": [{"expression": "object.spec.replicas > '1'"}]}}
    await cluster.admin.patch(ValidatingAdmissionPolicy, "p", change)
    await cluster.settled()
    found = await cluster.admin.get(ValidatingAdmissionPolicy, "p")
    assert found.status.type_checking is not None
    assert len(found.status.type_checking.expression_warnings) == 1


async def test_custom_kinds_are_known_by_their_schemas(cluster: Cluster) -> None:
    await cluster.admin.create(crd(Sized))
    sized = NamedRuleWithOperations(
        api_groups=["sizes.windvane.dev"], api_versions=["v1"], resources=["sizeds"], operations=["CREATE"]
    )
    validations = [Validation(expression="object.spec.size > 1"), Validation(expression="object.spec.size > '1'")]
    [(field, warning)] = await checked(cluster, *validations, match_constraints=MatchResources(resource_rules=[sized]))
    assert field == "spec.validations[1].expression"
    assert warning.startswith("sizes.windvane.dev/v1, Kind=Sized: ERROR: <input>:1:18: found no matching overload")
