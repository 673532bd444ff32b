"""Fields that nobody knows and fields that come twice: dropped, warned about or refused, as the request says."""

from conformance.cases import Case, each
from conformance.crds import GROUP, custom, gadget
from conformance.objects import config_map, deployment
from conformance.requests import Raw, Refused, Shows

TWICE = '{"metadata": {"name": "a"}, "data": {"k": "1", "k": "2"}}'
GADGET_TWICE = (
    f'{{"apiVersion": "{GROUP}/v1", "kind": "Gadget", "metadata": {{"name": "g"}}, "spec": {{"size": 1, "size": 2}}}}'
)
OPEN_TWICE = f'{{"apiVersion": "{GROUP}/v1", "kind": "OpenThing", "metadata": {{"name": "o"}}, "x": 1, "x": 2}}'
YAML = "metadata:\n  name: a\ndata:\n  k: v\n"
YAML_TWICE = "metadata:\n  name: a\ndata:\n  k: v\n  k: w\n"

ANSWERED = [
    Case("an unknown field is warned about unless told otherwise", "POST configmaps", config_map(color="red"),
         Shows(201, warnings=['299 - "unknown field \\"color\\""'])),
    Case("an unknown field is dropped in silence", "POST configmaps?fieldValidation=Ignore", config_map(color="red"),
         Shows(201, {"color": None})),
    Case("an unknown field is warned about", "POST configmaps?fieldValidation=Warn", config_map(color="red"),
         Shows(201, warnings=['299 - "unknown field \\"color\\""'])),
    Case("an unknown field is refused", "POST configmaps?fieldValidation=Strict", config_map(color="red"),
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field '
                 '"color"')),
    Case("unknown fields deep inside", "POST deployments?fieldValidation=Strict",
         deployment(color="red", template={"metadata": {"labels": {"app": "web"}, "x": 1},
                                           "spec": {"containers": [{"name": "m", "image": "x", "y": 1}]}}),
         Refused(400, "BadRequest",
                 'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown '
                 'field "spec.template.metadata.x", unknown field "spec.template.spec.containers[0].y", unknown '
                 'field "spec.color"')),
    Case("an unknown field of metadata", "POST configmaps?fieldValidation=Strict",
         config_map(metadata={"color": "red"}),
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field '
                 '"metadata.color"')),
    Case("a field in other case is unknown", "POST configmaps?fieldValidation=Strict", config_map(Data={"k": "v"}),
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field '
                 '"Data"')),
    Case("a field in other case is not read", "POST configmaps?fieldValidation=Ignore", config_map(Data={"k": "v"}),
         Shows(201, {"data": None})),
    Case("the last of two wins", "POST configmaps?fieldValidation=Ignore", TWICE, Shows(201, {"data": {"k": "2"}})),
    Case("a field that comes twice is warned about", "POST configmaps", TWICE,
         Shows(201, warnings=['299 - "duplicate field \\"data.k\\""'])),
    Case("a field that comes twice is refused", "POST configmaps?fieldValidation=Strict", TWICE,
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate '
                 'field "data.k"')),
    Case("a whole part that comes twice is refused", "POST configmaps?fieldValidation=Strict",
         '{"metadata": {"name": "a"}, "data": {"k": "1"}, "data": {"n": "2"}}',
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate '
                 'field "data"')),
    Case("validation of another sort", "POST configmaps?fieldValidation=Loud", config_map(),
         Refused(422, "Invalid",
                 'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Loud": supported '
                 'values: "", "Ignore", "Strict", "Warn"',
                 "CreateOptions.meta.k8s.io", ["FieldValueNotSupported fieldValidation"])),
    Case("validation in lower case", "POST configmaps?fieldValidation=strict", config_map(),
         Refused(422, "Invalid",
                 'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "strict": supported '
                 'values: "", "Ignore", "Strict", "Warn"',
                 "CreateOptions.meta.k8s.io", ["FieldValueNotSupported fieldValidation"])),
    Case("validation without a value is the default", "POST configmaps?fieldValidation=", config_map(color="red"),
         Shows(201, warnings=['299 - "unknown field \\"color\\""'])),
    Case("an update with an unknown field", "PUT configmaps/a?fieldValidation=Strict", config_map(color="red"),
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field '
                 '"color"'), before=[("POST configmaps", config_map())]),
    Case("a patch with a field that comes twice", "PATCH configmaps/a?fieldValidation=Strict",
         '{"data": {"k": "1", "k": "2"}}',
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: OBJECT: strict decoding error: duplicate field "data.k"',
                 "", ["FieldValueInvalid patch"]), before=[("POST configmaps", config_map())], patch="merge"),
    Case("a patch with a field that comes twice is warned about", "PATCH configmaps/a",
         '{"data": {"k": "1", "k": "2"}}', Shows(200, warnings=['299 - "duplicate field \\"data.k\\""']),
         before=[("POST configmaps", config_map())], patch="merge"),
    Case("a JSON patch with an unknown field", "PATCH configmaps/a",
         [{"op": "add", "path": "/color", "value": 1, "shape": 2}],
         Shows(200, warnings=['299 - "json patch unknown field \\"[0].shape\\""', '299 - "unknown field \\"color\\""']),
         before=[("POST configmaps", config_map())], patch="json"),
    Case("a JSON patch with an unknown part is refused", "PATCH configmaps/a?fieldValidation=Strict",
         [{"op": "test", "path": "/data", "shape": 2}],
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: OBJECT: strict decoding error: json patch unknown field '
                 '"[0].shape"',
                 "", ["FieldValueInvalid patch"]), before=[("POST configmaps", config_map())], patch="json"),
    Case("a strategic patch with an unknown field is refused", "PATCH configmaps/a?fieldValidation=Strict",
         {"color": "red"},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "map[color:red]": strict decoding error: unknown field '
                 '"color"',
                 "", ["FieldValueInvalid patch"]), before=[("POST configmaps", config_map())], patch="strategic"),
    # Custom objects
    Case("an unknown custom field is warned about", "POST gadgets", gadget(shape="round"),
         Shows(201, warnings=['299 - "unknown field \\"spec.shape\\""'])),
    Case("an unknown custom field is refused", "POST gadgets?fieldValidation=Strict", gadget(shape="round"),
         Refused(400, "BadRequest",
                 'Gadget in version "v1" cannot be handled as a Gadget: strict decoding error: unknown field '
                 '"spec.shape"')),
    Case("an unknown custom field is dropped in silence", "POST gadgets?fieldValidation=Ignore",
         gadget(shape="round"), Shows(201, {"spec": {"shape": None}})),
    Case("a custom field that comes twice is refused", "POST gadgets?fieldValidation=Strict", GADGET_TWICE,
         Refused(400, "BadRequest",
                 'Gadget in version "v1" cannot be handled as a Gadget: strict decoding error: duplicate field '
                 '"spec.size"')),
    Case("a custom field that comes twice is warned about", "POST gadgets", GADGET_TWICE,
         Shows(201, warnings=['299 - "duplicate field \\"spec.size\\""'])),
    Case("what keeps unknown fields still has no fields twice", "POST openthings?fieldValidation=Strict", OPEN_TWICE,
         Refused(400, "BadRequest",
                 'OpenThing in version "v1" cannot be handled as a OpenThing: strict decoding error: duplicate '
                 'field "x"')),
    Case("what keeps unknown fields keeps them", "POST openthings?fieldValidation=Strict",
         custom("OpenThing", "o", x=1), Shows(201, {"x": 1})),
    Case("unknown custom metadata is refused", "POST gadgets?fieldValidation=Strict",
         {**gadget(), "metadata": {"name": "g", "shape": 1}},
         Refused(400, "BadRequest",
                 'Gadget in version "v1" cannot be handled as a Gadget: strict decoding error: unknown field '
                 '"metadata.shape"')),
    Case("unknown custom metadata is warned about", "POST openthings",
         custom("OpenThing", "o", metadata={"shape": 1}),
         Shows(201, warnings=['299 - "unknown field \\"metadata.shape\\""'])),
    Case("several custom complaints", "POST gadgets?fieldValidation=Strict", {**gadget(shape=1, form=2), "x": 3},
         Refused(400, "BadRequest",
                 'Gadget in version "v1" cannot be handled as a Gadget: strict decoding error: unknown field '
                 '"spec.form", unknown field "spec.shape", unknown field "x"')),
    # YAML
    Case("a body in YAML", "POST configmaps", YAML, Shows(201, {"data": {"k": "v"}}), content="application/yaml"),
    Case("YAML with a key that comes twice is warned about", "POST configmaps", YAML_TWICE,
         Shows(201, warnings=['299 - "line 5: key \\"k\\" already set in map"']), content="application/yaml"),
    Case("YAML with a key that comes twice is refused", "POST configmaps?fieldValidation=Strict", YAML_TWICE,
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: '
                 "unmarshal errors:\n  line 5: key \"k\" already set in map"), content="application/yaml"),
    Case("YAML with an unknown field is refused", "POST configmaps?fieldValidation=Strict", YAML + "color: red\n",
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field '
                 '"color"'), content="application/yaml"),
    Case("YAML that can't be read", "POST configmaps", "a: [",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): yaml: line 1: did not find "
                 "expected node content (613a205b)"), content="application/yaml"),
    Case("a custom object in YAML", "POST gadgets",
         f"apiVersion: {GROUP}/v1\nkind: Gadget\nmetadata: {{name: g}}\nspec: {{size: 3}}\n",
         Shows(201, {"spec": {"size": 3}}), content="application/yaml"),
]  # fmt: skip


@each(ANSWERED)
async def test_field_validation(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


async def test_there_are_at_most_a_hundred_complaints(raw: Raw) -> None:
    many = {f"x{number:03}": 1 for number in range(120)}
    warnings = (await raw("POST configmaps", config_map(**many))).warnings
    assert len(warnings) == 100
