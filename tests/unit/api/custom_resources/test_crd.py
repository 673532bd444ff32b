"""CRDs: names, versions, columns, subresources. A real server judges the whole in tests/reference."""

from typing import Any

import pytest

from everything import Everything, EverythingSpec, EverythingStatus, EverythingV1Beta1
from windvane import Column, Object, Resource, ScaleSubresource, SchemaError, Spec, Status, Struct, crd


class SmallSpec(Spec):
    replicas: int = 1
    image: str = ""


class SmallStatus(Status):
    replicas: int = 0
    selector: str = ""


def small(**keywords: Any) -> type[Object]:
    class Small(Resource[SmallSpec, SmallStatus], **{"group": "demo.windvane.dev", "version": "v1"} | keywords):
        pass

    return Small


def version(cls: type[Object]) -> dict[str, Any]:
    found: dict[str, Any] = crd(cls)["spec"]["versions"][0]
    return found


def test_one_class_makes_one_stored_version() -> None:
    made = crd(small(short_names=["sm"], categories=["all"], scope="Cluster"))
    assert made.metadata.name == "smalls.demo.windvane.dev"
    assert made["spec"]["scope"] == "Cluster"
    assert made["spec"]["names"] == {
        "plural": "smalls",
        "singular": "small",
        "kind": "Small",
        "listKind": "SmallList",
        "shortNames": ["sm"],
        "categories": ["all"],
    }
    assert [(v["name"], v["served"], v["storage"]) for v in made["spec"]["versions"]] == [("v1", True, True)]


def test_two_classes_make_two_versions_of_which_one_is_stored() -> None:
    versions = crd(Everything, EverythingV1Beta1)["spec"]["versions"]
    assert [(v["name"], v["storage"], v.get("deprecated", False)) for v in versions] == [
        ("v1", True, False),
        ("v1beta1", False, True),
    ]
    assert versions[1]["deprecationWarning"] == "tests.windvane.dev/v1beta1 Everything is deprecated; use v1"


def test_how_versions_are_converted_is_said_by_who_runs_the_operator() -> None:
    assert "conversion" not in crd(Everything, EverythingV1Beta1)["spec"]
    webhook = {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}}
    assert crd(Everything, EverythingV1Beta1, conversion=webhook)["spec"]["conversion"] == webhook


def test_columns_take_their_types_from_the_fields_and_age_comes_last() -> None:
    columns = version(Everything)["additionalPrinterColumns"]
    assert [(c["name"], c["type"], c.get("priority", 0)) for c in columns] == [
        ("Image", "string", 0),
        ("Replicas", "integer", 1),
        ("Until", "date", 0),
        ("Ready", "string", 0),
        ("Age", "date", 0),
    ]


def test_a_column_can_say_everything_itself() -> None:
    column = Column("Age", ".metadata.creationTimestamp", "since when", type="date", format="date-time")
    assert version(small(columns=[column], ready_column=False))["additionalPrinterColumns"] == [
        {
            "name": "Age",
            "type": "date",
            "jsonPath": ".metadata.creationTimestamp",
            "description": "since when",
            "format": "date-time",
        }
    ]


READY = {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'}
AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


def test_whether_it_is_ready_is_shown_of_every_kind_that_has_conditions() -> None:
    assert version(small())["additionalPrinterColumns"] == [READY, AGE]


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        (["Image"], ["Image", "Ready", "Age"]),
        (["Image", "Age"], ["Image", "Ready", "Age"]),
        (["Age", "Image"], ["Ready", "Age", "Image"]),
        (["READY", "Image"], ["READY", "Image", "Age"]),
    ],
)
def test_columns_of_the_authors_come_first_and_one_that_is_called_ready_takes_its_place(
    named: list[str], shown: list[str]
) -> None:
    columns = version(small(columns=[Column(name, ".spec.image") for name in named]))["additionalPrinterColumns"]
    assert [column["name"] for column in columns] == shown


def test_a_kind_without_conditions_leaves_its_columns_to_the_server() -> None:
    class Bare(Struct):
        ready: int = 0

    class Plain(Resource[Bare, Bare], group="demo.windvane.dev", version="v1"):
        """Says nothing about itself."""

    assert "additionalPrinterColumns" not in version(Plain)
    assert "additionalPrinterColumns" not in version(small(ready_column=False))


def test_status_and_scale_subresources() -> None:
    scaled = version(small(scale=ScaleSubresource(selector=".status.selector")))
    assert scaled["subresources"] == {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        },
    }


def test_a_kind_without_a_status_has_no_subresource() -> None:
    class Plain(Object, group="demo.windvane.dev", version="v1"):
        data: dict[str, str] = {}

    assert "subresources" not in version(Plain)


def test_spec_is_required_if_something_in_it_is() -> None:
    assert version(Everything)["schema"]["openAPIV3Schema"]["required"] == ["spec"]
    assert "required" not in version(small())["schema"]["openAPIV3Schema"]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"group": "demo"}, "group 'demo' must be a domain"),
        ({"group": "Demo.Dev"}, "must be a domain"),
        ({"group": "x.k8s.io"}, "are Kubernetes' own; use your domain"),
        ({"plural": "Smalls"}, "'Smalls' can't name a kind"),
        ({"version": "1"}, "'1' can't name a kind"),
        ({"short_names": ["s m"]}, "'s m' can't name a kind"),
        (
            {"stored": False},
            "in exactly one version, and none of these is stored: Small; leave out stored=False",
        ),
    ],
)
def test_names_that_the_server_would_refuse_are_refused_here(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        crd(small(**keywords))


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"columns": [Column("X", ".spec.imag")]}, "column 'X' shows .spec.imag, which is not a field"),
        (
            {"scale": ScaleSubresource(replicas=".spec.image")},
            "scale uses .spec.image, which must be a field of type integer",
        ),
        ({"scale": ScaleSubresource(current=".status.none")}, "scale uses .status.none"),
        ({"selectable": [".spec"]}, "selectable .spec must be a string, integer or boolean"),
        ({"selectable": [".metadata.name"]}, "selectable .metadata.name"),
    ],
)
def test_paths_that_lead_nowhere_are_refused(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        crd(small(**keywords))


def test_versions_of_different_kinds_are_refused() -> None:
    with pytest.raises(TypeError, match="can't be versions of one kind: group is"):
        crd(Everything, small(stored=False))


def test_the_same_version_twice_is_refused() -> None:
    class Again(
        Resource[EverythingSpec, EverythingStatus],
        kind="Everything",
        group="tests.windvane.dev",
        version="v1",
        plural="everythings",
        short_names=["evr"],
        categories=["testing"],
        stored=False,
    ):
        pass

    with pytest.raises(TypeError, match="two classes have the same version"):
        crd(Everything, Again)


def test_two_stored_versions_are_refused() -> None:
    with pytest.raises(TypeError, match="Small, Small of these are stored; write stored=False"):
        crd(small(), small(version="v2"))


def test_no_class_at_all_is_refused() -> None:
    with pytest.raises(TypeError, match=r"as in crd\(Website\)"):
        crd()
