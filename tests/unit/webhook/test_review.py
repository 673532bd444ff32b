"""What is answered to an AdmissionReview, whatever is in it and whatever a function does."""

import asyncio
import base64
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from windvane import AdmissionRequest, Denied, Operator, Resource, Spec, Status
from windvane.k8s import core
from windvane.runtime.admission import AdmissionHook
from windvane.webhook import author_call
from windvane.webhook.review import REACHED, BadReview, default_review, probe_review, validate_review

Review = Callable[..., bytes]


class WebsiteSpec(Spec):
    region: str
    replicas: int = 1
    budget: str | None = None
    hosts: list[str] = []


class Website(Resource[WebsiteSpec, Status], group="demo.windvane.dev", version="v1"):
    """A website."""


def website(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "demo.windvane.dev/v1",
        "kind": "Website",
        "metadata": {"name": "blog", "namespace": "web"},
        "spec": {"region": "eu", **spec},
    }


def judging(function: Any, **options: Any) -> AdmissionHook:
    operator = Operator("website")
    operator.validate(Website, **options)(function)
    return operator.validating["websites.demo.windvane.dev"]


def filling_in(function: Any, **options: Any) -> AdmissionHook:
    operator = Operator("website")
    operator.default(Website, **options)(function)
    return operator.defaulting["websites.demo.windvane.dev"]


