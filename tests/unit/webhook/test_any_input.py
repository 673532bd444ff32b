"""Whatever comes in, a review is answered, or is said to be none."""

import contextlib
import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from windvane import AdmissionRequest, Kind, Operator, Resource, Spec, Status, dynamic, only_metadata
from windvane.k8s import core
from windvane.runtime.admission import AdmissionHook
from windvane.webhook.conversion import convert_review
from windvane.webhook.review import BadReview, default_review, validate_review

GROUP = "demo.windvane.dev"


class WebsiteSpec(Spec):
    hosts: list[str] = []
    options: dict[str, Any] = {}


class Website(Resource[WebsiteSpec, Status], group=GROUP, version="v1"):
    """A website."""


class WebsiteV2(Resource[WebsiteSpec, Status], group=GROUP, version="v2", kind="Website", stored=False):
    """A website."""


WIDGET = dynamic(Kind(group=GROUP, version="v1", name="Website", plural="websites"))


def touch(thing: Any, request: AdmissionRequest[Any]) -> None:
    thing.metadata.labels["touched"] = "yes"
    assert request.old is None or request.old.metadata is not None


def hooks(what: Any) -> list[tuple[Any, AdmissionHook]]:
    operator = Operator("website")
    operator.default(what)(touch)
    operator.validate(what, on=["create", "update", "delete"])(touch)
    (defaulting,), (validating,) = operator.defaulting.values(), operator.validating.values()
    return [(default_review, defaulting), (validate_review, validating)]


HOOKS = [*hooks(Website), *hooks(WIDGET), *hooks(only_metadata(Website)), *hooks(core.Pod)]

operator = Operator("website")
operator.convert(Website, WebsiteV2)(lambda old: WebsiteV2(metadata=old.metadata, spec=old.spec))
operator.convert(WebsiteV2, Website)(lambda new: Website(metadata=new.metadata, spec=new.spec))

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
words = st.sampled_from(
    ["apiVersion", "kind", "metadata", "spec", "status", "name", "labels", "hosts", "options", "uid", "request"]
) | st.text(max_size=3)
values = st.recursive(
    scalars | st.sampled_from([f"{GROUP}/v1", f"{GROUP}/v2", "Website", "Pod", "v1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=5),
    max_leaves=12,
)
websites = st.fixed_dictionaries(
    {"apiVersion": st.just(f"{GROUP}/v1"), "kind": st.just("Website")},
    optional={"metadata": values, "spec": values, "status": values},
)
things = websites | values


@given(
    operation=st.sampled_from(["CREATE", "UPDATE", "DELETE", "CONNECT", "", "create"]),
    thing=things,
    old=things,
    more=st.dictionaries(st.sampled_from(["uid", "userInfo", "dryRun", "name", "subResource", "resource"]), values),
)
@example(operation="CREATE", thing={"a": 10**400}, old=None, more={})
@example(operation="CREATE", thing={"a": "\ud800"}, old=None, more={})
async def test_an_admission_review(operation: str, thing: Any, old: Any, more: dict[str, Any]) -> None:
    request = {
        "uid": "u-1",
        "resource": {"group": GROUP, "version": "v1", "resource": "websites"},
        "operation": operation,
        "object": thing,
        "oldObject": old,
        **more,
    }
    body = json.dumps({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}).encode()
    for review, hook in HOOKS:
        with contextlib.suppress(BadReview):
            answer = await review(body, hook)
            response = json.loads(answer.body)["response"]
            assert response["uid"] == request["uid"]
            assert response["allowed"] or response["status"]["message"]


@given(
    version=st.sampled_from([f"{GROUP}/v1", f"{GROUP}/v2", "v1", ""]) | st.text(), objects=st.lists(things, max_size=3)
)
@example(
    version=f"{GROUP}/v2", objects=[{"apiVersion": f"{GROUP}/v1", "kind": "Website", "metadata": {"name": "\ud800"}}]
)
async def test_a_conversion_review(version: str, objects: list[Any]) -> None:
    request = {"uid": "u-1", "desiredAPIVersion": version, "objects": objects}
    review = {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "request": request}
    with contextlib.suppress(BadReview):
        response = json.loads((await convert_review(json.dumps(review).encode(), operator.conversions)).body)[
            "response"
        ]
        assert len(response["convertedObjects"]) == len(objects) or response["result"]["message"]


@given(st.binary() | values.map(lambda value: json.dumps(value).encode()))
async def test_anything_at_all(body: bytes) -> None:
    for review, hook in HOOKS:
        with contextlib.suppress(BadReview):
            await review(body, hook)
    with contextlib.suppress(BadReview):
        await convert_review(body, operator.conversions)
