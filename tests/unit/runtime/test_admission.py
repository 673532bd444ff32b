"""What authors declare about objects that are about to be stored, and what they are told when it can't be."""

from collections.abc import Awaitable
from typing import Any

import pytest

from windvane import AdmissionRequest, Context, Denied, Object, Operator, Resource, Spec, Status
from windvane.k8s import core
from windvane.k8s.admissionregistration import ValidatingWebhookConfiguration


class WebsiteSpec(Spec):
    image: str = ""


class Website(Resource[WebsiteSpec, Status], group="demo.windvane.dev", version="v1"):
    """A website."""


class WebsiteV2(Resource[WebsiteSpec, Status], group="demo.windvane.dev", version="v2", kind="Website", stored=False):
    """A website, later."""


@pytest.fixture
def operator() -> Operator:
    return Operator("website")


def test_a_function_that_fills_in_is_declared_for_what_is_created_or_updated(operator: Operator) -> None:
    @operator.default(Website)
    def fill_in(site: Website) -> None: ...

    hook = operator.defaulting["websites.demo.windvane.dev"]
    assert (hook.what, hook.function, hook.operations, hook.timeout) == (Website, fill_in, ("create", "update"), 5.0)
    assert not hook.takes_request


def test_a_function_that_judges_may_ask_who_wants_it(operator: Operator) -> None:
    @operator.validate(Website, on=["delete"])
    async def check(site: Website, request: AdmissionRequest[Website]) -> None: ...

    hook = operator.validating["websites.demo.windvane.dev"]
    assert hook.operations == ("delete",)
    assert hook.takes_request


def test_kinds_of_ones_own_are_refused_while_nobody_can_be_asked(operator: Operator) -> None:
    operator.validate(Website)(lambda site: None)
    assert operator.validating["websites.demo.windvane.dev"].failure_policy == "Fail"


def test_kinds_of_others_are_stored_while_nobody_can_be_asked(operator: Operator) -> None:
    operator.validate(core.Pod)(lambda pod: None)
    operator.validate(core.Secret, failure_policy="Fail")(lambda secret: None)
    assert operator.validating["pods"].failure_policy == "Ignore"
    assert operator.validating["secrets"].failure_policy == "Fail"


def test_a_method_can_judge(operator: Operator) -> None:
    class Guard:
        def check(self, site: Website) -> None: ...

    operator.validate(Website)(Guard().check)
    assert not operator.validating["websites.demo.windvane.dev"].takes_request


def test_an_operator_that_only_judges_has_kinds_and_webhooks(operator: Operator) -> None:
    assert not operator.serves_webhooks
    operator.validate(core.Pod)(lambda pod: None)
    assert operator.kinds == [core.Pod]
    assert operator.serves_webhooks


def test_the_old_object_is_read_only_when_it_is_asked_for() -> None:
    asked = []

    def read() -> Website:
        asked.append(1)
        return Website()

    request = AdmissionRequest("update", old=read)
    assert asked == []
    assert request.old is request.old
    assert asked == [1]


def test_a_warning_is_one_line() -> None:
    request = AdmissionRequest[Website]("create")
    request.warn("an even number\n  of replicas")
    assert request.warnings == ["an even number of replicas"]


def test_a_denial_says_why_and_where() -> None:
    denied = Denied("too many", field="spec.replicas")
    assert (str(denied), denied.field) == ("too many", "spec.replicas")


def test_a_field_is_not_a_list_of_its_steps() -> None:
    with pytest.raises(TypeError, match='write a field as in manifests: "spec'):
        Denied("too many", field=["spec", "replicas"])  # type: ignore[arg-type]


def test_a_request_in_a_test_has_a_user_without_a_name() -> None:
    assert AdmissionRequest[Website]("create").user.username is None


def no_arguments() -> None: ...
def three_arguments(site: Website, request: Any, more: int) -> None: ...
def a_generator(site: Website) -> Any:
    yield site


async def an_async_generator(site: Website) -> Any:
    yield site


def of_pods(pod: core.Pod) -> None: ...
def wants_both(old: Website, new: "Website") -> None: ...
async def wants_a_context(site: Website, ctx: Context) -> None: ...
def makes_another(site: Website) -> Website:
    return site


async def says_yes(site: Website) -> bool:
    return True


