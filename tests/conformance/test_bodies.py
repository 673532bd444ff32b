"""How bodies are written: JSON and YAML, and what is almost that."""

from conformance.cases import Case, each
from conformance.crds import GROUP
from conformance.requests import Raw, Refused, Shows

YAML_TYPE = "application/yaml"

JSON = [
    Case("a comma too many in an object", "POST configmaps", '{"metadata": {"name": "a",}}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 "json parse error: invalid character '}' looking for beginning of object key string "
                 '({"metadata": {"name": "a",}})')),
    Case("a comma too many in a list", "POST configmaps", '{"a": [1,]}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 'json parse error: invalid character \']\' looking for beginning of value ({"a": [1,]})')),
    Case("a key without quotes", "POST configmaps", '{"metadata": {name: "a"}}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 "json parse error: invalid character 'n' looking for beginning of object key string "
                 '({"metadata": {name: "a"}})')),
    Case("a key in single quotes", "POST configmaps", "{'a': 1}",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 "json parse error: invalid character '\\'' looking for beginning of object key string ({'a': 1})")),
    Case("a key without a colon", "POST configmaps", '{"data": {"k" 1}}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 'json parse error: invalid character \'1\' after object key ({"data": {"k" 1}})')),
    Case("fields without a comma", "POST configmaps", '{"a": 1 "b": 2}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 'json parse error: invalid character \'"\' after object key:value pair ({"a": 1 "b": 2})')),
    Case("items without a comma", "POST configmaps", '{"a": [1 2]}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 'json parse error: invalid character \'2\' after array element ({"a": [1 2]})')),
    Case("a number with a zero before it", "POST configmaps", '{"a": 01}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 'json parse error: invalid character \'1\' after object key:value pair ({"a": 01})')),
    Case("a number that is only a sign", "POST configmaps", '{"a": -x}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 'json parse error: invalid character \'x\' in numeric literal ({"a": -x})')),
    Case("a number that ends with its point", "POST configmaps", '{"a": 1.x}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 'json parse error: invalid character \'x\' after decimal point in numeric literal ({"a": 1.x})')),
    Case("a number without its exponent", "POST configmaps", '{"a": 1ex}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 'json parse error: invalid character \'x\' in exponent of numeric literal ({"a": 1ex})')),
    Case("a number that JSON has not", "POST configmaps", '{"a": NaN}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 'json parse error: invalid character \'N\' looking for beginning of value ({"a": NaN})')),
    Case("an escape that there is none of", "POST configmaps", '{"a": "\\x"}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 'json parse error: invalid character \'x\' in string escape code ({"a": "\\x"})')),
    Case("an escape that is not hexadecimal", "POST configmaps", '{"a": "\\u12x4"}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 'json parse error: invalid character \'x\' in \\u hexadecimal character escape ({"a": "\\u12x4"})')),
    Case("a line break in text", "POST configmaps", '{"a": "b\nc"}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 'json parse error: invalid character \'\\n\' in string literal ({"a": "b\nc"})')),
    Case("a word that is cut off", "POST configmaps", '{"a": tru}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 'json parse error: invalid character \'}\' in literal true (expecting \'e\') ({"a": tru})')),
    Case("a letter from elsewhere", "POST configmaps", '{"a": é}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 'json parse error: invalid character \'Ã\' looking for beginning of value ({"a": é})')),
    Case("two objects", "POST configmaps", '{"metadata": {"name": "a"}}{}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 'json parse error: invalid character \'{\' after top-level value ({"metadata": {"name": "a"}}{})')),
    Case("a mark of the byte order", "POST configmaps", '\ufeff{"metadata": {"name": "a"}}',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 "json parse error: invalid character 'ï' looking for beginning of value "
                 "(efbbbf7b226d65746164617461223a207b226e616d65223a202261227d7d)")),
    Case("bytes that are no text become marks, each its own", "POST configmaps",
         b'{"metadata": {"name": "a"}, "data": {"k": "\xe2\x82x"}}',
         Shows(201, {"data": {"k": "��x"}})),
    Case("half of a pair of escapes becomes a mark", "POST configmaps",
         '{"metadata": {"name": "a"}, "data": {"k": "\\ud800x"}}',
         Shows(201, {"data": {"k": "�x"}})),
    Case("a part that comes twice is merged", "POST configmaps",
         '{"metadata": {"name": "a"}, "data": {"k": "1"}, "data": {"n": "2"}}',
         Shows(201, {"data": {"k": "1", "n": "2"}}, warnings=['299 - "duplicate field \\"data\\""'])),
    Case("a refused body is warned about too", "POST configmaps", {"color": "red"},
         Refused(422, "Invalid",
                 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
                 "ConfigMap", ["FieldValueRequired metadata.name"], warnings=['299 - "unknown field \\"color\\""'])),
]  # fmt: skip

