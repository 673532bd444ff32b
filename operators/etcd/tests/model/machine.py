"""Where a modelled etcd runs: claims, pods, their StatefulSet and its controller, and a kubelet."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from etcd_operator import names
from etcd_operator.api import EtcdCluster
from model.raft import Data, Process, Raft
from windvane import ObjectMeta, Quantity
from windvane.k8s import apps, core

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(eq=False)
class Claim:
    """A volume claim, and its volume."""

    ordinal: int
    uid: str
    size: Quantity
    annotations: dict[str, str] = field(default_factory=dict)
    deleting: bool = False
    data: Data | None = None


@dataclass(eq=False)
class Pod:
    """A pod, and what runs in it."""

    ordinal: int
    uid: str
    image: str
    claim: Claim
    labels: dict[str, str]
    deleting: bool = False
    process: Process | None = None
    restarts: int = 0
    last_words: str = ""
    ready: bool = False
    """As its kubelet found it when it last looked."""
    has_image: bool = False
    """Whether its kubelet has got the image."""
    lacks_image: bool = False
    """Whether it has tried to get that, and could not."""


@dataclass
class Machine:
    """Everything that there is of one EtcdCluster."""

    cluster: EtcdCluster
    """As it is stored."""
    raft: Raft = field(default_factory=Raft)
    pods: dict[int, Pod] = field(default_factory=dict)
    claims: dict[int, Claim] = field(default_factory=dict)
    stateful_set: apps.StatefulSet | None = None
    told: tuple[str, str] | None = None
    """What the ConfigMap says to who begins: the state, and the initial cluster."""
    made: int = 0
    images_missing: set[str] = field(default_factory=set)
    """The versions whose image can't be had."""

    @property
    def now(self) -> datetime:
        """What a clock shows."""
        return BEGINNING + timedelta(seconds=self.raft.now)

    def uid(self) -> str:
        """One that nothing had before."""
        self.made += 1
        return f"uid-{self.made}"

    # The StatefulSet's controller

    def controller(self) -> None:
        """Make the pods and claims that are missing, and delete pods that are too many."""
        owner = self.stateful_set
        if owner is None:
            return
        owner.status.observed_generation = owner.metadata.generation
        owner.status.update_revision = _image(owner)
        replicas = owner.spec.replicas or 0
        for ordinal in range(replicas):
            if ordinal in self.pods:
                continue
            claim = self.claims.setdefault(ordinal, Claim(ordinal, self.uid(), _size(owner)))
            if claim.deleting:
                continue  # "pvc is being deleted"
            labels = {"controller-revision-hash": _image(owner)}
            self.pods[ordinal] = Pod(ordinal, self.uid(), _image(owner), claim, labels)
            self._excuse(self.pods[ordinal])
        for pod in self.pods.values():
            pod.deleting |= pod.ordinal >= replicas

    # The kubelet, and what protects claims that are used

    def kubelet(self, ordinal: int) -> None:
        """Stop what is to go, note what has ended, start what should run."""
        pod = self.pods.get(ordinal)
        if pod is not None and pod.deleting:
            self.end(pod)
            del self.pods[ordinal]
        elif pod is not None:
            if pod.process is not None and pod.process.last_words:  # it is started again after a while
                pod.last_words, pod.process, pod.restarts = pod.process.last_words, None, pod.restarts + 1
            elif pod.process is None and self.told is not None:
                self._start_if_it_can(pod, self.told)
            pod.ready = pod.process is not None and not pod.process.frozen and not pod.process.last_words
        claim = self.claims.get(ordinal)
        if claim is not None and claim.deleting and ordinal not in self.pods:
            del self.claims[ordinal]

    def _excuse(self, pod: Pod) -> None:
        """What kept a member from following a leader until now was not the member."""
        if pod.claim.data is not None and pod.claim.data.member in self.raft.missed:
            self.raft.missed[pod.claim.data.member] = self.raft.now

    def _start_if_it_can(self, pod: Pod, told: tuple[str, str]) -> None:
        if pod.lacks_image:
            self._excuse(pod)
        pod.has_image |= _version(pod) not in self.images_missing
        pod.lacks_image = not pod.has_image
        if pod.has_image:
            self._start(pod, told)

    def _start(self, pod: Pod, told: tuple[str, str]) -> None:
        mine = self.cluster.metadata
        url = names.peer_url(mine.name, mine.namespace, pod.ordinal, scheme="http")
        name, version = names.member(mine.name, pod.ordinal), _version(pod)
        begun = self.raft.start(pod.claim.data, name, url, version, told)
        if isinstance(begun, str):
            pod.last_words, pod.restarts = begun, pod.restarts + 1
        else:
            pod.claim.data, pod.process = begun, self.raft.up[-1]

    def end(self, pod: Pod, words: str = "") -> None:
        """Kill what runs in a pod."""
        if pod.process is not None and not pod.process.last_words:
            self.raft.end(pod.process, words)
        pod.process, pod.ready = None, False

    def round(self) -> None:
        """Everybody but the operator does what is to be done."""
        self.controller()
        for ordinal in sorted({*self.pods, *self.claims}):
            self.kubelet(ordinal)
        self.raft.turn()

    # As the API server shows it

    def shown_pods(self) -> list[core.Pod]:
        """The pods."""
        return [self._shown_pod(each) for _, each in sorted(self.pods.items())]

    def _shown_pod(self, pod: Pod) -> core.Pod:
        if pod.process is not None:
            state = core.ContainerState(running=core.ContainerStateRunning())
        elif pod.lacks_image:
            state = core.ContainerState(waiting=core.ContainerStateWaiting(reason="ImagePullBackOff"))
        elif pod.restarts:
            state = core.ContainerState(waiting=core.ContainerStateWaiting(reason="CrashLoopBackOff"))
        else:
            state = core.ContainerState(waiting=core.ContainerStateWaiting(reason="ContainerCreating"))
        ready, restarts = pod.ready, pod.restarts
        statuses = [
            core.ContainerStatus(name="etcd", image="", image_id="", ready=ready, restart_count=restarts, state=state)
        ]
        return core.Pod(
            metadata=self._meta(names.member(self.cluster.metadata.name, pod.ordinal), pod, labels=dict(pod.labels)),
            spec=core.PodSpec(containers=[]),
            status=core.PodStatus(
                pod_ip=pod.uid,
                container_statuses=statuses,
                conditions=[core.PodCondition(type="Ready", status="True" if pod.ready else "False")],
            ),
        )

    def shown_claims(self) -> list[core.PersistentVolumeClaim]:
        """The claims."""
        return [
            core.PersistentVolumeClaim(
                metadata=self._meta(
                    names.claim(self.cluster.metadata.name, each.ordinal), each, annotations=dict(each.annotations)
                ),
                spec=core.PersistentVolumeClaimSpec(
                    resources=core.VolumeResourceRequirements(requests={"storage": each.size})
                ),
                status=core.PersistentVolumeClaimStatus(phase="Bound"),
            )
            for _, each in sorted(self.claims.items())
        ]

    def _meta(
        self,
        name: str,
        thing: Pod | Claim,
        *,
        labels: dict[str, str] | None = None,
        annotations: dict[str, str] | None = None,
    ) -> ObjectMeta:
        return ObjectMeta(
            name=name,
            namespace=self.cluster.metadata.namespace,
            uid=thing.uid,
            labels=labels or {},
            annotations=annotations or {},
            deletion_timestamp=self.now if thing.deleting else None,
        )

    # What can be said about it

    def intact(self) -> Iterator[str]:
        """The voters whose data is there, and not about to go."""
        held = {
            each.data.member
            for each in self.claims.values()
            if each.data and not each.data.damaged and not each.deleting
        }
        return (each.id for each in self.raft.voters() if each.id in held)

    def is_as_asked_for(self) -> bool:
        """Whether there are as many healthy voters as the spec says, of its version, and nothing else."""
        spec, config = self.cluster.spec, self.raft.config()
        running = [self.raft.at_work(each.id) for each in config]
        places = set(range(spec.replicas))
        return (
            all(each.size == spec.storage_size for each in self.claims.values())
            and len(config) == spec.replicas
            and not any(each.learner for each in config)
            and all(each is not None and each.version == spec.version for each in running)
            and set(self.pods) == places == set(self.claims)
        )


def _image(owner: apps.StatefulSet) -> str:
    return owner.spec.template.spec.containers[0].image or ""


def _version(pod: Pod) -> str:
    return pod.image.rpartition(":v")[2]


def _size(owner: apps.StatefulSet) -> Quantity:
    resources = owner.spec.volume_claim_templates[0].spec.resources
    return resources.requests["storage"] if resources else Quantity(0)