def to_be_waited_for(site: Website) -> Awaitable[None]:
    return wants_a_context(site, None)  # type: ignore[arg-type]


def of_either(site: Website | core.Pod, request: "AdmissionRequest[Unknown]") -> None: ...  # type: ignore[name-defined]  # noqa: F821
def of_any(site: Object, request: Any) -> None: ...


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (no_arguments, r"which no_arguments\(\) can't be: write `def no_arguments\(obj: Website, request: Admiss"),
        (three_arguments, r"which three_arguments\(site, request, more\) can't be"),
        (a_generator, r"@operator.validate\(Website\) must not `yield`"),
        (an_async_generator, r"@operator.validate\(Website\) must not `yield`"),
        (of_pods, "of_pods says that its argument pod is a Pod, and it is given a Website: write `def of_pods"),
        (wants_both, "its argument new is a Website, and it is given an AdmissionRequest"),
        (wants_a_context, "its argument ctx is a Context, and it is given an AdmissionRequest"),
        (makes_another, "makes_another says that it returns a Website, and must return nothing: write `def makes_ano"),
        (says_yes, "says_yes says that it returns a bool, .* -> None`, and change the object or raise Denied"),
    ],
)
def test_a_function_that_can_not_be_called_is_refused(operator: Operator, function: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        operator.validate(Website)(function)


def of_something(site: Any) -> None: ...


of_something.__annotations__["site"] = "whatever it is"


@pytest.mark.parametrize("function", [of_either, of_any, of_something, to_be_waited_for])
def test_a_function_may_take_more_than_it_is_given(operator: Operator, function: Any) -> None:
    operator.validate(Website)(function)


def test_what_no_api_server_asks_about_is_refused(operator: Operator) -> None:
    with pytest.raises(ValueError, match=r"API servers ask no webhook about kinds of admissionregistration\.k8s\.io"):
        operator.validate(ValidatingWebhookConfiguration)(lambda thing: None)


@pytest.mark.parametrize("name", ["", "My Operator", "a_b", "x" * 254])
def test_an_operator_has_a_name_that_objects_can_have(name: str) -> None:
    with pytest.raises(ValueError, match=r'write Operator\("website"\), say'):
        Operator(name)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"on": "create"}, r'on=\'create\'\): write on=\[...\], with some of "create", "update", "delete"'),
        ({"on": ["connect"]}, "with some of"),
        ({"on": []}, "with some of"),
        ({"failure_policy": "fail"}, 'write "Fail", or "Ignore"'),
        ({"timeout": 0}, "an API server waits from 1 to 30 seconds"),
        ({"timeout": "5s"}, "an API server waits from 1 to 30 seconds"),
        ({"timeout": 31}, "an API server waits from 1 to 30 seconds"),
        ({"subresources": ["scale"]}, "what is written to 'scale' is no Website; possible are approval,"),
    ],
)
def test_a_wrong_option_is_refused_with_what_to_write(operator: Operator, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        operator.validate(Website, **options)(lambda site: None)


@pytest.mark.parametrize("timeout", [1, 30])
def test_an_api_server_waits_from_1_to_30_seconds(operator: Operator, timeout: float) -> None:
    operator.validate(Website, timeout=timeout)(lambda site: None)
    assert operator.validating["websites.demo.windvane.dev"].timeout == timeout


def test_nothing_is_filled_in_for_a_deletion(operator: Operator) -> None:
    with pytest.raises(ValueError, match=r'with some of "create", "update"$'):
        operator.default(Website, on=["delete"])(lambda site: None)


def test_subresources_come_as_a_list(operator: Operator) -> None:
    with pytest.raises(TypeError, match=r"write subresources=\['status'\]"):
        operator.validate(Website, subresources="status")(lambda site: None)


def test_a_decorator_without_a_kind_is_refused(operator: Operator) -> None:
    with pytest.raises(TypeError, match=r"write @operator.default\(Website\), say"):
        operator.default(lambda site: None)  # type: ignore[arg-type, type-var]


def test_a_kind_has_one_function_for_all_its_versions(operator: Operator) -> None:
    @operator.default(Website)
    def fill_in(site: Website) -> None: ...

    with pytest.raises(ValueError, match="WebsiteV2 has such a function already, fill_in"):
        operator.default(WebsiteV2)(lambda site: None)
