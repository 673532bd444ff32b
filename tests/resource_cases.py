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

EXACTLY = {"deviceClassName": "gpu"}
CLAIM = manifest("ResourceClaim", {"devices": {"requests": [{"name": "gpu", "exactly": EXACTLY}]}})
CHOICE: list[Json] = [{"name": "large", "deviceClassName": "a"}, {"name": "small", "deviceClassName": "b", "count": 2}]


def exactly(**fields: Any) -> Json:
    """The only request, with these fields."""
    return {"spec.devices.requests": [{"name": "gpu", "exactly": {**EXACTLY, **fields}}]}


def tolerated(**fields: Any) -> Json:
    """The only request, with one toleration."""
    return exactly(tolerations=[fields])


def constrained(**fields: Any) -> Json:
    """A constraint."""
    return {"spec.devices.constraints": [fields]}


def alternatives(*found: Json) -> Json:
    """One request with these alternatives."""
    return {"spec.devices.requests": [{"name": "gpu", "firstAvailable": list(found)}]}


REQUESTS: tuple[Json, ...] = (
    {"spec": {}},
    {"spec.devices": {}},
    {"spec.devices.requests": []},
    {"spec.devices.requests": [{}]},
    {"spec.devices.requests": [{"name": "gpu"}]},
    {"spec.devices.requests": [{"name": "gpu", "exactly": {}}]},
    {"spec.devices.requests": [{"name": "gpu", "exactly": EXACTLY, "firstAvailable": CHOICE}]},
    {"spec.devices.requests": [{"name": name, "exactly": EXACTLY} for name in ("a", "b", "a")]},
    {"spec.devices.requests": [{"name": f"a{n}", "exactly": EXACTLY} for n in range(33)]},
    {"spec.devices.requests": [{"name": "GPU", "exactly": EXACTLY}]},
    {"spec.devices.requests": [{"name": "a.b", "exactly": EXACTLY}]},
    exactly(deviceClassName=""),
    exactly(deviceClassName="GPU"),
    exactly(allocationMode="All"),
    exactly(allocationMode="All", count=1),
    exactly(allocationMode="ExactCount"),
    exactly(allocationMode="ExactCount", count=3),
    exactly(allocationMode=""),
    exactly(allocationMode="Some"),
    exactly(allocationMode="Some", count=1),
    exactly(count=-1),
    exactly(count=0),
    exactly(selectors=selected("false")),
    exactly(selectors=selected("no")),
    exactly(selectors=[{}]),
    exactly(selectors=selected(*["true"] * 33)),
    exactly(adminAccess=False),
    exactly(capacity={"requests": {"memory": "1024Mi", "gpu.example.com/cores": 2}}),
    exactly(capacity={}),
    exactly(tolerations=[]),
    tolerated(),
    tolerated(key="a"),
    tolerated(key="a b"),
    tolerated(operator="Exists"),
    tolerated(operator="Exists", value="a"),
    tolerated(operator="Equal", value="a b"),
    tolerated(operator="Other"),
    tolerated(effect="NoSchedule", tolerationSeconds=5),
    tolerated(effect="None"),
    tolerated(effect="Other"),
    exactly(tolerations=[{"key": f"a{n}"} for n in range(17)]),
    alternatives(*CHOICE),
    alternatives(*CHOICE, CHOICE[0]),
    alternatives(*({"name": f"a{n}", "deviceClassName": "a"} for n in range(9))),
    alternatives({}),
    alternatives({"name": "a", "deviceClassName": "a", "allocationMode": "All", "tolerations": [{"key": "a"}]}),
    alternatives({"name": "a/b", "deviceClassName": "a", "selectors": selected("1")}),
    constrained(),
    constrained(matchAttribute="gpu.example.com/model"),
    constrained(distinctAttribute="gpu.example.com/model"),
    constrained(matchAttribute="gpu.example.com/model", distinctAttribute="gpu.example.com/model"),
    constrained(matchAttribute=""),
    constrained(matchAttribute="model"),
    constrained(matchAttribute="/model"),
    constrained(matchAttribute="gpu.example.com/"),
    constrained(matchAttribute="a b/1c"),
    constrained(matchAttribute="a/b/c"),
    constrained(matchAttribute="gpu.example.com/" + "x" * 33),
    constrained(matchAttribute="x" * 64 + "/a"),
    constrained(matchAttribute="A.com/b", requests=["gpu"]),
    constrained(matchAttribute="a.com/b", requests=["gpu", "gpu"]),
    constrained(matchAttribute="a.com/b", requests=["other"]),
    constrained(matchAttribute="a.com/b", requests=["gpu/large"]),
    constrained(matchAttribute="a.com/b", requests=["a/b/c"]),
    constrained(matchAttribute="a.com/b", requests=["A b"]),
    constrained(matchAttribute="a.com/b", requests=[""]),
    {**alternatives(*CHOICE), **constrained(matchAttribute="a.com/b", requests=["gpu/large", "gpu/tiny", "gpu"])},
    {"spec.devices.constraints": [{"matchAttribute": "a.com/b"}] * 33},
    {"spec.devices.config": [opaque()]},
    {"spec.devices.config": [{"requests": ["gpu"], **opaque()}]},
    {"spec.devices.config": [{"requests": ["other", "other"], **opaque("A b")}]},
    {"spec.devices.config": [{}]},
    {"spec.devices.config": [opaque()] * 33},
)
CLAIM_CREATES: tuple[Json, ...] = (
    *REQUESTS,
    {"metadata.name": "Web"},
)
CLAIM_UPDATES: tuple[Json, ...] = (
    {"metadata.labels": {"a": "b"}},
    {"spec.devices.requests.0.name": "other"},
    exactly(count=2),
    exactly(count=1, allocationMode="ExactCount"),
)
RESULT = {"request": "gpu", "driver": "gpu.example.com", "pool": "node-1", "device": "gpu-0"}
CONSUMER = {"resource": "pods", "name": "a", "uid": "b"}
SHARE = "0b7d4f0e-2b0f-4c61-9c5c-0d2b8f1a4f11"
STATED = {"driver": "gpu.example.com", "pool": "node-1", "device": "gpu-0"}
CONDITION = {"type": "Ready", "status": "True", "reason": "Fine", "lastTransitionTime": "2026-01-01T00:00:00Z"}


