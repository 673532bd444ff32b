"""Reading one object and many: selectors, pages, and which moment the answer is about."""

import base64
import json
from typing import Any

import pytest

from conformance.cases import Case, each
from conformance.crds import gadget
from conformance.objects import config_map, pod
from conformance.requests import Raw, Refused, Shows

ONE = [("POST configmaps", config_map())]

GET = [
    Case("an object is shown with its kind", "GET configmaps/a", None,
         Shows(200, {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "{ns}"}}),
         before=ONE),
    Case("an object that is not there", "GET configmaps/nope", None,
         Refused(404, "NotFound", 'configmaps "nope" not found', "configmaps nope")),
    Case("an object of a group that is not there", "GET deployments/nope", None,
         Refused(404, "NotFound", 'deployments.apps "nope" not found', "deployments.apps nope")),
    Case("a custom object that is not there", "GET gadgets/nope", None,
         Refused(404, "NotFound", 'gadgets.conformance.windvane.dev "nope" not found',
                 "gadgets.conformance.windvane.dev nope")),
    Case("a namespace that is not there", "GET /api/v1/namespaces/nope", None,
         Refused(404, "NotFound", 'namespaces "nope" not found', "namespaces nope")),
    Case("an object in a namespace that is not there", "GET /api/v1/namespaces/nowhere/configmaps/a", None,
         Refused(404, "NotFound", 'configmaps "a" not found', "configmaps a")),
    Case("a name that can't be", "GET configmaps/Not_A_Name", None,
         Refused(404, "NotFound", 'configmaps "Not_A_Name" not found', "configmaps Not_A_Name")),
    Case("a version that is no number", "GET configmaps/a?resourceVersion=x", None,
         Refused(500, "", 'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax'),
         before=ONE),
    Case("a version of twenty digits", "GET configmaps/a?resourceVersion=99999999999999999999", None,
         Refused(500, "",
                 'resourceVersion: Invalid value: "99999999999999999999": strconv.ParseUint: parsing '
                 '"99999999999999999999": value out of range'), before=ONE),
    Case("a negative version", "GET configmaps/a?resourceVersion=-1", None,
         Refused(500, "", 'resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax'),
         before=ONE),
    Case("a match without a version is not looked at", "GET configmaps/a?resourceVersionMatch=Exact", None,
         Shows(200, {"metadata": {"name": "a"}}), before=ONE),
]  # fmt: skip


