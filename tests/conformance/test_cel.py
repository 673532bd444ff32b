"""Validation rules: which a CRD may have, what they make of objects, and what they may cost."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance.crds import CRDS, GROUP, custom, definition, serve
from conformance.requests import SECONDS, Answer, Raw
from conformance.servers import Server

SPEC = "spec.validation.openAPIV3Schema.properties[spec]"
RULE = f"{SPEC}.x-kubernetes-validations[0]"
ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are "
    "declared)"
)
# Recorded from the real server: rules that it refuses, with what it says, and expressions, with what they come to as
# text, or ERROR and why they come to nothing.
RECORDED = json.loads((Path(__file__).parent / "cel_cases.json").read_text())
REFUSED: list[tuple[str, str]] = [tuple(each) for each in RECORDED["refused"]]
VALUES: list[tuple[str, str]] = [tuple(each) for each in RECORDED["values"]]
Schema = dict[str, Any]
Causes = list[tuple[str, str, str]]


def with_spec(**spec: Any) -> Schema:
    """The schema of a kind with nothing but a spec."""
    return {"type": "object", "properties": {"spec": {"type": "object", **spec}}}


def rules(*texts: str | Mapping[str, Any]) -> dict[str, Any]:
    return {"x-kubernetes-validations": [{"rule": each} if isinstance(each, str) else each for each in texts]}


def text(longest: int = 10, **more: Any) -> Schema:
    return {"type": "string", "maxLength": longest, **more}


def told(answer: Answer) -> Causes:
    """The causes of a refusal."""
    assert answer.code == 422, f"not refused: {answer.body.decode()}"
    return [(cause["reason"], cause["field"], cause["message"]) for cause in answer.json["details"]["causes"]]


async def define(raw: Raw, schema: Schema, **version: Any) -> Answer:
    """Try to create a CRD."""
    return await raw(f"POST {CRDS}?dryRun=All", definition("ruletries", "RuleTry", schema, **version))


def place(plural: str, name: str = "") -> str:
    return f"/apis/{GROUP}/v1/namespaces/{{ns}}/{plural}" + (f"/{name}" if name else "")


@pytest.mark.parametrize(("rule", "message"), REFUSED, ids=[rule for rule, _ in REFUSED])
async def test_a_rule_is_refused(raw: Raw, rule: str, message: str) -> None:
    answer = await define(raw, with_spec(properties=RECORDED["refusing"], **rules(rule)))
    ((reason, field, found),) = told(answer)
    assert (reason, field, found.partition('"OptionalOldSelf":null}: ')[2]) == (
        "FieldValueInvalid",
        f"{RULE}.rule",
        message,
    )


@pytest.fixture(scope="session")
def outcomes(server: Server) -> list[str]:
    """What each of VALUES comes to: all are rules of one kind, and one object breaks them all."""
    broken = [
        {"rule": f"dyn({each}) == dyn(null)", "messageExpression": f"'%s'.format([dyn({each})])", "message": "RULE"}
        for each, _ in VALUES
    ]

    async def ask() -> list[str]:
        async with Raw(server.url, server.ca_file, server.token) as raw:
            raw.namespace = "default"
            await serve(
                raw, definition("rulevalues", "RuleValue", with_spec(properties=RECORDED["fields"], **rules(*broken)))
            )
            answer = await raw(f"POST {place('rulevalues')}", custom("RuleValue", "v", spec=RECORDED["object"]))
            return [message for _, _, message in told(answer)]

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("index", "value"), [(i, value) for i, (_, value) in enumerate(VALUES)], ids=[each for each, _ in VALUES]
)
def test_an_expression_comes_to(outcomes: list[str], index: int, value: str) -> None:
    problem = value.removeprefix("ERROR ")
    if problem == value:
        assert outcomes[index] == f"Invalid value: {value}"
    elif problem.startswith("'no such overload"):
        rest = "call arguments did not match a supported operator, function or macro signature for rule: RULE"
        assert outcomes[index] == f'Invalid value: "object": {problem}: {rest}'
    else:
        assert outcomes[index] == f'Invalid value: "object": {problem} evaluating rule: RULE'


FORMS: list[tuple[str, Schema, Causes]] = [
    ("no rule", rules(""), [("FieldValueRequired", f"{RULE}.rule", "Required value: rule is not specified")]),
    ("a message of spaces", rules({"rule": "true", "message": "  "}),
     [("FieldValueInvalid", f"{RULE}.message", 'Invalid value: "  ": must be non-empty if specified')]),
    ("a message with a line break", rules({"rule": "true", "message": "a\nb"}),
     [("FieldValueInvalid", f"{RULE}.message", 'Invalid value: "a\\nb": must not contain line breaks')]),
    ("a rule with a line break and no message", rules("true &&\ntrue"),
     [("FieldValueRequired", f"{RULE}.message",
       "Required value: message must be specified if rule contains line breaks")]),
    ("a message expression of spaces", rules({"rule": "true", "messageExpression": " "}),
     [("FieldValueRequired", f"{RULE}.messageExpression",
       "Required value: messageExpression must be non-empty if specified")]),
    ("an unknown reason", rules({"rule": "true", "reason": "Because"}),
     [("FieldValueNotSupported", f"{RULE}.reason",
       ('Unsupported value: "Because": supported values: "FieldValueDuplicate", "FieldValueForbidden", '
       '"FieldValueInvalid", "FieldValueRequired"'))]),
    ("a path to no field", rules({"rule": "true", "fieldPath": ".nothing"}),
     [("FieldValueInvalid", f"{RULE}.fieldPath", 'Invalid value: ".nothing": must be a valid path')]),
    ("a path that is none", rules({"rule": "true", "fieldPath": "low"}),
     [("FieldValueInvalid", f"{RULE}.fieldPath", 'Invalid value: "low": must be a valid path')]),
    ("a path into a list", rules({"rule": "true", "fieldPath": ".list[0]"}),
     [("FieldValueInvalid", f"{RULE}.fieldPath", 'Invalid value: ".list[0]": must be a valid path')]),
    ("an optional oldSelf that is not used", rules({"rule": "true", "optionalOldSelf": True}),
     [("FieldValueInvalid", f"{RULE}.optionalOldSelf",
       "Invalid value: true: may not be set if oldSelf is not used in rule")]),
    ("a message that is no text", rules({"rule": "true", "messageExpression": "self.low"}),
     [("FieldValueInvalid", f"{RULE}.messageExpression",
       ('Invalid value: {"Rule":"true","Message":"","MessageExpression":"self.low","Reason":null,"FieldPath":"",'
       '"OptionalOldSelf":null}: messageExpression must evaluate to a string'))]),
    ("a message that can't be compiled", rules({"rule": "true", "messageExpression": "self.nothing"}),
     [("FieldValueInvalid", f"{RULE}.messageExpression",
       ('Invalid value: {"Rule":"true","Message":"","MessageExpression":"self.nothing","Reason":null,"FieldPath":"",'
       '"OptionalOldSelf":null}: messageExpression compilation failed: ERROR: <input>:1:5: undefined field '
       "'nothing'\n | self.nothing\n | ....^"))]),
    ("labels", rules("self.embedded.metadata.labels.a == 'b'"),
     [("FieldValueInvalid", f"{RULE}.rule",
       ('Invalid value: {"Rule":"self.embedded.metadata.labels.a == \'b\'","Message":"","MessageExpression":"",'
       '"Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:23: undefined '
       "field 'labels'\n | self.embedded.metadata.labels.a == 'b'\n | ......................^"))]),
    ("a field without a schema", rules("self.free == 1"),
     [("FieldValueInvalid", f"{RULE}.rule",
       ('Invalid value: {"Rule":"self.free == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"",'
       '"OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field \'free\'\n'
       " | self.free == 1\n | ....^"))]),
]  # fmt: skip
FORM_FIELDS = {
    "low": {"type": "integer"},
    "list": {"type": "array", "maxItems": 3, "items": {"type": "integer"}},
    "embedded": {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    },
    "free": {"x-kubernetes-preserve-unknown-fields": True},
}


@pytest.mark.parametrize(("rule", "causes"), [each[1:] for each in FORMS], ids=[each[0] for each in FORMS])
async def test_a_rule_has_or_names(raw: Raw, rule: Schema, causes: Causes) -> None:
    assert told(await define(raw, with_spec(properties=FORM_FIELDS, **rule))) == causes


async def test_all_problems_of_several_rules_are_told(raw: Raw) -> None:
    schema = with_spec(properties={"a": text(**rules("self.b", "self > 1"))}, **rules("true", "self.c"))
    found = [(field, message.rpartition("<input>:")[2].partition("\n")[0]) for _, field, message in
             told(await define(raw, schema))]  # fmt: skip
    assert found == [
        (
            f"{SPEC}.properties[a].x-kubernetes-validations[0].rule",
            "1:5: type 'string' does not support field selection",
        ),
        (
            f"{SPEC}.properties[a].x-kubernetes-validations[1].rule",
            "1:6: found no matching overload for '_>_' applied to '(string, int)'",
        ),
        (f"{SPEC}.x-kubernetes-validations[1].rule", "1:5: undefined field 'c'"),
    ]


async def test_expressions_are_not_looked_at_where_the_schema_is_wrong(raw: Raw) -> None:
    wrong = {"type": "array", "x-kubernetes-list-type": "none", "items": {"type": "string"}}
    found = told(await define(raw, with_spec(properties={"a": wrong}, **rules("self.nothing"))))
    assert [field for _, field, _ in found] == [f"{SPEC}.properties[a].x-kubernetes-list-type"]


@pytest.mark.parametrize(
    ("says", "field", "refused_within"),
    [
        ("an atomic list", {"type": "array", "maxItems": 3}, f"{SPEC}.properties[f]"),
        ("a set", {"type": "array", "maxItems": 3, "x-kubernetes-list-type": "set"}, f"{SPEC}.properties[f]"),
    ],
)
async def test_items_can_not_be_compared_with_what_was_in(
    raw: Raw, says: str, field: Schema, refused_within: str
) -> None:
    field = {**field, "items": text(**rules("self == oldSelf"))}
    where = f"{SPEC}.properties[f].items.x-kubernetes-validations[0].rule"
    assert told(await define(raw, with_spec(properties={"f": field}))) == [
        (
            "FieldValueInvalid",
            where,
            (
                'Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema '
                f"within {refused_within}"
            ),
        )
    ], says


async def test_a_default_must_keep_the_rules(raw: Raw) -> None:
    field = text(default="bad", **rules("self != 'bad'"))
    assert told(await define(raw, with_spec(properties={"f": field}))) == [
        ("FieldValueInvalid", f"{SPEC}.properties[f].default", "Invalid value: \"bad\": failed rule: self != 'bad'")
    ]


def each_of(most: int | None, rule: str, **field: Any) -> Schema:
    """A list of at most so many texts with a rule on each."""
    many = {"maxItems": most} if most is not None else {}
    return with_spec(properties={"l": {"type": "array", **many, "items": {"type": "string", **field, **rules(rule)}}})


ITEM = f"{SPEC}.properties[l].items.x-kubernetes-validations[0].rule"
TOO_MUCH = f"Forbidden: estimated rule cost exceeds budget by factor of {{}} {ADVICE}"
COSTS: list[tuple[str, Schema, Causes]] = [
    ("little more than it may", each_of(35_000, "self.contains('abc')", maxLength=720),
     [("FieldValueForbidden", ITEM, TOO_MUCH.format("1.011500x"))]),
    ("twice what it may", each_of(70_000, "self.contains('abc')", maxLength=720),
     [("FieldValueForbidden", ITEM, TOO_MUCH.format("2.0x"))]),
    ("much more than it may", each_of(None, "self.contains('abc')"),
     [("FieldValueForbidden", ITEM, TOO_MUCH.format("more than 100x")),
      ("FieldValueForbidden", ITEM,
       "Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"),
      ("FieldValueForbidden", "spec.validation.openAPIV3Schema",
       ("Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by "
       f"factor of more than 100x {ADVICE}"))]),
    ("endlessly much for its message", with_spec(
        properties={"n": {"type": "integer"}},
        **rules({"rule": "true", "messageExpression": "'n is ' + string(self.n)"})),
     [("FieldValueForbidden", f"{RULE}.messageExpression",
       f"Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x {ADVICE}"),
      ("FieldValueForbidden", f"{RULE}.messageExpression",
       "Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"),
      ("FieldValueForbidden", "spec.validation.openAPIV3Schema",
       ("Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by "
       f"factor of more than 100x {ADVICE}"))]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "causes"), [each[1:] for each in COSTS], ids=[each[0] for each in COSTS])
async def test_a_rule_could_cost(raw: Raw, schema: Schema, causes: Causes) -> None:
    assert told(await define(raw, schema)) == causes


async def test_rules_that_are_each_cheap_enough_can_be_too_many(raw: Raw) -> None:
    names = [f"f{index}" for index in range(12)]
    cheap = {"type": "array", "maxItems": 34_000, "items": text(720, **rules("self.contains('abc')"))}
    found = told(await define(raw, with_spec(properties=dict.fromkeys(names, cheap))))
    assert len(found) == 5
    assert found[-1][1:] == (
        "spec.validation.openAPIV3Schema",
        (
            "Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget "
            "by "
            f"factor of 1.179120x {ADVICE}"
        ),
    )


@pytest.mark.parametrize(
    ("says", "schema"),
    [
        ("nested loops over short lists", with_spec(
            properties={"l": {"type": "array", "maxItems": 20, "items": text()}},
            **rules("self.l.all(x, self.l.exists_one(y, x == y))"))),
        ("an endless text", with_spec(properties={"t": {"type": "string"}}, **rules("self.t.matches('^[a-z]+$')"))),
        ("an enumeration", each_of(1000, "self.matches('^[a-z]+$')", enum=["a", "b"])),
    ],
)  # fmt: skip
async def test_a_rule_is_cheap_enough(raw: Raw, says: str, schema: Schema) -> None:
    answer = await define(raw, schema)
    assert answer.code == 201, f"{says}: {answer.body.decode()}"


THING = definition(
    "rulethings",
    "RuleThing",
    {
        "type": "object",
        **rules({"rule": "self.metadata.name.startsWith('t')", "message": "names start with t"}),
        "properties": {
            "spec": {
                "type": "object",
                **rules(
                    {"rule": "self.low <= self.high", "message": "too low", "fieldPath": ".low"},
                    {"rule": "!has(self.secret)", "message": "keep it", "reason": "FieldValueForbidden",
                     "fieldPath": ".secret"},
                    {"rule": "self.low != 13", "messageExpression": "'not %d'.format([self.low])"},
                    {"rule": "self.low != 14", "messageExpression": "'a\\nb'", "message": "fallback"},
                    {"rule": "self.low != 15", "messageExpression": "'%d'.format([10 / (self.low - 15)])"},
                    {"rule": "self.low != 16", "reason": "FieldValueDuplicate"},
                    {"rule": "self.low != 17", "reason": "FieldValueRequired"},
                    {"rule": "self.low != 18 || self.list[9] == ''", "message": "no such thing"},
                    {"rule": "self.low != 19", "fieldPath": ".limits['cpu.max']"},
                ),
                "properties": {
                    "low": {"type": "integer", "default": 1, **rules("self > 0")},
                    "high": {"type": "integer", "default": 100},
                    "secret": text(),
                    "fixed": text(**rules({"rule": "self == oldSelf", "message": "is immutable"})),
                    "once": text(
                        **rules({"rule": "oldSelf.orValue(self) == self", "optionalOldSelf": True,
                                 "messageExpression": "'was ' + self"})
                    ),
                    "fresh": text(
                        **rules({"rule": "oldSelf.hasValue() || self == 'new'", "optionalOldSelf": True})
                    ),
                    "list": {"type": "array", "maxItems": 3, "items": text(**rules("self != 'bad'"))},
                    "limits": {
                        "type": "object",
                        "maxProperties": 5,
                        "additionalProperties": {"type": "integer", **rules("self >= oldSelf")},
                    },
                    "ports": {
                        "type": "array",
                        "maxItems": 5,
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["name"],
                        **rules({"rule": "oldSelf.all(old, self.exists(new, new.name == old.name))",
                                 "message": "none may go"}),
                        "items": {
                            "type": "object",
                            "required": ["name"],
                            "properties": {
                                "name": text(),
                                "port": {"type": "integer", **rules({"rule": "self >= oldSelf", "message": "shrinks"})},
                            },
                        },
                    },
                    "maybe": text(nullable=True, **rules("self != 'bad'")),
                    "either": {"x-kubernetes-int-or-string": True, "maxLength": 5, **rules("self != 7")},
                },
            },
            "status": {
                "type": "object",
                **rules("self.phase != 'Broken'"),
                "properties": {"phase": text(), "count": {"type": "integer", **rules("self >= oldSelf")}},
            },
        },
    },
    subresources={"status": {}},
)  # fmt: skip


@pytest.fixture(scope="session")
def rulethings(server: Server) -> None:
    """The kind RuleThing is served."""

    async def ask() -> None:
        async with Raw(server.url, server.ca_file, server.token) as raw:
            await serve(raw, THING)

    asyncio.run(ask())


def thing(name: str = "t", /, **spec: Any) -> dict[str, Any]:
    return custom("RuleThing", name, spec=spec)


BROKEN: list[tuple[str, dict[str, Any], Causes]] = [
    ("a rule of the root", thing("x"), [("FieldValueInvalid", "<nil>", "Invalid value: names start with t")]),
    ("a rule that blames a field", thing(low=5, high=3), [("FieldValueInvalid", "spec.low", "Invalid value: too low")]),
    ("a rule by defaults", thing(high=0), [("FieldValueInvalid", "spec.low", "Invalid value: too low")]),
    ("a rule of a number", thing(low=0),
     [("FieldValueInvalid", "spec.low", "Invalid value: 0: failed rule: self > 0")]),
    ("a rule that forbids", thing(secret="s"), [("FieldValueForbidden", "spec.secret", "Forbidden: keep it")]),
    ("a rule with a made message", thing(low=13), [("FieldValueInvalid", "spec", "Invalid value: not 13")]),
    ("a rule whose message has lines", thing(low=14), [("FieldValueInvalid", "spec", "Invalid value: fallback")]),
    ("a rule whose message fails", thing(low=15),
     [("FieldValueInvalid", "spec", "Invalid value: failed rule: self.low != 15")]),
    ("a rule against duplicates", thing(low=16), [("FieldValueDuplicate", "spec", "Duplicate value")]),
    ("a rule that requires", thing(low=17),
     [("FieldValueRequired", "spec", "Required value: failed rule: self.low != 17")]),
    ("a rule that can't be judged", thing(low=18, list=["a"]),
     [("FieldValueInvalid", "spec", 'Invalid value: "object": index out of bounds: 9 evaluating rule: no such thing')]),
    ("a rule about a field that is not there", thing(low=18),
     [("FieldValueInvalid", "spec", 'Invalid value: "object": no such key: list evaluating rule: no such thing')]),
    ("a rule that blames a key", thing(low=19),
     [("FieldValueInvalid", "spec.limits[cpu.max]", "Invalid value: failed rule: self.low != 19")]),
    ("a rule of items", thing(list=["a", "bad", "bad"]),
     [("FieldValueInvalid", "spec.list[1]", "Invalid value: \"bad\": failed rule: self != 'bad'"),
      ("FieldValueInvalid", "spec.list[2]", "Invalid value: \"bad\": failed rule: self != 'bad'")]),
    ("a rule of what may be null", thing(maybe="bad"),
     [("FieldValueInvalid", "spec.maybe", "Invalid value: \"bad\": failed rule: self != 'bad'")]),
    ("a rule of a number or text", thing(either=7),
     [("FieldValueInvalid", "spec.either", "Invalid value: 7: failed rule: self != 7")]),
    ("a rule that there is nothing to compare with for", thing(fresh="old"),
     [("FieldValueInvalid", "spec.fresh",
       "Invalid value: \"old\": failed rule: oldSelf.hasValue() || self == 'new'")]),
    ("the schema and rules", thing(low="x", secret="s"),
     [("FieldValueTypeInvalid", "spec.low",
       'Invalid value: "string": spec.low in body must be of type integer: "string"'),
      ("FieldValueInvalid", "<nil>",
       ("Invalid value: null: some validation rules were not checked because the object was invalid; correct the "
       "existing errors to complete validation"))]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "causes"), [each[1:] for each in BROKEN], ids=[each[0] for each in BROKEN])
@pytest.mark.usefixtures("rulethings")
async def test_an_object_breaks(raw: Raw, body: dict[str, Any], causes: Causes) -> None:
    assert told(await raw(f"POST {place('rulethings')}", body)) == causes


@pytest.mark.parametrize(
    ("says", "body"),
    [
        ("transitions are for updates", thing(fixed="a", limits={"a": 1}, ports=[{"name": "a", "port": 1}])),
        ("null breaks no rule", thing(maybe=None)),
        ("text where a rule compares with a number", thing(either="7")),
        ("a value that is new", thing(fresh="new", once="a")),
    ],
)
@pytest.mark.usefixtures("rulethings")
async def test_an_object_keeps_the_rules(raw: Raw, says: str, body: dict[str, Any]) -> None:
    answer = await raw(f"POST {place('rulethings')}", body)
    assert answer.code == 201, f"{says}: {answer.body.decode()}"


TRANSITIONS: list[tuple[str, dict[str, Any], dict[str, Any], Causes]] = [
    ("a fixed field", {"fixed": "a"}, {"fixed": "b"},
     [("FieldValueInvalid", "spec.fixed", 'Invalid value: "b": is immutable')]),
    ("a fixed field that comes back", {}, {"fixed": "b"}, []),
    ("a fixed field that goes", {"fixed": "a"}, {"fixed": None}, []),
    ("an optional one", {"once": "a"}, {"once": "b"},
     [("FieldValueInvalid", "spec.once", 'Invalid value: "b": was b')]),
    ("one that may be old", {"fresh": "new"}, {"fresh": "old"}, []),
    ("a value in a map", {"limits": {"a": 2, "b": 2}}, {"limits": {"a": 1, "c": 0}},
     [("FieldValueInvalid", "spec.limits[a]", "Invalid value: 1: failed rule: self >= oldSelf")]),
    ("an item of a list map", {"ports": [{"name": "a", "port": 2}, {"name": "b", "port": 2}]},
     {"ports": [{"name": "b", "port": 3}, {"name": "a", "port": 1}]},
     [("FieldValueInvalid", "spec.ports[1].port", "Invalid value: 1: shrinks")]),
    ("a list map as a whole", {"ports": [{"name": "a"}, {"name": "b"}]}, {"ports": [{"name": "c"}, {"name": "b"}]},
     [("FieldValueInvalid", "spec.ports", "Invalid value: none may go")]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "causes"), [each[1:] for each in TRANSITIONS], ids=[each[0] for each in TRANSITIONS]
)
@pytest.mark.usefixtures("rulethings")
async def test_a_change_of(raw: Raw, before: dict[str, Any], after: dict[str, Any], causes: Causes) -> None:
    await raw.ok(f"POST {place('rulethings')}", thing(**before))
    answer = await raw(f"PATCH {place('rulethings', 't')}", {"spec": after}, patch="merge")
    if causes:
        assert told(answer) == causes
    else:
        assert answer.code == 200, answer.body.decode()


@pytest.mark.usefixtures("rulethings")
async def test_the_status_has_rules_of_its_own(raw: Raw) -> None:
    await raw.ok(f"POST {place('rulethings')}", thing())
    status = f"PATCH {place('rulethings', 't')}/status"
    await raw.ok(status, {"status": {"phase": "Fine", "count": 5}}, patch="merge")
    broken = await raw(status, {"status": {"phase": "Broken", "count": 4}}, patch="merge")
    assert told(broken) == [
        ("FieldValueInvalid", "status", "Invalid value: failed rule: self.phase != 'Broken'"),
        ("FieldValueInvalid", "status.count", "Invalid value: 4: failed rule: self >= oldSelf"),
    ]


@pytest.mark.usefixtures("rulethings")
async def test_an_update_checks_the_rules_of_the_whole_object(raw: Raw) -> None:
    made = await raw.ok(f"POST {place('rulethings')}", thing(fixed="a"))
    made["spec"] |= {"fixed": "b", "low": 200}
    assert sorted(told(await raw(f"PUT {place('rulethings', 't')}", made))) == [
        ("FieldValueInvalid", "spec.fixed", 'Invalid value: "b": is immutable'),
        ("FieldValueInvalid", "spec.low", "Invalid value: too low"),
    ]


@pytest.mark.usefixtures("rulethings")
async def test_what_is_applied_is_judged_too(raw: Raw) -> None:
    apply = f"PATCH {place('rulethings', 't')}?fieldManager=me"
    answer = await raw(apply, thing(low=5, high=3), patch="apply")
    assert told(answer) == [("FieldValueInvalid", "spec.low", "Invalid value: too low")]
    await raw.ok(apply, thing(fixed="a"), patch="apply")
    answer = await raw(apply, thing(fixed="b"), patch="apply")
    assert told(answer) == [("FieldValueInvalid", "spec.fixed", 'Invalid value: "b": is immutable')]


async def later_rules(raw: Raw, plural: str, kind: str, before: Schema, after: Schema, old: Any, bad: Any) -> None:
    """An object of a kind whose rules come later; returns when `bad` is refused."""
    crd = definition(plural, kind, before)
    await serve(raw, crd)
    await raw.ok(f"POST {place(plural)}", custom(kind, "old", spec=old))
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = after
    await raw.ok(f"PATCH {CRDS}/{crd['metadata']['name']}", {"spec": crd["spec"]}, patch="merge")
    async with asyncio.timeout(SECONDS):
        while (await raw(f"POST {place(plural)}?dryRun=All", custom(kind, "bad", spec=bad))).code != 422:
            pass


def ratcheted(*, with_rules: bool) -> Schema:
    def when(*each: str | Mapping[str, Any]) -> dict[str, Any]:
        return rules(*each) if with_rules else {}

    return with_spec(
        **when({"rule": "self.a != self.b", "message": "a is b"}),
        properties={
            "a": text(**when("self != 'bad'")),
            "b": text(),
            "n": {"type": "integer"},
            "part": {"type": "object", "properties": {"x": text(**when("self != 'bad'")), "y": {"type": "integer"}}},
            "list": {"type": "array", "maxItems": 3, "items": text(**when("self != 'bad'"))},
            "ports": {
                "type": "array",
                "maxItems": 3,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {"name": text(), "port": {"type": "integer", **when("self > 10")}},
                },
            },
        },
    )


OLD = {
    "a": "bad",
    "b": "x",
    "part": {"x": "bad"},
    "list": ["bad", "ok"],
    "ports": [{"name": "a", "port": 1}, {"name": "b", "port": 20}],
}
UNCHANGED: list[tuple[str, dict[str, Any], Causes]] = [
    ("another field", {"n": 1}, []),
    ("the field itself, to the better", {"a": "good"}, []),
    ("a field beside it", {"part": {"y": 1}}, []),
    ("the field itself", {"part": {"x": None}}, []),
    ("a list that is in it", {"list": ["bad", "better"]},
     [("FieldValueInvalid", "spec.list[0]", "Invalid value: \"bad\": failed rule: self != 'bad'")]),
    ("another item of a list map", {"ports": [{"name": "b", "port": 30}, {"name": "a", "port": 1}]}, []),
    ("an item of a list map", {"ports": [{"name": "a", "port": 2}, {"name": "b", "port": 20}]},
     [("FieldValueInvalid", "spec.ports[0].port", "Invalid value: 2: failed rule: self > 10")]),
    ("what a rule around it compares", {"b": "bad"}, [("FieldValueInvalid", "spec", "Invalid value: a is b")]),
]  # fmt: skip


@pytest.fixture(scope="session")
def ruleratchets(server: Server) -> str:
    """The namespace of an object that breaks rules that came later."""

    async def ask() -> str:
        async with Raw(server.url, server.ca_file, server.token) as raw:
            raw.namespace = "default"
            before, after = (ratcheted(with_rules=each) for each in (False, True))
            await later_rules(raw, "ruleratchets", "RuleRatchet", before, after, OLD, {"a": "bad", "b": "x"})
            return raw.namespace

    return asyncio.run(ask())


@pytest.mark.parametrize(("change", "causes"), [each[1:] for each in UNCHANGED], ids=[each[0] for each in UNCHANGED])
async def test_what_was_wrong_may_stay_if_one_changes(
    raw: Raw, ruleratchets: str, change: dict[str, Any], causes: Causes
) -> None:
    raw.namespace = ruleratchets
    answer = await raw(f"PATCH {place('ruleratchets', 'old')}?dryRun=All", {"spec": change}, patch="merge")
    if causes:
        assert told(answer) == causes
    else:
        assert answer.code == 200, answer.body.decode()


async def test_what_may_stay_is_warned_of(raw: Raw, ruleratchets: str) -> None:
    raw.namespace = ruleratchets
    change = {"spec": {"n": 1, "part": None, "list": None, "ports": None}}
    answer = await raw(f"PATCH {place('ruleratchets', 'old')}?dryRun=All", change, patch="merge")
    assert answer.warnings == ['299 - "spec.a: Invalid value: \\"bad\\": failed rule: self != \'bad\'"']


async def test_what_may_stay_is_warned_of_with_a_refusal_too(raw: Raw, ruleratchets: str) -> None:
    raw.namespace = ruleratchets
    change = {"spec": {"n": 1, "part": None, "list": ["bad"], "ports": None}}
    answer = await raw(f"PATCH {place('ruleratchets', 'old')}?dryRun=All", change, patch="merge")
    assert [field for _, field, _ in told(answer)] == ["spec.list[0]"]
    assert answer.warnings == ['299 - "spec.a: Invalid value: \\"bad\\": failed rule: self != \'bad\'"']


async def test_an_evaluation_that_gets_too_expensive_is_given_up(raw: Raw) -> None:
    loop = "self.l.all(a, self.l.all(b, self.l.all(c, a + b + c != 7)))"
    schema = with_spec(
        properties={"l": {"type": "array", "maxItems": 100, "items": {"type": "integer"}}}, **rules(loop)
    )
    await serve(raw, definition("ruleloops", "RuleLoop", schema))
    found = told(await raw(f"POST {place('ruleloops')}", custom("RuleLoop", "l", spec={"l": [1] * 100})))
    assert found == [
        (
            "FieldValueInvalid",
            "spec",
            (
                "Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation "
                "rules "
                f"will be run due to call cost exceeds limit for rule: {loop}"
            ),
        )
    ]


async def test_an_unchanged_crd_may_be_written_again(raw: Raw) -> None:
    crd = definition("ruleagains", "RuleAgain", with_spec(properties={"a": text(**rules("self != 'bad'"))}))
    await serve(raw, crd)
    labels = {"metadata": {"labels": {"a": "b"}}}
    await raw.ok(f"PATCH {CRDS}/{crd['metadata']['name']}", labels, patch="merge")
    broken = [{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a"
               "/x-kubernetes-validations/0/rule", "value": "self.x"}]  # fmt: skip
    answer = await raw(f"PATCH {CRDS}/{crd['metadata']['name']}", broken, patch="json")
    assert [field for _, field, _ in told(answer)] == [f"{SPEC}.properties[a].x-kubernetes-validations[0].rule"]
