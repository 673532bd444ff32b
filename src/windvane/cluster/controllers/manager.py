"""All built-in controllers as one operator, with one watch per kind: what kube-controller-manager is to a cluster."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from windvane import Operator
from windvane.cluster.controllers import (
    admission_policy_status,
    disruption,
    pod_gc,
    service_account,
    storage_version_migrator,
)
from windvane.cluster.controllers.autoscaler import controller as autoscaler
from windvane.cluster.controllers.autoscaler.metrics import MetricsSource, from_metrics_api
from windvane.cluster.controllers.certificates import approver, cleaner, signer
from windvane.cluster.controllers.cronjob import controller as cronjob
from windvane.cluster.controllers.daemonset import controller as daemonset
from windvane.cluster.controllers.deployment import controller as deployment
from windvane.cluster.controllers.endpoints import controller as endpoints
from windvane.cluster.controllers.endpoints import kubernetes_service, slice_controller
from windvane.cluster.controllers.job import controller as job
from windvane.cluster.controllers.job import orphan_pods, ttl_after_finished
from windvane.cluster.controllers.namespace import controller as namespace
from windvane.cluster.controllers.node_lifecycle import controller as node_lifecycle
from windvane.cluster.controllers.statefulset import controller as statefulset
from windvane.cluster.controllers.volume import claim_binder, default_storage_class, lifecycle, protection
from windvane.cluster.controllers.volume.directories import Directories
from windvane.cluster.controllers.workloads import replicaset

if TYPE_CHECKING:
    from windvane.cluster.certificate_requests import Authority

NAME = "kube-controller-manager"

CONTROLLERS: tuple[Callable[[Operator], None], ...] = (
    namespace.add_to,
    service_account.add_accounts_to,
    replicaset.add_to,
    deployment.add_to,
    daemonset.add_to,
    statefulset.add_to,
    protection.add_to,
    job.add_to,
    orphan_pods.add_to,
    ttl_after_finished.add_to,
    cronjob.add_to,
    slice_controller.add_to,
    endpoints.add_to,
    disruption.add_to,
    node_lifecycle.add_to,
    pod_gc.add_to,
    approver.add_to,
    cleaner.add_to,
    admission_policy_status.add_to,
)
"""What adds a controller to the operator; each is the `add_to` of its module."""


def controllers(
    *,
    root_ca: str = "",
    authority: "Callable[[], Authority] | None" = None,
    migrations: bool = False,
    volumes: Path | None = None,
    api_port: int = 0,
    metrics: MetricsSource = from_metrics_api,
) -> Operator:
    """The operator that keeps the built-in kinds as their objects say.

    `root_ca` is what clients of the API server trust, in PEM; without it, it is not published. The `authority` signs
    certificates that are requested; without it, none are signed. With `migrations`, what is stored can be stored anew,
    if the API server has a kind for that. Directories in `volumes` are what claims get; without it, they get only
    volumes that are there. The Service `kubernetes` leads to
    `api_port` of 127.0.0.1, where the API server listens, or nowhere if that is not known. Autoscalers go by `metrics`.
    """
    operator = Operator(NAME)
    for add_to in CONTROLLERS:
        add_to(operator)
    autoscaler.add_to(operator, metrics)
    if root_ca:
        service_account.add_root_ca_to(operator, root_ca)
    if authority is not None:
        signer.add_to(operator, authority)
    if migrations:
        storage_version_migrator.add_to(operator)
    if api_port:
        kubernetes_service.add_to(operator, api_port)
    directories = Directories(volumes) if volumes is not None else None
    claim_binder.add_to(operator, directories)
    lifecycle.add_to(operator, directories)
    if directories is not None:
        default_storage_class.add_to(operator)
    return operator
