"""Manifests of the kinds of resource.k8s.io, right and wrong, for `builtin_cases`: a kind, and changes of it."""

from typing import Any

Json = dict[str, Any]
VERSION = "resource.k8s.io/v1"

EXPRESSIONS = (
    'device.driver == "gpu.example.com"',
    'device.attributes["gpu.example.com"].model == "a100"',
    'device.attributes["gpu.example.com"].isReady',
    'has(device.attributes["gpu.example.com"].model) && device.attributes["gpu.example.com"].cores >= 4',
    'device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("1Gi"))',
    'device.capacity["gpu.example.com"].memory.compareTo(quantity("1Gi")) >= 0',
    'device.attributes["gpu.example.com"].version.isGreaterThan(semver("1.0.0"))',
    "device.allowMultipleAllocations",
    'device.attributes["a"].model.matches("a.*")',
    'device.attributes["a"].b + 1 > 2',
    'device.attributes["a"].b.c == 1',
    'device.attributes["a"].b.exists(each, each == "x")',
    'device.attributes.all(domain, domain.startsWith("a"))',
    'device.attributes.all(domain, device.attributes[domain].all(name, name != "a"))',
    "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, a == d))))",
    'device.attributes["a"].all(a, device.attributes["b"].all(b, device.attributes["c"].all(c, a + b + c != "x")))',
    'device.attributes["a"].b == "' + "x" * 100 + '" || device.attributes["a"].b.matches("' + "(a*)*" * 20 + '")',
    "device.driver",
    "dyn(true)",
    "1",
    "device",
    "device.other",
    "device.capacity['a'].b",
    "device.capacity['a'].b == 1",
    "self.a",
    "",
    "1 +",
    "true",
    'device.driver.startsWith("a") ? true : false',
    'device.driver.startsWith("a") ? device.attributes["a"].b : "x"',
    'ip("10.0.0.1").family() == 4 && isURL(device.driver)',
    'device.attributes["a"].includes("b")',
    "[1, 2].sum() > device.driver",
    "(" * 20 + "true" + ")" * 20,
    'cel.bind(gpu, device.attributes["gpu.example.com"], gpu.model == "a" && gpu.ready)',
    'cel.bind(device, device.driver, device == "a")',
    "cel.bind(a.b, 1, true)",
    "other.bind(a, 1, true)",
    "true || " * 2000 + "true",
)


def selected(*expressions: str) -> list[Json]:
    """Selectors with these expressions."""
    return [{"cel": {"expression": each}} for each in expressions]


def opaque(driver: str = "gpu.example.com", parameters: Any = None) -> Json:
    """Configuration for a driver."""
    return {"opaque": {"driver": driver, "parameters": {"a": 1} if parameters is None else parameters}}


def manifest(kind: str, spec: Json) -> Json:
    """An object named `web`."""
    return {"apiVersion": VERSION, "kind": kind, "metadata": {"name": "web"}, "spec": spec}


DEVICE_CLASS = manifest("DeviceClass", {"selectors": selected(EXPRESSIONS[0]), "config": [opaque()]})
DEVICE_CLASS_CREATES: tuple[Json, ...] = (
    {"metadata.name": "Web"},
    {"spec": {}},
    *({"spec.selectors": selected(each)} for each in EXPRESSIONS),
    {"spec.selectors": [{}]},
    {"spec.selectors": [{"cel": {}}]},
    {"spec.selectors": []},
    {"spec.selectors": selected(*["true"] * 32)},
    {"spec.selectors": selected(*["false"] * 33)},
    {"spec.selectors": selected("true || " * 1300 + "true")},
    {"spec.config": [{}]},
    {"spec.config": [{"opaque": {}}]},
    {"spec.config": [opaque("")]},
    {"spec.config": [opaque("GPU.example.com")]},
    {"spec.config": [opaque("a b")]},
    {"spec.config": [opaque("x" * 64)]},
    {"spec.config": [opaque(parameters=1)]},
    {"spec.config": [opaque(parameters="a")]},
    {"spec.config": [opaque(parameters=[1])]},
    {"spec.config": [opaque(parameters={})]},
    {"spec.config": [opaque(parameters={"a": "x" * 10240})]},
    {"spec.config": [opaque(parameters={"apiVersion": "a/v1", "kind": "B", "deep": {"empty": {}, "none": None}})]},
    {"spec.config": [opaque()] * 33},
    {"spec.extendedResourceName": "example.com/gpu"},
    {"spec.extendedResourceName": ""},
    {"spec.extendedResourceName": "gpu"},
    {"spec.extendedResourceName": "kubernetes.io/gpu"},
    {"spec.extendedResourceName": "requests.example.com/gpu"},
    {"spec.extendedResourceName": "example.com/a b"},
    {"spec.extendedResourceName": "example.com/" + "x" * 63},
)
DEVICE_CLASS_UPDATES: tuple[Json, ...] = (
    {"spec.selectors": selected("false")},
    {"spec.selectors": selected("no")},
    {"spec.config": []},
    {"spec.extendedResourceName": "example.com/gpu"},
    {"metadata.labels": {"a": "b c"}},
)