YAML = [
    Case("only the first document counts", "POST configmaps", "metadata: {name: a}\ndata: {k: v}\n---\nnope: [\n",
         Shows(201, {"data": {"k": "v"}}), content=YAML_TYPE),
    Case("a tab", "POST configmaps", "metadata: {name: a}\ndata:\n\tk: v\n",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): yaml: line 3: found character "
                 "that cannot start any token (6d657461646174613a207b6e616d653a20617d0a646174613a0a096b3a20 ...)"),
         content=YAML_TYPE),
    Case("an anchor that there is none of", "POST configmaps", "metadata: {name: a}\ndata: *d\n",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): yaml: unknown anchor 'd' "
                 "referenced (6d657461646174613a207b6e616d653a20617d0a646174613a202a640a)"), content=YAML_TYPE),
    Case("an anchor inside itself", "POST configmaps", "metadata: {name: a}\ndata: &d\n  k: *d\n",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): yaml: anchor 'd' value "
                 "contains itself (6d657461646174613a207b6e616d653a20617d0a646174613a2026640a20 ...)"),
         content=YAML_TYPE),
    Case("anchors and merges", "POST configmaps", "metadata: &m {name: a}\ndata:\n  <<: *m\n  k: v\n",
         Shows(201, {"data": {"k": "v", "name": "a"}}), content=YAML_TYPE),
    Case("keys that are no text", "POST configmaps",
         "metadata: {name: a}\ndata: {1: a, 1.5: b, yes: c, 0x10: d, 010: e}\n",
         Shows(201, {"data": {"1": "a", "1.5": "b", "16": "d", "8": "e", "true": "c"}}), content=YAML_TYPE),
    Case("keys that are the same", "POST configmaps", "metadata: {name: a}\ndata: {true: a, yes: b}\n",
         Shows(201, {"data": {"true": "b"}}, warnings=['299 - "line 2: key true already set in map"']),
         content=YAML_TYPE),
    Case("a list as a key", "POST configmaps", "metadata: {name: a}\ndata: {[1]: v}\n",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): yaml: invalid map key: "
                 "[]interface {}{1} (6d657461646174613a207b6e616d653a20617d0a646174613a207b5b315d ...)"),
         content=YAML_TYPE),
    Case("null as a key", "POST configmaps", "metadata: {name: a}\ndata: {~: v}\n",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): unsupported map key of type: "
                 '%!s(<nil>), key: <nil>, value: "v" '
                 "(6d657461646174613a207b6e616d653a20617d0a646174613a207b7e3a20 ...)"), content=YAML_TYPE),
    Case("times and numbers to base sixty are text", "POST configmaps",
         "metadata: {name: a}\ndata: {a: 2020-01-01, b: 1:30}\n",
         Shows(201, {"data": {"a": "2020-01-01", "b": "1:30"}}), content=YAML_TYPE),
    Case("a yes is no text", "POST configmaps", "metadata: {name: a}\ndata: {k: y}\n",
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal bool into Go '
                 "struct field ConfigMap.data of type string"), content=YAML_TYPE),
    Case("a number with an exponent is no text", "POST configmaps", "metadata: {name: a}\ndata: {k: 1e3}\n",
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into '
                 "Go struct field ConfigMap.data of type string"), content=YAML_TYPE),
    Case("binary text", "POST configmaps", "metadata: {name: a}\ndata: {k: !!binary aGk=}\n",
         Shows(201, {"data": {"k": "hi"}}), content=YAML_TYPE),
    Case("a tag that nobody knows", "POST configmaps", "metadata: {name: a}\ndata: {k: !foo v}\n",
         Shows(201, {"data": {"k": "v"}}), content=YAML_TYPE),
    Case("an infinite number", "POST configmaps", "metadata: {name: a}\nx: .inf\n",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): json: unsupported value: +Inf "
                 "(6d657461646174613a207b6e616d653a20617d0a783a202e696e660a)"), content=YAML_TYPE),
    Case("a mapping that is not closed", "POST configmaps", "metadata: {name: a\n",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): yaml: line 1: did not find "
                 "expected ',' or '}' (6d657461646174613a207b6e616d653a20610a)"), content=YAML_TYPE),
    Case("text that is not closed", "POST configmaps", "metadata: 'a\n",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): yaml: line 2: found unexpected "
                 "end of stream (6d657461646174613a2027610a)"), content=YAML_TYPE),
    Case("a mapping in a mapping on one line", "POST configmaps", "a: b: c\n",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): yaml: mapping values are not "
                 "allowed in this context (613a20623a20630a)"), content=YAML_TYPE),
    Case("a list instead of an object", "POST configmaps", "- a\n",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 "json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "
                 '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (2d20610a)'),
         content=YAML_TYPE),
    Case("nothing at all", "POST configmaps", "",
         Refused(422, "Invalid",
                 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
                 "ConfigMap", ["FieldValueRequired metadata.name"]), content=YAML_TYPE),
    Case("several complaints", "POST configmaps?fieldValidation=Strict",
         "metadata: {name: a, name: b}\nz: 1\nx: 2\ndata: {k: a, k: b}\n",
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: '
                 'unmarshal errors:\n  line 1: key "name" already set in map\n  line 4: key "k" already set in '
                 'map, unknown field "x", unknown field "z"'), content=YAML_TYPE),
    Case("complaints about a custom object", "POST gadgets?fieldValidation=Strict",
         f"apiVersion: {GROUP}/v1\nkind: Gadget\nmetadata: {{name: g}}\nspec: {{size: 3, size: 4, z: 1}}\n",
         Refused(400, "BadRequest",
                 'Gadget in version "v1" cannot be handled as a Gadget: strict decoding error: yaml: unmarshal '
                 'errors:\n  line 4: key "size" already set in map, unknown field "spec.z"'), content=YAML_TYPE),
    Case("a custom object without a kind", "POST gadgets", "metadata: {name: g}\n",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type Gadget): Object 'Kind' is missing in "
                 "'metadata: {name: g}\n' (6d657461646174613a207b6e616d653a20677d0a)"), content=YAML_TYPE),
    Case("another name for YAML", "POST configmaps", "metadata: {name: a}\n",
         Refused(415, "UnsupportedMediaType",
                 "the body of the request was in an unknown format - accepted media types include: "
                 "application/json, application/yaml, application/vnd.kubernetes.protobuf"),
         content="application/x-yaml"),
    Case("YAML that says that it is JSON", "POST configmaps", "metadata: {name: a}\n",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 "json parse error: invalid character 'm' looking for beginning of value "
                 "(6d657461646174613a207b6e616d653a20617d0a)")),
    Case("JSON that says that it is YAML", "POST configmaps", '{"metadata": {"name": "a"}}',
         Shows(201), content=YAML_TYPE),
]  # fmt: skip


@each(JSON)
async def test_json(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


@each(YAML)
async def test_yaml(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)