def allocated(*results: Json, **rest: Any) -> Json:
    """A status with an allocation."""
    return {"status.allocation": {"devices": {"results": list(results)}, **rest}}


def stated(**fields: Any) -> Json:
    """What a driver says of the device that was allocated."""
    return {**allocated(RESULT), "status.devices": [{**STATED, **fields}]}


CLAIM_STATUSES: tuple[Json, ...] = (
    {"status.allocation": {}},
    allocated(),
    allocated(RESULT),
    allocated({}),
    allocated(*[RESULT] * 33),
    allocated({**RESULT, "request": "other"}),
    allocated({**RESULT, "request": "gpu/large"}),
    allocated({**RESULT, "driver": "A b", "pool": "A/b", "device": "a.b"}),
    allocated({**RESULT, "pool": "a/b"}),
    allocated({**RESULT, "pool": "a//b"}),
    allocated({**RESULT, "pool": "/".join(["x" * 63] * 4)}),
    allocated({**RESULT, "shareID": SHARE, "consumedCapacity": {"memory": "1024Mi"}}),
    allocated({**RESULT, "shareID": SHARE.upper()}),
    allocated({**RESULT, "shareID": ""}),
    allocated({**RESULT, "shareID": "x" * 36}),
    allocated({**RESULT, "shareID": "{" + SHARE + "}"}),
    allocated({**RESULT, "shareID": "urn:uuid:" + SHARE}),
    allocated({**RESULT, "shareID": "urn:other" + SHARE}),
    allocated({**RESULT, "shareID": "x" * 38}),
    allocated({**RESULT, "shareID": SHARE.replace("-", "")}),
    allocated({**RESULT, "tolerations": [{"key": "a"}, {"operator": "Other"}]}),
    allocated({**RESULT, "bindingConditions": ["a"], "bindingFailureConditions": ["b"]}),
    allocated({**RESULT, "bindingConditions": ["a"]}),
    allocated({**RESULT, "bindingFailureConditions": ["b"]}),
    allocated({**RESULT, "bindingConditions": ["a", "a"], "bindingFailureConditions": ["a", "b", "b"]}),
    allocated({**RESULT, "bindingConditions": ["a b"], "bindingFailureConditions": ["c"]}),
    allocated({**RESULT, "bindingConditions": list("abcde"), "bindingFailureConditions": list("fghij")}),
    allocated(RESULT, nodeSelector={}),
    allocated(RESULT, nodeSelector={"nodeSelectorTerms": [{}]}),
    allocated(
        RESULT,
        nodeSelector={
            "nodeSelectorTerms": [
                {
                    "matchExpressions": [
                        {"key": "a b", "operator": "In"},
                        {"key": "a", "operator": "Exists", "values": ["b c"]},
                        {"key": "a", "operator": "Gt"},
                        {"key": "a", "operator": "Is"},
                    ],
                    "matchFields": [
                        {"key": "metadata.name", "operator": "In", "values": ["A b"]},
                        {"key": "metadata.name", "operator": "NotIn"},
                        {"key": "metadata.uid", "operator": "Exists"},
                    ],
                }
            ]
        },
    ),
    allocated(RESULT, allocationTimestamp="2026-01-01T00:00:00.5Z"),
    {"status.allocation": {"devices": {"config": [{"source": "FromClass", **opaque()}]}}},
    {"status.allocation": {"devices": {"config": [{"requests": ["other"]}]}}},
    {"status.allocation": {"devices": {"config": [{"source": "Else", "requests": ["gpu"], **opaque("")}]}}},
    {"status.allocation": {"devices": {"config": [{"source": "FromClaim", **opaque()}] * 65}}},
    {"status.reservedFor": [CONSUMER]},
    {**allocated(RESULT), "status.reservedFor": [CONSUMER]},
    {**allocated(RESULT), "status.reservedFor": [CONSUMER, CONSUMER, {}]},
    {**allocated(RESULT), "status.reservedFor": [{**CONSUMER, "apiGroup": "a.com", "uid": str(n)} for n in range(257)]},
    {"status.devices": [STATED]},
    stated(),
    stated(data={"a": 1}),
    stated(data={}),
    stated(data=1),
    stated(data={"a": "x" * 10240}),
    stated(device="gpu-1"),
    stated(shareID=SHARE),
    stated(shareID=""),
    stated(driver="", pool="", device=""),
    stated(conditions=[CONDITION]),
    stated(conditions=[{}]),
    stated(conditions=[CONDITION, {**CONDITION, "status": "Yes", "reason": "a b", "observedGeneration": -1}]),
    stated(conditions=[{**CONDITION, "type": f"A{n}"} for n in range(9)]),
    stated(conditions=[{**CONDITION, "type": "a b", "reason": "x" * 1025, "message": "x" * 32769}]),
    stated(networkData={}),
    stated(networkData={"interfaceName": "eth0", "hardwareAddress": "a", "ips": ["10.0.0.1/24", "fd00::1/64"]}),
    stated(networkData={"interfaceName": "x" * 257, "hardwareAddress": "x" * 129}),
    stated(networkData={"ips": ["10.0.0.1", "10.0.0.1/33", "fd00::0/64", "10.0.0.01/24", "a", "10.0.0.1/024"]}),
    stated(networkData={"ips": ["10.0.0.1/24", "10.0.0.1/24"]}),
    stated(networkData={"ips": [f"10.0.0.{n}/24" for n in range(17)]}),
    {**allocated(RESULT), "status.devices": [STATED, STATED]},
)