@each(GET)
async def test_get(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


async def test_any_version_will_do(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    await raw.remembered("configmaps/a")
    assert (await raw.ok("GET configmaps/a?resourceVersion=0"))["metadata"]["name"] == "a"


# How a list's parameters go together. {ns} is there only so that the list is small.
LIST = [
    Case("an empty list has no items rather than none", "GET configmaps", None,
         Shows(200, {"kind": "ConfigMapList", "apiVersion": "v1", "items": []})),
    Case("a list in a namespace that is not there is empty", "GET /api/v1/namespaces/nowhere/configmaps", None,
         Shows(200, {"items": []})),
    Case("an item says neither its kind nor its version", "GET configmaps", None,
         Shows(200, {"items": [{"kind": None, "apiVersion": None, "metadata": {"name": "a"}}]}), before=ONE),
    Case("a custom item says its kind and its version", "GET gadgets", None,
         Shows(200, {"kind": "GadgetList", "items": [{"kind": "Gadget", "apiVersion": "conformance.windvane.dev/v1"}]}),
         before=[("POST gadgets", gadget())]),
    Case("the names come in order", "GET configmaps", None,
         Shows(200, {"items": [{"metadata": {"name": name}} for name in ("a", "a.b", "b")]}),
         before=[("POST configmaps", config_map(name)) for name in ("b", "a.b", "a")]),
    Case("a label selector that can't be read", "GET configmaps?labelSelector=a+in+b", None,
         Refused(400, "BadRequest", "unable to parse requirement: found 'b' expected: '('")),
    Case("a label selector with a bad key", "GET configmaps?labelSelector=-a=b", None,
         Refused(400, "BadRequest",
                 'unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of alphanumeric '
                 "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
                 "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
                 "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')")),
    Case("a label selector with a bad value", "GET configmaps?labelSelector=a=b-", None,
         Refused(400, "BadRequest",
                 'unable to parse requirement: values[0][a]: Invalid value: "b-": a valid label must be an empty '
                 "string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
                 "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
                 "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')")),
    Case("a label selector with a comma too many", "GET configmaps?labelSelector=a,,b", None,
         Refused(400, "BadRequest", "found ',', expected: identifier after ','")),
    Case("a label selector that compares with text", "GET configmaps?labelSelector=a%3Eb", None,
         Refused(400, "BadRequest",
                 "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value "
                 "must be an integer")),
    Case("a label selector that ends after a comma", "GET configmaps?labelSelector=a,", None,
         Refused(400, "BadRequest", "found '', expected: identifier after ','")),
    Case("a label selector that begins with a comma", "GET configmaps?labelSelector=,a", None,
         Refused(400, "BadRequest", "found ',', expected: !, identifier, or 'end of string'")),
    Case("a label selector with two keys", "GET configmaps?labelSelector=a+b", None,
         Refused(400, "BadRequest",
                 "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt")),
    Case("a label selector that wants an absent label to have a value", "GET configmaps?labelSelector=!a=b", None,
         Refused(400, "BadRequest", "found '=', expected: ',' or 'end of string'")),
    Case("a label selector of nothing but an exclamation mark", "GET configmaps?labelSelector=!", None,
         Refused(400, "BadRequest", "unable to parse requirement: found '', expected: identifier")),
    Case("a label selector with three equals signs", "GET configmaps?labelSelector=a%3D%3D%3Db", None,
         Refused(400, "BadRequest", "unable to parse requirement: found '=', expected: identifier")),
    Case("a label selector with two values and no comma", "GET configmaps?labelSelector=a+in+(b+c)", None,
         Refused(400, "BadRequest", "unable to parse requirement: found 'c', expected: ',' or ')'")),
    Case("a label selector whose values don't end", "GET configmaps?labelSelector=a+in+(b,", None,
         Refused(400, "BadRequest", "unable to parse requirement: found '', expected: ',', or identifier")),
    Case("a label selector whose values don't begin", "GET configmaps?labelSelector=a+in+(=", None,
         Refused(400, "BadRequest", "unable to parse requirement: found '=', expected: ',', ')' or identifier")),
    Case("a bad key is told before a bad operator", "GET configmaps?labelSelector=-a+b", None,
         Refused(400, "BadRequest",
                 'unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of alphanumeric '
                 "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
                 "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
                 "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')")),
    Case("a label selector that compares with a text that can't be a label's", "GET gadgets?labelSelector=a%3E-b",
         None,
         Refused(400, "BadRequest",
                 "unable to parse requirement: [values[0]: Invalid value: \"-b\": for 'Gt', 'Lt' operators, the value "
                 "must be an integer, values[0][a]: Invalid value: \"-b\": a valid label must be an empty string or "
                 "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
                 "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
                 "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')]")),
    Case("no values at all mean the empty one", "GET configmaps?labelSelector=a+in+()", None,
         Shows(200, {"items": [{"metadata": {"name": "b"}}]}),
         before=[*ONE, ("POST configmaps", {"metadata": {"name": "b", "labels": {"a": ""}}})]),
    Case("of two label selectors the first counts", "GET configmaps?labelSelector=a&labelSelector=,,", None,
         Shows(200, {"items": []}), before=ONE),
    Case("a field selector on a field that can't be selected", "GET configmaps?fieldSelector=data.x=1", None,
         Refused(400, "BadRequest",
                 '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"')),
    Case("a field selector on a pod's field that can't be selected", "GET pods?fieldSelector=spec.color=1", None,
         Refused(400, "BadRequest", "field label not supported: spec.color")),
    Case("a field selector on a custom field that can't be selected", "GET gadgets?fieldSelector=spec.size=1", None,
         Refused(400, "BadRequest", "field label not supported: spec.size")),
    Case("a field selector that can't be read", "GET configmaps?fieldSelector=metadata.name", None,
         Refused(400, "BadRequest", "invalid selector: 'metadata.name'; can't understand 'metadata.name'")),
    Case("a field selector with an equals sign in a value", "GET configmaps?fieldSelector=metadata.name=a=b", None,
         Refused(400, "BadRequest", "invalid field selector: unescaped character in value: 61")),
    Case("a field selector with an escape that means nothing", "GET configmaps?fieldSelector=metadata.name=a%5Cx",
         None, Refused(400, "BadRequest", "invalid field selector: invalid escape sequence: \\x")),
    Case("a field selector that ends in an escape", "GET configmaps?fieldSelector=metadata.name=a%5C", None,
         Refused(400, "BadRequest", "invalid field selector: invalid escape sequence: \\")),
    Case("a field selector with two bad terms", "GET configmaps?fieldSelector=b,a", None,
         Refused(400, "BadRequest", "invalid selector: 'b,a'; can't understand 'a'")),
    Case("a label selector is read before a field selector", "GET configmaps?labelSelector=a,&fieldSelector=b", None,
         Refused(400, "BadRequest", "found '', expected: identifier after ','")),
    Case("numbers are read before selectors", "GET configmaps?labelSelector=a,&limit=x", None,
         Refused(400, "BadRequest", 'strconv.ParseInt: parsing "x": invalid syntax')),
    Case("a field selector on a job's field that can't be selected", "GET jobs?fieldSelector=spec.color=1", None,
         Refused(400, "BadRequest", 'field label "spec.color" not supported for Job')),
    Case("nodes can't be selected by namespace", "GET /api/v1/nodes?fieldSelector=metadata.namespace=x", None,
         Refused(400, "BadRequest", "field label not supported: metadata.namespace")),
    Case("namespaces can't be selected by namespace", "GET /api/v1/namespaces?fieldSelector=metadata.namespace=x",
         None, Refused(400, "BadRequest", "field label not supported: metadata.namespace")),
    Case("requests for certificates can't be selected by namespace",
         "GET /apis/certificates.k8s.io/v1/certificatesigningrequests?fieldSelector=metadata.namespace=x", None,
         Refused(400, "BadRequest", "field label not supported: metadata.namespace")),
    Case("persistent volumes can be selected by the namespace that they don't have",
         "GET /api/v1/persistentvolumes?fieldSelector=metadata.namespace=x", None, Shows(200, {"items": []})),
    Case("a limit that is no number", "GET configmaps?limit=x", None,
         Refused(400, "BadRequest", 'strconv.ParseInt: parsing "x": invalid syntax')),
    Case("an empty limit is no number", "GET configmaps?limit=", None,
         Refused(400, "BadRequest", 'strconv.ParseInt: parsing "": invalid syntax')),
    Case("an empty timeout is no number", "GET configmaps?timeoutSeconds=", None,
         Refused(400, "BadRequest", 'strconv.ParseInt: parsing "": invalid syntax')),
    Case("a negative limit is no limit", "GET configmaps?limit=-1", None,
         Shows(200, {"metadata": {"continue": None}, "items": [{"metadata": {"name": "a"}}]}), before=ONE),
    Case("a limit of zero is no limit", "GET configmaps?limit=0", None,
         Shows(200, {"items": [{"metadata": {"name": "a"}}]}), before=ONE),
    Case("a limit as large as the list makes one page", "GET configmaps?limit=1", None,
         Shows(200, {"metadata": {"continue": None, "remainingItemCount": None}, "items": [{}]}), before=ONE),
    Case("a continue token that is no base64", "GET configmaps?limit=1&continue=!!", None,
         Refused(400, "BadRequest",
                 "invalid continue token: continue key is not valid: illegal base64 data at input byte 0")),
    Case("a continue token that is no JSON", "GET configmaps?limit=1&continue=bm90anNvbg", None,
         Refused(400, "BadRequest",
                 "invalid continue token: continue key is not valid: invalid character 'o' in literal null "
                 "(expecting 'u')")),
    Case("a continue token of another version",
         "GET configmaps?limit=1&continue=eyJ2IjoidjEiLCJydiI6MSwic3RhcnQiOiJhIn0", None,
         Refused(400, "BadRequest",
                 "invalid continue token: continue key is not valid: server does not recognize this encoded version "
                 "v1")),
    Case("a continue token without a start",
         "GET configmaps?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MX0", None,
         Refused(400, "BadRequest",
                 "invalid continue token: continue key is not valid: encoded start key empty (version "
                 "meta.k8s.io/v1)")),
    Case("a continue token that leads out of its place",
         "GET configmaps?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIvLi4vc2VjcmV0cy94In0",
         None, Refused(400, "BadRequest", "invalid continue token: continue key is not valid: /../secrets/x")),
    Case("a continue token and a version",
         "GET configmaps?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0&resourceVersion=5",
         None, Refused(400, "BadRequest", "specifying resource version is not allowed when using continue")),
    Case("a continue token and version zero", "GET configmaps?limit=1&continue=bm90anNvbg&resourceVersion=0", None,
         Refused(400, "BadRequest",
                 "invalid continue token: continue key is not valid: invalid character 'o' in literal null "
                 "(expecting 'u')")),
    Case("a continue token and a match",
         "GET configmaps?limit=1&continue=bm90anNvbg&resourceVersionMatch=Exact&resourceVersion=1", None,
         Refused(422, "Invalid",
                 'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is '
                 "forbidden when continue is provided",
                 "ListOptions.meta.k8s.io", ["FieldValueForbidden resourceVersionMatch"])),
    Case("a match without a version", "GET configmaps?resourceVersionMatch=Exact", None,
         Refused(422, "Invalid",
                 'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is '
                 "forbidden unless resourceVersion is provided",
                 "ListOptions.meta.k8s.io", ["FieldValueForbidden resourceVersionMatch"])),
    Case("not older than no version", "GET configmaps?resourceVersionMatch=NotOlderThan", None,
         Refused(422, "Invalid",
                 'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is '
                 "forbidden unless resourceVersion is provided",
                 "ListOptions.meta.k8s.io", ["FieldValueForbidden resourceVersionMatch"])),
    Case("exactly version zero", "GET configmaps?resourceVersionMatch=Exact&resourceVersion=0", None,
         Refused(422, "Invalid",
                 'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch '
                 '"exact" is forbidden for resourceVersion "0"',
                 "ListOptions.meta.k8s.io", ["FieldValueForbidden resourceVersionMatch"])),
    Case("a match that has no such name", "GET configmaps?resourceVersionMatch=Newest&resourceVersion=1", None,
         Refused(422, "Invalid",
                 'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Newest": '
                 'supported values: "Exact", "NotOlderThan", ""',
                 "ListOptions.meta.k8s.io", ["FieldValueNotSupported resourceVersionMatch"])),
    Case("a version that is no number for a list", "GET configmaps?resourceVersion=x", None,
         Refused(400, "BadRequest",
                 'invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": '
                 "invalid syntax")),
    Case("a version of twenty digits for a list", "GET configmaps?resourceVersion=99999999999999999999", None,
         Refused(400, "BadRequest",
                 'invalid resource version: resourceVersion: Invalid value: "99999999999999999999": '
                 'strconv.ParseUint: parsing "99999999999999999999": value out of range')),
    Case("initial events belong to a watch", "GET configmaps?sendInitialEvents=true", None,
         Refused(422, "Invalid",
                 'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is '
                 "forbidden for list",
                 "ListOptions.meta.k8s.io", ["FieldValueForbidden sendInitialEvents"])),
    Case("initial events belong to a watch even with a match",
         "GET configmaps?sendInitialEvents=true&resourceVersionMatch=NotOlderThan", None,
         Refused(422, "Invalid",
                 'ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is '
                 "forbidden unless resourceVersion is provided, sendInitialEvents: Forbidden: sendInitialEvents is "
                 "forbidden for list]",
                 "ListOptions.meta.k8s.io",
                 ["FieldValueForbidden resourceVersionMatch", "FieldValueForbidden sendInitialEvents"])),
    Case("version zero is whatever the server has",
         "GET configmaps?resourceVersion=0&resourceVersionMatch=NotOlderThan", None,
         Shows(200, {"kind": "ConfigMapList"})),
    Case("a parameter that nobody knows is not looked at", "GET configmaps?color=red", None,
         Shows(200, {"items": []})),
    Case("a time-out that is no number", "GET configmaps?timeoutSeconds=soon", None,
         Refused(400, "BadRequest", 'strconv.ParseInt: parsing "soon": invalid syntax')),
]  # fmt: skip


@each(LIST)
async def test_list(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


SELECTED = [
    ("app=web", ["a", "b"]),
    ("app==web", ["a", "b"]),
    ("app!=web", ["c", "d"]),
    ("app", ["a", "b", "c"]),
    ("!app", ["d"]),
    ("app+in+(web,db)", ["a", "b", "c"]),
    ("app+notin+(web)", ["c", "d"]),
    ("app=web,tier=front", ["a"]),
    ("app=web,tier!=front", ["b"]),
    ("tier+in+(front),app", ["a"]),
    ("size%3E2", ["c"]),
    ("size%3C3", ["b"]),
    ("app=", []),
    ("", ["a", "b", "c", "d"]),
    ("+app+=+web+,+tier+", ["a"]),
    ("app+in+()", []),
    ("example.com/part=x", ["d"]),
]


@pytest.mark.parametrize(("selector", "names"), SELECTED)
async def test_labels_select(raw: Raw, selector: str, names: list[str]) -> None:
    labels: dict[str, dict[str, str]] = {
        "a": {"app": "web", "tier": "front"},
        "b": {"app": "web", "size": "2"},
        "c": {"app": "db", "size": "3"},
        "d": {"example.com/part": "x"},
    }
    for name, each_labels in labels.items():
        await raw.ok("POST configmaps", config_map(name, metadata={"labels": each_labels}))
    assert names_of(await raw.ok(f"GET configmaps?labelSelector={selector}")) == names


FIELDS = [
    ("configmaps", "metadata.name=a", ["a"]),
    ("configmaps", "metadata.name!=a", ["b"]),
    ("configmaps", "metadata.name==b,metadata.namespace={ns}", ["b"]),
    ("configmaps", "metadata.namespace!={ns}", []),
    ("pods", "status.phase=Pending", ["p", "q"]),
    ("pods", "spec.nodeName=n1", ["q"]),
    ("pods", "spec.nodeName=", ["p"]),
    ("pods", "spec.restartPolicy=Never", ["q"]),
    ("pods", "status.phase!=Pending", []),
    ("pods", "spec.schedulerName=default-scheduler,spec.nodeName!=n1", ["p"]),
    ("secrets", "type=Opaque", ["s"]),
    ("secrets", "type=other", []),
    ("gadgets", "spec.color=green", ["h"]),
    ("gadgets", "spec.color!=green", ["g"]),
    ("gadgets", "metadata.name=h", ["h"]),
]  # fmt: skip


@pytest.mark.parametrize(("plural", "selector", "names"), FIELDS)
async def test_fields_select(raw: Raw, crds: None, plural: str, selector: str, names: list[str]) -> None:
    things: dict[str, list[Any]] = {
        "configmaps": [config_map("a"), config_map("b")],
        "pods": [pod("p"), pod("q", nodeName="n1", restartPolicy="Never")],
        "secrets": [{"metadata": {"name": "s"}}],
        "gadgets": [gadget("g"), gadget("h", color="green")],
    }
    for thing in things[plural]:
        await raw.ok(f"POST {plural}", thing)
    assert names_of(await raw.ok(f"GET {plural}?fieldSelector={selector}")) == names


async def test_one_object_by_field_across_namespaces(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    found = await raw.ok("GET /api/v1/configmaps?fieldSelector=metadata.namespace={ns}")
    assert names_of(found) == ["a"]


async def three(raw: Raw) -> None:
    for name in "abc":
        await raw.ok("POST configmaps", config_map(name))


async def test_pages_go_on_where_the_last_ended(raw: Raw) -> None:
    await three(raw)
    first = await raw.ok("GET configmaps?limit=2")
    assert names_of(first) == ["a", "b"]
    assert first["metadata"]["remainingItemCount"] == 1
    second = await raw.ok(f"GET configmaps?limit=2&continue={first['metadata']['continue']}")
    assert names_of(second) == ["c"]
    assert set(second["metadata"]) == {"resourceVersion"}


async def test_all_pages_are_of_one_moment(raw: Raw) -> None:
    await three(raw)
    first = await raw.ok("GET configmaps?limit=1")
    await raw.ok("DELETE configmaps/b")
    await raw.ok("POST configmaps", config_map("d"))
    rest = await raw.ok(f"GET configmaps?continue={first['metadata']['continue']}")
    assert names_of(rest) == ["b", "c"]
    assert rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


async def test_pages_with_a_selector_do_not_count_what_remains(raw: Raw) -> None:
    for name in "abc":
        await raw.ok("POST configmaps", config_map(name, metadata={"labels": {"app": "x"}}))
    first = await raw.ok("GET configmaps?limit=1&labelSelector=app=x")
    assert set(first["metadata"]) == {"resourceVersion", "continue"}
    second = await raw.ok(f"GET configmaps?limit=5&labelSelector=app=x&continue={first['metadata']['continue']}")
    assert names_of(second) == ["b", "c"]


async def test_a_page_is_filled_with_what_matches(raw: Raw) -> None:
    for name, app in zip("abcd", "xyxy", strict=True):
        await raw.ok("POST configmaps", config_map(name, metadata={"labels": {"app": app}}))
    first = await raw.ok("GET configmaps?limit=2&labelSelector=app=y")
    assert names_of(first) == ["b", "d"]


async def test_a_continue_token_says_where_in_base64(raw: Raw) -> None:
    await three(raw)
    first = await raw.ok("GET configmaps?limit=1")
    token = first["metadata"]["continue"]
    read = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    version = int(first["metadata"]["resourceVersion"])
    assert read == {"v": "meta.k8s.io/v1", "rv": version, "start": "/a\u0000"}


async def test_a_list_may_be_of_an_exact_moment(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a"))
    then = (await raw.ok("GET configmaps"))["metadata"]["resourceVersion"]
    await raw.ok("POST configmaps", config_map("b"))
    exact = await raw.ok(f"GET configmaps?resourceVersion={then}&resourceVersionMatch=Exact")
    assert names_of(exact) == ["a"]
    assert exact["metadata"]["resourceVersion"] == then


async def test_a_limited_list_at_a_version_is_of_that_exact_moment(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a"))
    then = (await raw.ok("GET configmaps"))["metadata"]["resourceVersion"]
    await raw.ok("DELETE configmaps/a")
    assert names_of(await raw.ok(f"GET configmaps?resourceVersion={then}&limit=5")) == ["a"]


async def test_a_list_not_older_than_a_version_is_of_now(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a"))
    then = (await raw.ok("GET configmaps"))["metadata"]["resourceVersion"]
    newest = (await raw.ok("POST configmaps", config_map("b")))["metadata"]["resourceVersion"]
    await raw.remembered("configmaps/b")  # a real server lists what it has in memory
    found = await raw.ok(f"GET configmaps?resourceVersion={then}&resourceVersionMatch=NotOlderThan")
    assert names_of(found) == ["a", "b"]
    assert int(found["metadata"]["resourceVersion"]) >= int(newest)


async def test_a_list_sees_what_was_just_written(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    found = await raw.ok("GET configmaps")
    assert int(found["metadata"]["resourceVersion"]) >= int(made["metadata"]["resourceVersion"])


async def test_an_item_of_a_list_has_its_own_version(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map("a"))
    await raw.ok("POST configmaps", config_map("b"))
    found = await raw.ok("GET configmaps")
    assert found["items"][0]["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


async def test_all_namespaces_are_listed_in_the_order_of_their_paths(raw: Raw) -> None:
    other = await raw.ok("POST /api/v1/namespaces", {"metadata": {"name": raw.namespace + "-b"}})
    place = f"/apis/coordination.k8s.io/v1/namespaces/{other['metadata']['name']}/leases"
    await raw.ok(f"POST {place}", {"metadata": {"name": "a"}})
    await raw.ok("POST leases", {"metadata": {"name": "b"}})
    found = await raw.ok("GET /apis/coordination.k8s.io/v1/leases")
    # The separator counts: `x-b/a` comes before `x/b`.
    places = [f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in found["items"]]
    assert places == sorted(places)
    assert {f"{raw.namespace}/b", f"{raw.namespace}-b/a"} <= set(places)


async def test_a_version_that_is_not_reached_within_three_seconds_is_a_timeout(raw: Raw) -> None:
    answer = await raw("GET configmaps?resourceVersion=9999999999999999999&resourceVersionMatch=NotOlderThan")
    refusal = answer.refusal
    known, _, current = refusal.message.rpartition(" ")
    assert current.isdecimal()
    assert known == "Timeout: Too large resource version: 9999999999999999999, current:"
    assert (refusal.code, refusal.reason, refusal.retry_after) == (504, "Timeout", 1)
    assert answer.json["details"]["causes"] == [
        {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    ]


def names_of(found: Any) -> list[str]:
    return [item["metadata"]["name"] for item in found["items"]]
