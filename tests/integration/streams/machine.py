"""A cluster with a node that runs real processes, which the API server can ask about its pods."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from integration.node.machine import NODE
from integration.processes.machine import RealMachine
from integration.runtime.world import ADMIN
from windvane.api import codec
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.cluster.node.server import KubeletServer
from windvane.k8s.admissionregistration import MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding


class StreamingMachine(RealMachine):
    """A `RealMachine` whose agent answers the API server."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.kubelet: KubeletServer
        self._introduced = ExitStack()
        self.transport = InProcessTransport(self.server.handle, ADMIN)

    def start_real_agent(self, **options: Any) -> None:
        """Start the agent, and introduce it to the API server."""
        super().start_real_agent(**options)
        self.kubelet = KubeletServer(self.agent, self.directory)
        self.leave()
        self._introduced.enter_context(self.server.introduced(NODE, self.kubelet))

    def leave(self) -> None:
        """Have the API server know no node."""
        self._introduced.close()

    async def change_connections(self, resource: str, patch: str) -> None:
        """Have a policy change how somebody connects to pods."""
        rules = [{"operations": ["CONNECT"], "apiGroups": [""], "apiVersions": ["v1"], "resources": [resource]}]
        spec = {
            "matchConstraints": {"resourceRules": rules},
            "reinvocationPolicy": "Never",
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": f"[JSONPatch{{{patch}}}]"}}],
        }
        meta = {"name": "change"}
        await self.admin.create(codec.from_wire({"metadata": meta, "spec": spec}, MutatingAdmissionPolicy))
        binding = {"metadata": meta, "spec": {"policyName": "change"}}
        await self.admin.create(codec.from_wire(binding, MutatingAdmissionPolicyBinding))

    async def close(self) -> None:
        """End everything."""
        self.leave()
        await super().close()
