"""Warnings: what the server takes, though it is hardly what its author wanted."""

import base64
from datetime import timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.x509.oid import NameOID

from conformance.cases import Case, each
from conformance.crds import gadget
from conformance.objects import Thing, config_map, deployment, pod, service, template
from conformance.requests import Raw, Refused, Shows
from windvane import ambient

REQUIRED, PREFERRED = (f"{word}DuringSchedulingIgnoredDuringExecution" for word in ("required", "preferred"))
OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}
SPREAD = {"maxSkew": 1, "topologyKey": "failure-domain.beta.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
ODD = template(imagePullSecrets=[{}])
NEVER = {"spec": {**ODD["spec"], "restartPolicy": "Never"}}


def term(key: str, operator: str, values: list[str] | None = None) -> Thing:
    return {"matchExpressions": [{"key": key, "operator": operator, **({"values": values} if values else {})}]}


def files(*paths: str) -> list[Thing]:
    return [{"key": "k", "path": path} for path in paths]


def claim(size: str) -> Thing:
    return {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}


MASTER = term("node-role.kubernetes.io/master", "Exists")

WARNED = [
    Case(
        "a pod's name with dots",
        "POST pods",
        pod("a.b"),
        Shows(
            201,
            warnings=[
                (
                    "299 - \"metadata.name: this is used in the Pod's hostname, which can result in "
                    'surprising behavior; a DNS label is recommended: [must not contain dots]"'
                )
            ],
        ),
    ),
    Case(
        "a deprecated label in a node selector",
        "POST pods",
        pod(nodeSelector={"beta.kubernetes.io/os": "linux"}),
        Shows(
            201,
            warnings=[
                (
                    '299 - "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use '
                    '\\"kubernetes.io/os\\" instead"'
                )
            ],
        ),
    ),
    Case(
        "a deprecated label in a template's node selector",
        "POST deployments",
        deployment(template=template(nodeSelector={"beta.kubernetes.io/arch": "x"})),
        Shows(
            201,
            warnings=[
                (
                    '299 - "spec.template.spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since '
                    'v1.14; use \\"kubernetes.io/arch\\" instead"'
                )
            ],
        ),
    ),
    Case(
        "a deprecated label that nodes must have",
        "POST pods",
        pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [MASTER]}}}),
        Shows(
            201,
            warnings=[
                (
                    '299 - "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.no'
                    "deSelectorTerms[0].matchExpressions[0].key: node-role.kubernetes.io/master is use "
                    '\\"node-role.kubernetes.io/control-plane\\" instead"'
                )
            ],
        ),
    ),
    Case(
        "a label's value that nodes can't have",
        "POST pods",
        pod(affinity={"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": term("a", "In", ["b c"])}]}}),
        Shows(
            201,
            warnings=[
                (
                    '299 - "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0'
                    "].preference.matchExpressions[0].values[0]: b c is invalid, a valid label must be "
                    "an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
                    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
                    "'12345', regex used for validation is "
                    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')\""
                )
            ],
        ),
    ),
    Case(
        "a spread over nothing",
        "POST pods",
        pod(topologySpreadConstraints=[SPREAD]),
        Shows(
            201,
            warnings=[
                (
                    '299 - "spec.topologySpreadConstraints[0].topologyKey: '
                    "failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "
                    '\\"topology.kubernetes.io/zone\\" instead"'
                ),
                (
                    '299 - "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector '
                    'results in matching no pod"'
                ),
            ],
        ),
    ),
    Case(
        "an affinity to no pod",
        "POST pods",
        pod(affinity={"podAffinity": {REQUIRED: [{"topologyKey": "x"}]}}),
        Shows(
            201,
            warnings=[
                (
                    '299 - "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].'
                    'labelSelector: a null labelSelector results in matching no pod"'
                )
            ],
        ),
    ),
    Case(
        "an aversion to no pod",
        "POST pods",
        pod(affinity={"podAntiAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": {"topologyKey": "x"}}]}}),
        Shows(
            201,
            warnings=[
                (
                    '299 - "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecutio'
                    "n[0].podAffinityTerm.labelSelector: a null labelSelector results in matching no "
                    'pod"'
                )
            ],
        ),
    ),
    Case(
        "an annotation that does nothing",
        "POST pods",
        pod(metadata={"annotations": {"scheduler.alpha.kubernetes.io/critical-pod": ""}}),
        Shows(
            201,
            warnings=[
                (
                    '299 - "metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: '
                    'non-functional in v1.16+; use the \\"priorityClassName\\" field instead"'
                )
            ],
        ),
    ),
    Case(
        "a pod's seccomp annotation",
        "POST pods",
        pod(metadata={"annotations": {"seccomp.security.alpha.kubernetes.io/pod": "runtime/default"}}),
        Shows(
            201,
            warnings=[
                (
                    '299 - "metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: '
                    'non-functional in v1.27+; use the \\"seccompProfile\\" field instead"'
                )
            ],
        ),
    ),
    Case(
        "a volume of a kind that is gone",
        "POST pods",
        pod(volumes=[{"name": "v", "rbd": {"image": "i", "monitors": ["m"]}}]),
        Shows(201, warnings=['299 - "spec.volumes[0].rbd: deprecated in v1.28, non-functional in v1.31+"']),
    ),
    Case(
        "a volume from a repository",
        "POST pods",
        pod(volumes=[{"name": "v", "gitRepo": {"repository": "r"}}]),
        Shows(
            201, warnings=['299 - "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"']
        ),
    ),
    Case(
        "files over files",
        "POST pods",
        pod(volumes=[{"name": "v", "configMap": {"name": "c", "items": files("a", "a/b")}}]),
        Shows(201, warnings=['299 - "volume \\"v\\" (ConfigMap \\"c\\"): overlapping paths: \\"a/b\\" with \\"a\\""']),
    ),
    Case(
        "projected files over files",
        "POST pods",
        pod(
            volumes=[
                {
                    "name": "v",
                    "projected": {
                        "sources": [
                            {"secret": {"name": "s", "items": files("a")}},
                            {"configMap": {"name": "c", "items": files("a")}},
                        ]
                    },
                }
            ]
        ),
        Refused(
            422,
            "Invalid",
            ('Pod "p" is invalid: spec.volumes[0].projected: Invalid value: "c": conflicting duplicate paths'),
            "Pod p",
            ["FieldValueInvalid spec.volumes[0].projected"],
        ),
    ),
    Case(
        "a host alias twice",
        "POST pods",
        pod(hostAliases=[{"ip": "1.2.3.4", "hostnames": ["a"]}, {"ip": "1.2.3.4", "hostnames": ["b"]}]),
        Shows(201, warnings=['299 - "spec.hostAliases[1].ip: duplicate ip \\"1.2.3.4\\""']),
    ),
    Case(
        "a pull secret twice",
        "POST pods",
        pod(imagePullSecrets=[{"name": "a"}, {"name": "a"}]),
        Shows(201, warnings=['299 - "spec.imagePullSecrets[1].name: duplicate name \\"a\\""']),
    ),
    Case(
        "a pull secret without a name",
        "POST pods",
        pod(imagePullSecrets=[{}]),
        Shows(201, warnings=['299 - "spec.imagePullSecrets[0].name: invalid empty name \\"\\""']),
    ),
    Case(
        "a part of a byte",
        "POST pods",
        pod(container={"resources": {"limits": {"memory": "100m"}}}),
        Shows(
            201,
            warnings=[
                (
                    '299 - "spec.containers[0].resources.limits[memory]: fractional byte value \\"100m\\" '
                    'is invalid, must be an integer"'
                ),
                (
                    '299 - "spec.containers[0].resources.requests[memory]: fractional byte value '
                    '\\"100m\\" is invalid, must be an integer"'
                ),
            ],
        ),
    ),
    Case(
        "a variable twice",
        "POST pods",
        pod(container={"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}),
        Shows(
            201,
            warnings=[
                (
                    '299 - "spec.containers[0].env[1]: hides previous definition of \\"A\\", which may be '
                    'dropped when using apply"'
                )
            ],
        ),
    ),
    Case(
        "a variable that builds on itself",
        "POST pods",
        pod(container={"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}]}),
        Shows(201),
    ),
    Case(
        "a port twice",
        "POST pods",
        pod(container={"ports": [{"containerPort": 80}, {"containerPort": 80}]}),
        Shows(
            201,
            warnings=[
                ('299 - "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]"')
            ],
        ),
    ),
    Case(
        "a port with and without a host's",
        "POST pods",
        pod(container={"ports": [{"containerPort": 80}, {"containerPort": 80, "hostPort": 80}]}),
        Shows(
            201,
            warnings=[
                ('299 - "spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]"')
            ],
        ),
    ),
    Case("a negative grace period", "POST pods", pod(terminationGracePeriodSeconds=-1), Shows(201)),
    Case(
        "a nameserver in another spelling",
        "POST pods",
        pod(dnsConfig={"nameservers": ["fd00::0"]}),
        Shows(
            201,
            warnings=[
                (
                    '299 - "spec.dnsConfig.nameservers[0]: IPv6 address \\"fd00::0\\" should be in RFC '
                    '5952 canonical format (\\"fd00::\\")"'
                )
            ],
        ),
    ),
    Case(
        "a stateful set that keeps all revisions",
        "POST statefulsets",
        deployment(serviceName="s", revisionHistoryLimit=-1),
        Shows(
            201,
            warnings=[
                (
                    '299 - "spec.revisionHistoryLimit: a negative value retains all historical '
                    'revisions; a value >= 0 is recommended"'
                )
            ],
        ),
    ),
    Case(
        "a template that is changed",
        "PATCH deployments/web",
        {"spec": {"replicas": 2}},
        Shows(200, warnings=['299 - "spec.template.spec.imagePullSecrets[0].name: invalid empty name \\"\\""']),
        before=[("POST deployments", deployment(template=ODD))],
        patch="merge",
    ),
    Case(
        "a template that is not changed",
        "PATCH deployments/web",
        {"metadata": {"labels": {"a": "b"}}},
        Shows(200),
        before=[("POST deployments", deployment(template=ODD))],
        patch="merge",
    ),
    Case(
        "a cron job's template",
        "POST cronjobs",
        {"metadata": {"name": "c"}, "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": NEVER}}}},
        Shows(
            201,
            warnings=[
                ('299 - "spec.jobTemplate.spec.template.spec.imagePullSecrets[0].name: invalid empty name \\"\\""')
            ],
        ),
    ),
    Case(
        "a service's external addresses",
        "POST services",
        service(externalIPs=["1.2.3.4"]),
        Shows(
            201, warnings=['299 - "spec.externalIPs is deprecated and may no longer be implemented in some clusters"']
        ),
    ),
    Case(
        "what a service without an address ignores",
        "POST services",
        service(clusterIP="None", sessionAffinity="ClientIP", loadBalancerIP="1.2.3.4"),
        Shows(
            201,
            warnings=[
                '299 - "spec.loadBalancerIP is ignored for headless services"',
                '299 - "spec.SessionAffinity is ignored for headless services"',
            ],
        ),
    ),
    Case(
        "a name that a service ignores",
        "POST services",
        service(externalName="a.example"),
        Shows(201, warnings=['299 - "spec.externalName is ignored when spec.type is not \\"ExternalName\\""']),
    ),
    Case(
        "a way to spread traffic that has a new name",
        "POST services",
        service(trafficDistribution="PreferClose"),
        Shows(
            201,
            warnings=['299 - "spec.trafficDistribution: \\"PreferClose\\" is deprecated; use \\"PreferSameZone\\""'],
        ),
    ),
    Case(
        "an annotation of a service that has a new name",
        "POST services",
        {**service(), "metadata": {"name": "s", "annotations": {"service.kubernetes.io/topology-aware-hints": "auto"}}},
        Shows(
            201,
            warnings=[
                (
                    '299 - "annotation service.kubernetes.io/topology-aware-hints is deprecated, please '
                    'use service.kubernetes.io/topology-mode instead"'
                )
            ],
        ),
    ),
    Case(
        "a source range that is no network",
        "POST services",
        service(type="LoadBalancer", loadBalancerSourceRanges=["10.0.0.1/8"]),
        Refused(
            422,
            "Invalid",
            (
                'Service "s" is invalid: spec.LoadBalancerSourceRanges[0]: Invalid value: '
                '"10.0.0.1/8": must not have bits set beyond the prefix length'
            ),
            "Service s",
            ["FieldValueInvalid spec.LoadBalancerSourceRanges[0]"],
        ),
    ),
    Case(
        "a claim's class in an annotation",
        "POST persistentvolumeclaims",
        {
            "metadata": {"name": "c", "annotations": {"volume.beta.kubernetes.io/storage-class": "x"}},
            "spec": claim("1Gi"),
        },
        Shows(
            201,
            warnings=[
                (
                    '299 - "metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated '
                    'since v1.8; use \\"storageClassName\\" attribute instead"'
                )
            ],
        ),
    ),
    Case(
        "a claim of a part of a byte",
        "POST persistentvolumeclaims",
        {"metadata": {"name": "c"}, "spec": claim("1500m")},
        Shows(
            201,
            warnings=[
                (
                    '299 - "spec.resources.requests[storage]: fractional byte value \\"1500m\\" is '
                    'invalid, must be an integer"'
                )
            ],
        ),
    ),
    Case(
        "a volume that is recycled",
        "POST /api/v1/persistentvolumes?dryRun=All",
        {
            "metadata": {"name": "{ns}"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "persistentVolumeReclaimPolicy": "Recycle",
                "hostPath": {"path": "/tmp"},
            },
        },
        Shows(
            201,
            warnings=[
                (
                    '299 - "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is '
                    'deprecated. Instead, the recommended approach is to use dynamic provisioning."'
                )
            ],
        ),
    ),
    Case(
        "an ingress' class in an annotation",
        "POST ingresses",
        {
            "metadata": {"name": "i", "annotations": {"kubernetes.io/ingress.class": "x"}},
            "spec": {"defaultBackend": {"service": {"name": "x", "port": {"number": 1}}}},
        },
        Shows(
            201,
            warnings=[
                (
                    '299 - "annotation \\"kubernetes.io/ingress.class\\" is deprecated, please use '
                    "'spec.ingressClassName' instead\""
                )
            ],
        ),
    ),
    Case(
        "a policy for what is no network",
        "POST networkpolicies",
        {
            "metadata": {"name": "n"},
            "spec": {"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.1/8"}}]}]},
        },
        Refused(
            422,
            "Invalid",
            (
                'NetworkPolicy.networking.k8s.io "n" is invalid: '
                'spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "10.0.0.1/8": must not '
                "have bits set beyond the prefix length"
            ),
            "NetworkPolicy.networking.k8s.io n",
            ["FieldValueInvalid spec.ingress[0].from[0].ipBlock.cidr"],
        ),
    ),
    Case(
        "an account whose secrets are enforced",
        "POST serviceaccounts",
        config_map(metadata={"annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}),
        Shows(
            201,
            warnings=[
                (
                    '299 - "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in'
                    ' v1.32+; prefer separate namespaces to isolate access to mounted secrets"'
                )
            ],
        ),
    ),
    Case(
        "a quota for less than is asked for",
        "POST resourcequotas",
        {"metadata": {"name": "q"}, "spec": {"hard": {"requests.cpu": "2", "limits.cpu": "1"}}},
        Shows(201, warnings=['299 - "ResourceQuota requests.cpu (2) should be less than limits.cpu (1)"']),
    ),
    Case(
        "a slice of names",
        "POST endpointslices",
        {"metadata": {"name": "e"}, "addressType": "FQDN", "endpoints": [{"addresses": ["a.example"]}]},
        Shows(201, warnings=['299 - "spec.addressType: FQDN endpoints are deprecated"']),
    ),
    Case(
        "a runtime class for deprecated labels",
        "POST /apis/node.k8s.io/v1/runtimeclasses?dryRun=All",
        {"metadata": {"name": "{ns}"}, "handler": "h", "scheduling": {"nodeSelector": {"beta.kubernetes.io/os": "x"}}},
        Shows(
            201,
            warnings=['299 - "scheduling.nodeSelector: deprecated since v1.14; use \\"kubernetes.io/os\\" instead"'],
        ),
    ),
    Case(
        "a storage class for deprecated labels",
        "POST /apis/storage.k8s.io/v1/storageclasses?dryRun=All",
        {
            "metadata": {"name": "{ns}"},
            "provisioner": "p",
            "allowedTopologies": [{"matchLabelExpressions": [{"key": "beta.kubernetes.io/os", "values": ["x"]}]}],
        },
        Shows(
            201,
            warnings=[
                (
                    '299 - "allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.14; '
                    'use \\"kubernetes.io/os\\" instead"'
                )
            ],
        ),
    ),
    Case(
        "a custom object's finalizer with dots and no slash",
        "POST gadgets",
        {**gadget(), "metadata": {"name": "g", "finalizers": ["a.example"]}},
        Shows(
            201,
            warnings=[
                (
                    '299 - "metadata.finalizers: \\"a.example\\": prefer a domain-qualified finalizer name'
                    ' including a path (/) to avoid accidental conflicts with other finalizer writers"'
                )
            ],
        ),
    ),
    Case(
        "a custom object's finalizer that was there before",
        "PATCH gadgets/g",
        {"spec": {"size": 2}},
        Shows(200),
        before=[("POST gadgets", {**gadget(), "metadata": {"name": "g", "finalizers": ["x"]}})],
        patch="merge",
    ),
    Case(
        "an owner that comes twice in a patch",
        "PATCH configmaps/a",
        {"metadata": {"ownerReferences": [OWNER, OWNER]}},
        Shows(
            200,
            warnings=[
                (
                    '299 - ".metadata.ownerReferences contains duplicate entries after mutating '
                    "admission happens; API server dedups owner references in 1.20+, and may reject such"
                    ' requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u"'
                )
            ],
        ),
        before=[("POST configmaps", config_map())],
        patch="merge",
    ),
    Case(
        "a dry run warns too",
        "POST pods?dryRun=All",
        pod("a.b"),
        Shows(
            201,
            warnings=[
                (
                    "299 - \"metadata.name: this is used in the Pod's hostname, which can result in "
                    'surprising behavior; a DNS label is recommended: [must not contain dots]"'
                )
            ],
        ),
    ),
    Case(
        "what is refused is not warned about",
        "POST pods",
        pod("a.b", restartPolicy="x"),
        Refused(
            422,
            "Invalid",
            (
                'Pod "a.b" is invalid: spec.restartPolicy: Unsupported value: "x": supported '
                'values: "Always", "OnFailure", "Never"'
            ),
            "Pod a.b",
            ["FieldValueNotSupported spec.restartPolicy"],
        ),
    ),
]


@each(WARNED)
async def test_warnings(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


def encoded(*content: bytes) -> str:
    return base64.b64encode(b"".join(content)).decode()


def certified(key: CertificateIssuerPrivateKeyTypes) -> tuple[bytes, bytes]:
    """A certificate of a key, by itself, and the key."""
    name, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "somebody")]), ambient.now()
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    signed = made.sign(key, None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256())
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL
    if isinstance(key, ed25519.Ed25519PrivateKey):
        form = serialization.PrivateFormat.PKCS8
    return signed.public_bytes(encoding), key.private_bytes(encoding, form, serialization.NoEncryption())


