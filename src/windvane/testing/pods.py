"""The pods of a test's cluster: where they are simulated, they do what the test says."""

from abc import ABC, abstractmethod
from fnmatch import fnmatchcase

from windvane.cluster.node.simulated import Simulated, SimulatedSandbox, annotation_of, behaviour_of
from windvane.k8s.core import Pod, PodSpec


class Pods(ABC):
    """What a test can say of pods."""

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
        self.simulation = Simulated(self._said)
        """What plays them."""

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
