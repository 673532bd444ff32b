"""The pods of a test's cluster: where they are simulated, they do what the test says."""

from abc import ABC, abstractmethod
from fnmatch import fnmatchcase

from windvane.cluster.node.process.images import Images
from windvane.cluster.node.simulated.runtime import SimulatedRuntime, SimulatedSandbox, annotation_of, behaviour_of
from windvane.k8s.core import Pod, PodSpec


class Pods(ABC):
    """What a test can say of pods."""

    @abstractmethod
    def program(self, image: str, *command: str) -> None:
        """Have that command run for an image where pods are processes: `program("web:*", "python3", "-m", "web")`.

        Nothing is changed by it where they are simulated, or where images are pulled.
        """

    @abstractmethod
    def behave(self, image: str, words: str) -> None:
        """From now on, new pods with a container of that image do this: see `SimulatedPods.behave`."""

    @abstractmethod
    def crash(self, pod: Pod, *, code: int = 1, container: str = "") -> None:
        """Have a container of a pod end now."""

    @abstractmethod
    def set_ready(self, pod: Pod, ready: bool) -> None:
        """Have a pod that runs be ready or not from now on."""


class SimulatedPods(Pods):
    """How pods behave. If nothing is said, they start within a second, are ready and run on; those of Jobs end well."""

    def __init__(self) -> None:
        self._rules: list[tuple[str, str]] = []
        self.simulation = SimulatedRuntime(self._said)
        """What plays them."""

    def program(self, image: str, *command: str) -> None:
        """See `Pods.program`."""

    def behave(self, image: str, words: str) -> None:
        """From now on, new pods with a container of that image do this; the image may have `*` and `?` in it.

            cluster.pods.behave("nginx:bad", "exit=1 after=5s")
            cluster.pods.behave("postgres:*", "ready-after=20s")

        `exit=CODE after=TIME`, `init-exit=CODE`, `ready-after=TIME` or `never`, `cpu=AMOUNT memory=AMOUNT`, `run`. The
        rule that was stated last wins; the annotation `windvane.dev/simulate` of a pod goes before all.
        """
        behaviour_of(Pod(spec=PodSpec(containers=[])), words)  # which says what is wrong with them
        self._rules.insert(0, (image, words))

    def crash(self, pod: Pod, *, code: int = 1, container: str = "") -> None:
        """Have a container of a pod end now with that exit code; the first one, unless told otherwise.

        What comes of it is as on a real node: by the pod's restartPolicy it is started anew, later and later.
        """
        self._sandbox(pod).exit(container or pod.spec.containers[0].name, code)

    def set_ready(self, pod: Pod, ready: bool) -> None:
        """Have a pod that runs be ready or not from now on."""
        self._sandbox(pod).set_ready(ready)

    def _sandbox(self, pod: Pod) -> SimulatedSandbox:
        found = self.simulation.sandboxes.get(pod.metadata.uid)
        if found is None:
            raise LookupError(
                f"the pod {pod.metadata.name!r} does not run: write `await cluster.settled()` before, and give this "
                "function a pod that was read from the cluster"
            )
        return found

    def _said(self, pod: Pod) -> str:
        images = [each.image or "" for each in pod.spec.containers]
        stated = (words for image, words in self._rules if any(fnmatchcase(each, image) for each in images))
        return annotation_of(pod) or next(stated, "")


class Unsupported(Exception):
    """This kind of cluster can't do that; the message says what to do instead."""


class RunningPods(Pods):
    """Pods whose programs run: where there are `images`, those of this machine that stand for them."""

    def __init__(self, images: Images | None = None) -> None:
        self._images = images

    def program(self, image: str, *command: str) -> None:
        """See `Pods.program`."""
        if self._images is not None:
            self._images.add(image, command)

    def behave(self, image: str, words: str) -> None:
        """Programs do what they do."""
        remedy = f"use another image than {image!r}, that does that"
        if self._images is not None:
            remedy = f"name a command that does that, by cluster.pods.program({image!r}, ...)"
        raise Unsupported(f"pods run programs on this cluster, and don't behave as {words!r}: {remedy}; {OR}")

    def crash(self, pod: Pod, *, code: int = 1, container: str = "") -> None:
        """A program ends by itself, or is killed."""
        del code, container
        name = pod.metadata.name
        remedy = f"have its program end, by cluster.client.pod({name!r}).run(...), say, or delete the pod"
        raise Unsupported(f"pods run programs on this cluster, which don't crash when they are told: {remedy}; {OR}")

    def set_ready(self, pod: Pod, ready: bool) -> None:
        """A probe finds out."""
        words = f"have the readinessProbe of {pod.metadata.name!r} {'succeed' if ready else 'fail'}"
        raise Unsupported(f"pods run programs on this cluster, and are ready when these are: {words}; {OR}")


OR = "or have this test on the fixture `cluster`"