async def test_a_key_and_a_certificate_that_do_not_belong_together(raw: Raw) -> None:
    one, one_key = certified(ec.generate_private_key(ec.SECP256R1()))
    other, other_key = certified(ec.generate_private_key(ec.SECP256R1()))
    edwards, edwards_key = certified(ed25519.Ed25519PrivateKey.generate())
    oddity = b"-----BEGIN ODDITY-----\nAAAA\n-----END ODDITY-----\n"
    nonsense = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
    bad = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    skipped = "after skipping PEM blocks of the following types: [ODDITY]"
    said = {
        (one, one_key): "",
        (one + other, one_key + other_key): "",
        (b"words\n" + oddity + one, oddity + one_key): "",
        (edwards, edwards_key): "",
        (one, other_key): "tls: private key does not match public key",
        (one, edwards_key): "tls: private key type does not match public key type",
        (edwards, one_key): "tls: private key type does not match public key type",
        (b"", b""): "tls: failed to find any PEM data in certificate input",
        (one, b"words"): "tls: failed to find any PEM data in key input",
        (one_key, one): "tls: failed to find certificate PEM data in certificate input, but did find a private key; "
        "PEM inputs may have been switched",
        (one, one): "tls: found a certificate rather than a key in the PEM for the private key",
        (oddity, one_key): f'tls: failed to find \\"CERTIFICATE\\" PEM block in certificate input {skipped}',
        (one, oddity): f'tls: failed to find PEM block with type ending in \\"PRIVATE KEY\\" in key input {skipped}',
        (one, nonsense): "tls: failed to parse private key",
        (bad, one_key): "x509: malformed certificate",
    }
    for (certificate, key), problem in said.items():
        data = {"tls.crt": encoded(certificate), "tls.key": encoded(key)}
        secret = {"metadata": {"name": "s"}, "type": "kubernetes.io/tls", "data": data}
        answer = await raw("POST secrets?dryRun=All", secret)
        assert (answer.code, answer.warnings) == (201, [f'299 - "{problem}"'] if problem else [])