async def judged(body: bytes, hook: AdmissionHook) -> dict[str, Any]:
    answer = await validate_review(body, hook)
    whole = json.loads(answer.body)
    assert (whole["apiVersion"], whole["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    response: dict[str, Any] = whole["response"]
    assert answer.allowed is response["allowed"]
    return response


async def filled_in(body: bytes, hook: AdmissionHook) -> tuple[dict[str, Any], Any]:
    response = json.loads((await default_review(body, hook)).body)["response"]
    return response, json.loads(base64.b64decode(response["patch"])) if "patch" in response else None


def deny(site: Website) -> None:
    raise Denied("no")


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_the_answer_is_in_the_version_of_the_question_and_has_its_uid(review: Review, version: str) -> None:
    answer = json.loads((await validate_review(review(thing=website(), version=version), judging(lambda s: None))).body)
    assert answer == {
        "apiVersion": f"admission.k8s.io/{version}",
        "kind": "AdmissionReview",
        "response": {"uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "allowed": True},
    }


async def test_a_function_is_told_who_wants_what(review: Review) -> None:
    told: list[Any] = []

    async def check(site: Website, request: AdmissionRequest[Website]) -> None:
        told.append((site.spec.region, request.operation, request.name, request.namespace, request.dry_run))
        told.append((request.user.username, request.user.groups, request.user.uid, request.user.extra))
        told.append(request.old and request.old.spec.region)

    body = review("UPDATE", website(region="us"), website(region="eu"), dryRun=True)
    assert (await judged(body, judging(check)))["allowed"]
    assert told == [
        ("us", "update", "blog", "web", True),
        ("jane", ["system:authenticated"], "7", {"scopes": ["a"]}),
        "eu",
    ]


async def test_a_function_is_told_which_subresource_is_written(review: Review) -> None:
    told: list[str] = []

    def check(site: Website, request: AdmissionRequest[Website]) -> None:
        told.append(request.subresource)

    for more in ({"subResource": "status"}, {}):
        await judged(review("UPDATE", website(), website(), **more), judging(check, subresources=["status"]))
    assert told == ["status", ""]


async def test_a_new_object_has_no_old_one(review: Review) -> None:
    def check(site: Website, request: AdmissionRequest[Website]) -> None:
        assert request.old is None

    assert (await judged(review(thing=website()), judging(check)))["allowed"]


async def test_a_denial_without_a_field_is_forbidden(review: Review) -> None:
    response = await judged(review(thing=website()), judging(deny))
    assert not response["allowed"]
    status = response["status"]
    assert (status["status"], status["reason"], status["code"], status["message"]) == (
        "Failure",
        "Forbidden",
        403,
        "no",
    )


async def test_a_denial_with_a_field_is_as_the_api_server_says_it(review: Review) -> None:
    def check(site: Website) -> None:
        raise Denied("it can't be changed", field="spec.region")

    status = (await judged(review(thing=website()), judging(check)))["status"]
    problem = 'Invalid value: "eu": it can\'t be changed'
    assert (status["reason"], status["code"]) == ("Invalid", 422)
    assert status["message"] == f'Website.demo.windvane.dev "blog" is invalid: spec.region: {problem}'
    assert status["details"] == {
        "name": "blog",
        "group": "demo.windvane.dev",
        "kind": "Website",
        "causes": [{"reason": "FieldValueInvalid", "message": problem, "field": "spec.region"}],
    }


@pytest.mark.parametrize(
    ("field", "shown"),
    [
        ("spec.hosts[1]", 'Invalid value: "b": no'),
        ("spec.replicas", "Invalid value: 3: no"),
        ("spec.hosts", "Invalid value: no"),
        ("spec.hosts[2]", "Invalid value: no"),
        ("spec.region[0]", "Invalid value: no"),
        ("spec.region.deeper", "Invalid value: no"),
        ("spec.missing.deeper", "Invalid value: no"),
    ],
)
async def test_the_value_of_the_field_is_shown_if_it_is_a_plain_one(review: Review, field: str, shown: str) -> None:
    def check(site: Website) -> None:
        raise Denied("no", field=field)

    status = (await judged(review(thing=website(replicas=3, hosts=["a", "b"])), judging(check)))["status"]
    assert status["details"]["causes"][0]["message"] == shown


async def test_warnings_are_told_with_either_answer(review: Review) -> None:
    def check(site: Website, request: AdmissionRequest[Website]) -> None:
        request.warn("an even number")
        if site.spec.replicas == 4:
            raise Denied("four")

    for replicas in (2, 4):
        response = await judged(review(thing=website(replicas=replicas)), judging(check))
        assert response["warnings"] == ["an even number"]
        assert response["allowed"] is (replicas == 2)


async def test_a_deletion_is_judged_by_the_object_that_goes(review: Review) -> None:
    def check(site: Website, request: AdmissionRequest[Website]) -> None:
        assert request.old is not None
        raise Denied(f"{request.operation} {site.spec.region} {request.old.spec.region}")

    response = await judged(review("DELETE", None, website()), judging(check, on=["delete"]))
    assert response["status"]["message"] == "delete eu eu"


async def test_a_deletion_is_denied_with_the_value_that_the_object_has(review: Review) -> None:
    def check(site: Website) -> None:
        raise Denied("it stays", field="spec.region")

    response = await judged(review("DELETE", None, website()), judging(check, on=["delete"]))
    assert response["status"]["message"].endswith('spec.region: Invalid value: "eu": it stays')


@pytest.mark.parametrize("operation", ["DELETE", "CONNECT"])
async def test_what_a_function_was_not_declared_for_is_none_of_its_business(review: Review, operation: str) -> None:
    assert (await judged(review(operation, None, website()), judging(deny)))["allowed"]


async def test_what_a_function_was_not_declared_for_is_not_filled_in(review: Review) -> None:
    body = review("UPDATE", website(), website())
    response, patch = await filled_in(body, filling_in(share, on=["create"]))
    assert (response["allowed"], patch) == (True, None)


async def test_subresources_are_judged_only_if_that_was_asked_for(review: Review) -> None:
    body = review("UPDATE", website(), website(), subResource="status")
    assert (await judged(body, judging(deny)))["allowed"]
    assert not (await judged(body, judging(deny, subresources=["status"])))["allowed"]


async def test_a_question_about_another_kind_is_denied(review: Review) -> None:
    body = review(thing=website(), resource=("", "v1", "pods"))
    status = (await judged(body, judging(lambda site: None)))["status"]
    assert (status["reason"], status["code"]) == ("BadRequest", 400)
    assert status["message"] == (
        "this webhook is for websites.v1.demo.windvane.dev, and was asked about pods.v1: correct its configuration"
    )


async def test_a_question_about_another_version_is_denied(review: Review) -> None:
    body = review(thing=website(), resource=("demo.windvane.dev", "v9", "websites"))
    assert "was asked about websites.v9" in (await judged(body, judging(lambda s: None)))["status"]["message"]


@pytest.mark.parametrize(
    ("operation", "thing", "old", "missing"),
    [
        ("CREATE", None, None, "object"),
        ("UPDATE", None, website(), "object"),
        ("UPDATE", website(), None, "oldObject"),
        ("DELETE", None, None, "oldObject"),
    ],
)
async def test_an_object_that_is_null_is_denied(
    review: Review, operation: str, thing: Any, old: Any, missing: str
) -> None:
    hook = judging(lambda site: None, on=["create", "update", "delete"])
    status = (await judged(review(operation, thing, old), hook))["status"]
    assert status["message"] == f"the API server sent no {missing} with this {operation}"


@pytest.mark.parametrize(
    ("thing", "problem"),
    [
        (website(replicas="many"), "spec.replicas: Invalid value: Expected `int`, got `str`"),
        (website(hosts=["a", 5]), "spec.hosts[1]: Invalid value: Expected `str`, got `int`"),
        ({**website(), "spec": {}}, "spec: Invalid value: Object missing required field `region`"),
        ({**website(), "kind": "Shop"}, "Invalid value: a Shop (demo.windvane.dev/v1) can't be read as Website"),
        ([], "Invalid value: Expected `object`, got `array`"),
        ("x", "Invalid value: Expected `object`, got `str`"),
    ],
)
async def test_an_object_that_does_not_fit_its_class_is_denied_with_where(
    review: Review, thing: Any, problem: str
) -> None:
    for response in (
        await judged(review(thing=thing), judging(lambda site: None)),
        (await filled_in(review(thing=thing), filling_in(lambda site: None)))[0],
    ):
        assert not response["allowed"]
        assert f'"blog" is invalid: {problem}' in response["status"]["message"]


async def test_an_old_object_that_does_not_fit_is_shown_as_it_is_so_that_it_can_be_mended_and_deleted(
    review: Review,
) -> None:
    seen: list[Any] = []

    def look(site: Website, request: AdmissionRequest[Website]) -> None:
        seen.append((request.operation, site.spec.replicas, request.old and request.old.spec.replicas))

    hook = judging(look, on=["update", "delete"])
    assert (await judged(review("UPDATE", website(), website(replicas="many")), hook))["allowed"]
    assert (await judged(review("DELETE", None, website(replicas="many")), hook))["allowed"]
    assert seen == [("update", 1, "many"), ("delete", "many", "many")]


async def test_an_object_that_does_not_fit_and_is_being_deleted_is_let_go(review: Review) -> None:
    """Its finalizers are taken off by updates."""
    leaving = website(replicas="many")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    body = review("UPDATE", leaving, leaving)
    for response in (await judged(body, judging(deny)), (await filled_in(body, filling_in(deny)))[0]):
        assert response["allowed"]
        assert "replicas" in response["warnings"][0]
    leaving["spec"]["replicas"] = 2
    assert not (await judged(review("UPDATE", leaving, leaving), judging(deny)))["allowed"]


async def test_an_exception_denies_and_the_log_has_the_trace(review: Review, caplog: pytest.LogCaptureFixture) -> None:
    def check(site: Website) -> None:
        raise KeyError("the password is swordfish")

    response = await judged(review(thing=website()), judging(check))
    status = response["status"]
    assert (response["allowed"], status["code"]) == (False, 500)
    assert status["message"].endswith("check failed (KeyError); the log of the operator says more")
    (record,) = caplog.records
    assert "failed on create Website web/blog" in record.getMessage()
    assert record.exc_info


async def cancelled(site: Website) -> None:
    raise asyncio.CancelledError


def exits(site: Website) -> None:
    raise SystemExit(3)


def recurses(site: Website) -> None:
    recurses(site)


def denies_by_an_exception(site: Website) -> None:
    raise Denied(ValueError("no such region"))  # type: ignore[arg-type]


def denies_unspeakably(site: Website) -> None:
    raise Denied("no \ud800")


def denies_a_path(site: Website) -> None:
    raise Denied("no", field=["spec", "region"])  # type: ignore[arg-type]


async def test_a_denial_may_come_from_one_of_several_tasks(review: Review) -> None:
    async def look() -> None:
        raise Denied("not there")

    async def check(site: Website) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(look())
            group.create_task(asyncio.Event().wait())

    assert (await judged(review(thing=website()), judging(check)))["status"]["message"] == "not there"


async def test_a_denial_may_be_an_exception(review: Review) -> None:
    response = await judged(review(thing=website()), judging(denies_by_an_exception))
    assert response["status"]["message"] == "no such region"


async def test_a_denial_may_quote_what_is_no_text(review: Review) -> None:
    response = await judged(review(thing=website()), judging(denies_unspeakably))
    assert response["status"]["message"] == r"no \ud800"


@pytest.mark.parametrize("function", [cancelled, exits, recurses, denies_a_path])
async def test_nothing_that_a_function_raises_gets_through(review: Review, function: Any) -> None:
    assert (await judged(review(thing=website()), judging(function)))["status"]["code"] == 500


async def test_who_stops_the_server_stops_the_function(review: Review) -> None:
    begun = asyncio.Event()

    async def check(site: Website) -> None:
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.get_running_loop().create_task(validate_review(review(thing=website()), judging(check)))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("returned", "words"),
    [(False, "returned False; return nothing"), (Website(spec=WebsiteSpec(region="eu")), "returned a Website;")],
)
async def test_a_function_that_returns_something_is_told_what_to_do_instead(
    review: Review, caplog: pytest.LogCaptureFixture, returned: Any, words: str
) -> None:
    assert not (await judged(review(thing=website()), judging(lambda site: returned)))["allowed"]
    assert words in caplog.text


async def for_ever(site: Website) -> None:
    site.spec.budget = "half done"
    await asyncio.Event().wait()


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions have a small part of their time."""
    assert author_call.FOR_THE_FUNCTION < 1, "something is left for the answer"
    monkeypatch.setattr(author_call, "FOR_THE_FUNCTION", 0.001)


@pytest.mark.usefixtures("hurried")
async def test_a_function_that_takes_too_long_is_denied(review: Review, caplog: pytest.LogCaptureFixture) -> None:
    async with asyncio.timeout(20):
        response = await judged(review(thing=website()), judging(for_ever, timeout=30))
    assert response["status"]["message"] == "for_ever took longer than 30 s"
    assert "took longer than 30 s on create Website web/blog" in caplog.text


@pytest.mark.usefixtures("hurried")
async def test_or_not_waited_for_if_that_was_declared(review: Review) -> None:
    hook = filling_in(for_ever, timeout=1, failure_policy="Ignore")
    response, patch = await filled_in(review(thing=website()), hook)
    assert response["allowed"]
    assert response["warnings"] == ["for_ever took longer than 1 s, and was not waited for"]
    assert patch is None


@pytest.mark.usefixtures("hurried")
async def test_what_fails_when_its_time_is_over_has_failed(review: Review) -> None:
    async def check(site: Website) -> None:
        try:
            await for_ever(site)
        finally:
            raise KeyError

    response = await judged(review(thing=website()), judging(check, timeout=1, failure_policy="Ignore"))
    assert "check failed (KeyError)" in response["status"]["message"]


async def test_a_timeout_of_the_functions_own_is_a_failure_like_any_other(review: Review) -> None:
    def check(site: Website) -> None:
        raise TimeoutError

    response = await judged(review(thing=website()), judging(check, failure_policy="Ignore"))
    assert not response["allowed"]


# Filling in


def share(site: Website) -> None:
    site.spec.budget = site.spec.budget or "shared"


async def test_what_was_filled_in_is_answered_as_a_patch(review: Review) -> None:
    response, patch = await filled_in(review(thing=website()), filling_in(share))
    assert response["patchType"] == "JSONPatch"
    assert patch == [{"op": "add", "path": "/spec/budget", "value": "shared"}]


def with_a_number(site: Website) -> None:
    site.spec.region = 5  # type: ignore[assignment]


def with_anything(site: Website) -> None:
    site.spec.region = object()  # type: ignore[assignment]


@pytest.mark.parametrize("function", [with_a_number, with_anything])
async def test_what_is_filled_in_wrongly_is_not_blamed_on_the_user(
    review: Review, caplog: pytest.LogCaptureFixture, function: Any
) -> None:
    response, patch = await filled_in(review(thing=website()), filling_in(function))
    assert (response["status"]["reason"], patch) == ("InternalError", None)
    assert function.__name__ in response["status"]["message"]
    assert caplog.records


async def test_asked_again_there_is_nothing_to_fill_in(review: Review) -> None:
    response, _ = await filled_in(review(thing=website(budget="shared")), filling_in(share))
    assert response == {"uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "allowed": True}


async def test_a_function_that_fills_in_may_wait_and_deny(review: Review) -> None:
    async def fill_in(site: Website, request: AdmissionRequest[Website]) -> None:
        raise Denied("no budget is left")

    response, patch = await filled_in(review(thing=website()), filling_in(fill_in))
    assert response["status"]["message"] == "no budget is left"
    assert patch is None


async def test_what_a_judge_changes_is_not_changed(review: Review) -> None:
    assert "patch" not in await judged(review(thing=website()), judging(share))


async def test_an_object_of_3_mib_is_filled_in(review: Review) -> None:
    hosts = ["h" * 1000] * 3000
    _, patch = await filled_in(review("UPDATE", website(hosts=hosts), website(hosts=hosts)), filling_in(share))
    assert patch == [{"op": "add", "path": "/spec/budget", "value": "shared"}]


async def test_a_built_in_kind_is_judged(review: Review) -> None:
    operator = Operator("guard")

    @operator.validate(core.Pod)
    def check(pod: core.Pod) -> None:
        raise Denied("not from there", field="spec.containers[0].image")

    containers = [{"name": "a", "image": "docker.io/a"}]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "a-"}, "spec": {"containers": containers}}
    body = review(thing=pod, resource=("", "v1", "pods"), name="")
    status = (await judged(body, operator.validating["pods"]))["status"]
    assert status["message"] == (
        'Pod "a-" is invalid: spec.containers[0].image: Invalid value: "docker.io/a": not from there'
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "this is no AdmissionReview"),
        (b"\x00\xff\xfe", "this is no AdmissionReview"),
        (b"[]", "this is no AdmissionReview: Expected `object`, got `array`"),
        (b"null", "this is no AdmissionReview"),
        (b'{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {"uid": "a", ', "no Admiss"),
        (b'{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}', "has no request in it"),
        (b'{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": null}', "has no request in it"),
        (b'{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v2"}', "'admission.k8s.io/v2' is not known"),
        (b'{"kind": "ConversionReview", "apiVersion": "admission.k8s.io/v1"}', "this is no AdmissionReview"),
        (b'{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {"uid": 5}}', "no Admiss"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "recursion"),
        (b'{"kind": "AdmissionReview\xed\xa0\x80"}', "this is no AdmissionReview"),
    ],
)
async def test_what_is_no_review_is_said_to_be_none(body: bytes, words: str) -> None:
    with pytest.raises(BadReview, match=words):
        await validate_review(body, judging(lambda site: None))


async def test_an_unknown_operation_is_no_review(review: Review) -> None:
    with pytest.raises(BadReview, match="Invalid enum value 'EXPLODE'"):
        await validate_review(review("EXPLODE", website()), judging(lambda site: None))


async def test_an_object_that_is_nested_too_deeply_is_denied(review: Review) -> None:
    body = review(thing=website()).replace(b'"eu"', b"[" * 50_000 + b"]" * 50_000)
    for sent in (body, body.replace(b": ", b":").replace(b", ", b",")):
        response = await judged(sent, judging(lambda site: None))
        assert (response["uid"], response["allowed"]) == ("705ab4f5-6393-11e8-b7cc-42010a800002", False)
        assert "nested too deeply" in response["status"]["message"]
        assert (response["status"]["reason"], response["status"]["code"]) == ("Forbidden", 403)


async def test_what_is_nested_too_deeply_is_not_answered_in_a_version_that_nobody_knows(review: Review) -> None:
    body = review(thing=website(), version="v9").replace(b'"eu"', b"[" * 50_000 + b"]" * 50_000)
    with pytest.raises(BadReview, match="this is no AdmissionReview"):
        await validate_review(body, judging(lambda site: None))


async def test_who_only_wants_to_know_that_somebody_is_there_is_refused_in_words_of_our_own(review: Review) -> None:
    answer = await probe_review(review(thing={"kind": "ConfigMap"}, resource=("", "v1", "configmaps")))
    response = json.loads(answer.body)["response"]
    assert (response["uid"], response["allowed"]) == ("705ab4f5-6393-11e8-b7cc-42010a800002", False)
    assert (response["status"]["message"], response["status"]["code"]) == (REACHED, 403)


async def test_every_prefix_of_a_review_is_no_review(review: Review) -> None:
    body = review(thing=website())
    for length in range(0, len(body), 7):
        with pytest.raises(BadReview):
            await validate_review(body[:length], judging(lambda site: None))


async def test_more_fields_than_we_know_do_no_harm(review: Review, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    body = review(thing={**website(unknown={"a": [1]}), "more": 1}, fromTheFuture={"a": 1})
    assert (await judged(body, judging(lambda site: None)))["allowed"]
    assert not caplog.records