def templated(change: Json) -> Json:
    """The same change of the claim in a template."""
    return {path.replace("spec", "spec.spec", 1): value for path, value in change.items()}


TEMPLATE = manifest("ResourceClaimTemplate", {"spec": CLAIM["spec"]})
TEMPLATE_CREATES: tuple[Json, ...] = (
    {"spec": {}},
    *map(templated, REQUESTS[::5]),
    {"spec.metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}}},
    {"spec.metadata": {"labels": {"a": "b c"}, "annotations": {"a b": "b"}}},
    {"spec.metadata": {"name": "a", "namespace": "b", "uid": "c", "finalizers": ["a.com/b"], "generation": 1}},
    {"spec.metadata": {"creationTimestamp": "2026-01-01T00:00:00Z", "generateName": "a", "resourceVersion": "1"}},
    {"spec.metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "b"}]}},
)
TEMPLATE_UPDATES: tuple[Json, ...] = (
    {"metadata.labels": {"a": "b"}},
    {"spec.metadata.labels": {"a": "b"}},
    templated(exactly(count=2)),
    templated(exactly(count=-1)),
)

ADDED = "2026-01-01T00:00:00Z"
DEVICE = {"name": "gpu-0", "attributes": {"model": {"string": "a100"}}, "capacity": {"memory": {"value": "40Gi"}}}
POOL = {"name": "node-1", "generation": 1, "resourceSliceCount": 1}
SLICE = manifest(
    "ResourceSlice", {"driver": "gpu.example.com", "nodeName": "node-1", "pool": POOL, "devices": [DEVICE]}
)
TERM = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
COUNTERS = {"memory": {"value": "40Gi"}}


def one(**fields: Any) -> Json:
    """The only device, with these fields."""
    return {"spec.devices": [{**DEVICE, **fields}]}


def attribute(name: str, **value: Any) -> Json:
    """The only attribute of the only device."""
    return one(attributes={name: value})


def policy(value: str = "40Gi", *, many: bool = True, **fields: Any) -> Json:
    """How much of a capacity may be asked for."""
    capacity = {"memory": {"value": value, "requestPolicy": fields}}
    return one(allowMultipleAllocations=many, capacity=capacity)


def on_nodes(**fields: Any) -> Json:
    """A slice whose only device says on which nodes it can be used."""
    found: Json = {"spec.nodeName": None, "spec.perDeviceNodeSelection": True}
    return {**found, **one(**fields)}


def many_devices(count: int, **fields: Any) -> Json:
    """So many devices."""
    return {"spec.devices": [{"name": f"gpu-{count}-{n}", **fields} for n in range(count)]}


TAINT = {"key": "a", "effect": "NoSchedule", "timeAdded": ADDED}
USED = {"counterSet": "a", "counters": COUNTERS}
SLICE_CREATES: tuple[Json, ...] = (
    {"metadata.name": "Web"},
    {"spec": {}},
    {"spec.driver": ""},
    {"spec.driver": "A b"},
    {"spec.driver": "GPU.example.com"},
    {"spec.driver": "x" * 64},
    {"spec.pool": {}},
    {"spec.pool": {"name": "A b/c", "resourceSliceCount": -1, "generation": -1}},
    {"spec.pool": {"name": "node-1", "resourceSliceCount": 1}},
    {"spec.pool": {**POOL, "name": "x" * 254}},
    {"spec.nodeName": None},
    {"spec.nodeName": ""},
    {"spec.nodeName": "A b"},
    {"spec.allNodes": True},
    {"spec.allNodes": True, "spec.perDeviceNodeSelection": True, "spec.nodeSelector": {"nodeSelectorTerms": [TERM]}},
    {"spec.nodeName": None, "spec.allNodes": True},
    {"spec.nodeName": None, "spec.allNodes": False},
    {"spec.nodeName": None, "spec.perDeviceNodeSelection": False},
    {"spec.nodeName": None, "spec.nodeSelector": {}},
    {"spec.nodeName": None, "spec.nodeSelector": {"nodeSelectorTerms": [TERM]}},
    {"spec.nodeName": None, "spec.nodeSelector": {"nodeSelectorTerms": [TERM, {}]}},
    {"spec.nodeName": None, "spec.nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a b"}]}]}},
    {"spec.devices": []},
    {"spec.devices": [{}]},
    {"spec.devices": [DEVICE, DEVICE]},
    one(name="A.b"),
    many_devices(128),
    many_devices(129),
    many_devices(64, taints=[TAINT]),
    many_devices(65, taints=[TAINT]),
    many_devices(66, consumesCounters=[USED]),
    attribute("model"),
    attribute("model", string="a", int=1),
    attribute("model", bool=False),
    attribute("model", int=0),
    attribute("model", string=""),
    attribute("model", string="x" * 65),
    attribute("model", version="1.2.3-a.1+b.c"),
    attribute("model", version="1.2"),
    attribute("model", version="01.2.3"),
    attribute("model", version="1.2.3+" + "x" * 65),
    attribute("model", strings=["a"]),
    attribute("model", strings=["a"], string="b"),
    attribute("gpu.example.com/model", int=1),
    attribute("/model", int=1),
    attribute("a/", int=1),
    attribute("a/b/c", int=1),
    attribute("", int=1),
    attribute("1a b", int=1),
    attribute("x" * 33, int=1),
    attribute("x" * 64 + "/" + "y" * 33),
    one(attributes={f"a{n}": {"int": n} for n in range(20)}, capacity={f"a{n}": {"value": "1"} for n in range(13)}),
    one(attributes={f"b{n}": {"int": n} for n in range(49)}, capacity={}),
    one(capacity={"memory": {}}),
    one(capacity={"memory": {"value": "1024Mi"}}),
    one(capacity={"a b": {"value": "1"}}),
    one(allowMultipleAllocations=True),
    one(allowMultipleAllocations=False),
    policy(many=False, default="1Gi"),
    policy(),
    policy(default="1Gi"),
    policy(default="1Gi", validValues=["1Gi"], validRange={"min": "1Gi"}),
    policy(validValues=["1Gi"]),
    policy(default="1Gi", validValues=["1Gi", "2Gi"]),
    policy(default="1Gi", validValues=["2Gi", "1Gi", "80Gi"]),
    policy(default="3Gi", validValues=["1Gi", "2Gi"]),
    policy(default="1Gi", validValues=["1Gi", "1024Mi"]),
    policy("100", default="1", validValues=[str(n) for n in range(1, 12)]),
    policy(validRange={"min": "1Gi"}),
    policy(default="1Gi", validRange={}),
    policy(default="1Gi", validRange={"min": "1Gi"}),
    policy(default="1Gi", validRange={"min": "1Gi", "max": "10Gi", "step": "1Gi"}),
    policy(default="1Gi", validRange={"min": "50Gi"}),
    policy(default="1Gi", validRange={"min": "5Gi", "max": "2Gi"}),
    policy(default="60Gi", validRange={"min": "5Gi", "max": "50Gi"}),
    policy(default="60Gi", validRange={"min": "5Gi", "max": "10Gi"}),
    policy("10", default="4", validRange={"min": "1", "max": "9", "step": "2"}),
    policy("10", default="3", validRange={"min": "1", "max": "8", "step": "2"}),
    policy("10", default="1", validRange={"min": "1", "step": "20"}),
    one(taints=[TAINT, {**TAINT, "value": "b", "effect": "NoExecute"}, {**TAINT, "effect": "None"}]),
    one(taints=[{"timeAdded": ADDED}]),
    one(taints=[{**TAINT, "key": "a b", "value": "c d", "effect": "Other"}]),
    one(taints=[TAINT] * 17),
    one(consumesCounters=[USED]),
    one(consumesCounters=[{}]),
    one(consumesCounters=[{"counterSet": "A b", "counters": {"C d": {"value": "1"}}}]),
    one(consumesCounters=[{"counterSet": "a", "counters": {"b": {}}}]),
    one(consumesCounters=[USED, USED]),
    one(consumesCounters=[{**USED, "counterSet": each} for each in "abc"]),
    one(consumesCounters=[{"counterSet": "a", "counters": {f"a{n}": {"value": "1"} for n in range(33)}}]),
    {"spec.sharedCounters": [{"name": "a", "counters": COUNTERS}]},
    {"spec.devices": None, "spec.sharedCounters": [{"name": "a", "counters": COUNTERS}]},
    {"spec.devices": None, "spec.sharedCounters": [{}]},
    {"spec.devices": None, "spec.sharedCounters": [{"name": "A b", "counters": {"C d": {}}}]},
    {"spec.devices": None, "spec.sharedCounters": [{"name": "a", "counters": COUNTERS}] * 2},
    {"spec.devices": None, "spec.sharedCounters": [{"name": f"a{n}", "counters": COUNTERS} for n in range(9)]},
    one(nodeName="node-1"),
    one(allNodes=False),
    on_nodes(),
    on_nodes(nodeName="node-1"),
    on_nodes(nodeName=""),
    on_nodes(nodeName="A b"),
    on_nodes(allNodes=True),
    on_nodes(allNodes=False),
    on_nodes(nodeSelector={"nodeSelectorTerms": [TERM, TERM]}),
    on_nodes(nodeSelector={}, nodeName="a", allNodes=True),
    one(bindingConditions=["a"], bindingFailureConditions=["b"], bindsToNode=True),
    one(bindingConditions=["a"]),
    one(bindingFailureConditions=["b"]),
    one(nodeAllocatableResourceMappings={"cpu": {"capacityKey": "memory"}}),
)
SLICE_UPDATES: tuple[Json, ...] = (
    {"metadata.labels": {"a": "b"}},
    {"spec.devices": []},
    {"spec.pool": {**POOL, "generation": 2, "resourceSliceCount": 3}},
    {"spec.pool.name": "other"},
    {"spec.driver": "other"},
    {"spec.nodeName": "other"},
    {"spec.nodeName": None, "spec.allNodes": True},
    {"spec.pool.resourceSliceCount": 0},
    one(taints=[{**TAINT, "key": ""}]),
)
