"""The API server: authorizes each request, finds its target, and has it carried out.

It has no sockets. `http` passes requests to `APIServer.handle`, over HTTPS or by a function call.
"""

import asyncio
import logging
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path

import msgspec

from windvane import ambient
from windvane.api.field_selector import FieldSelector
from windvane.client.transport import Request
from windvane.cluster.apiserver import audit, health
from windvane.cluster.apiserver.admission.chain import Chain
from windvane.cluster.apiserver.admission.plugins import PluginDependencies, make_plugins
from windvane.cluster.apiserver.admission.webhooks.metrics import WebhookMetrics
from windvane.cluster.apiserver.answer import Answer, User, page_not_found
from windvane.cluster.apiserver.authentication.bearer_tokens import BearerTokens
from windvane.cluster.apiserver.authentication.jwt import SigningKey
from windvane.cluster.apiserver.authentication.service_account_tokens import (
    CONFIGURATION_PATH,
    JWKS_PATH,
    ServiceAccountTokens,
)
from windvane.cluster.apiserver.authorization.access_control import AccessControl
from windvane.cluster.apiserver.authorization.attributes import Attributes, attributes_of
from windvane.cluster.apiserver.authorization.authorizer import refusal
from windvane.cluster.apiserver.bootstrap.objects import bootstrap
from windvane.cluster.apiserver.bootstrap.rbac_policy import bootstrap_policy
from windvane.cluster.apiserver.bootstrap.service_network import move_services
from windvane.cluster.apiserver.conversion.conversions import Conversions
from windvane.cluster.apiserver.encoding.accept import (
    OFFERED,
    OFFERED_STREAMS,
    MediaTypeOptions,
    check_route,
    negotiate,
    negotiate_error,
    negotiate_stream,
    negotiate_without_table,
)
from windvane.cluster.apiserver.encoding.media_types import header
from windvane.cluster.apiserver.failure import Failure, bad_request, failure, method_not_allowed, no_such_path
from windvane.cluster.apiserver.managedfields.field_manager import FieldManager
from windvane.cluster.apiserver.metrics import Metrics
from windvane.cluster.apiserver.non_resource_urls import NonResourceURLs
from windvane.cluster.apiserver.operations import ON_NODES, Operations
from windvane.cluster.apiserver.outbound.caller import Caller
from windvane.cluster.apiserver.pipeline.call import Call, applies
from windvane.cluster.apiserver.pipeline.create_only import REVIEWS
from windvane.cluster.apiserver.pipeline.definitions import Definitions
from windvane.cluster.apiserver.pipeline.representation import status_bytes
from windvane.cluster.apiserver.pipeline.verbs import check_verb, is_plain_not_found, verb_of
from windvane.cluster.apiserver.pipeline.writer import Writer
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.kinds import builtin_types
from windvane.cluster.apiserver.registry.service_addresses import ServiceAddresses, network_of
from windvane.cluster.apiserver.request.deadline import LONGEST, Deadlines, time_limit
from windvane.cluster.apiserver.request.info import RequestInfo
from windvane.cluster.apiserver.request.options import FieldValidation, check_options
from windvane.cluster.apiserver.storage.compaction import forget_with_time
from windvane.cluster.apiserver.storage.store import Store, WriteFailed
from windvane.cluster.apiserver.streams.connect_handler import Kubelets
from windvane.cluster.apiserver.streams.resource_metrics import GROUP as METRICS
from windvane.cluster.apiserver.streams.resource_metrics import metrics_types
from windvane.cluster.apiserver.target import Target, find_target
from windvane.cluster.apiserver.warning_headers import warning_headers
from windvane.cluster.kubelet import Kubelet

log = logging.getLogger(__name__)


class APIServer:
    """The whole API over one store."""

    def __init__(
        self,
        store: Store,
        tokens: Mapping[str, User] | None = None,
        key: SigningKey | None = None,
        *,
        require_accounts: bool = False,
        audit_log: audit.AuditLog | None = None,
        service_network: str | None = None,
        admission_plugins: Collection[str] = (),
        migrations: bool = False,
        caller: Caller | None = None,
    ) -> None:
        """`tokens` maps bearer tokens to users; `key` signs tokens of ServiceAccounts.

        With `require_accounts`, the admission plugin ServiceAccount refuses pods whose account is missing. Requests are
        recorded in the `audit_log`. Services get addresses in `service_network`, and stored ones move there; if it is
        on the loopback interface, endpoints may be, too. `admission_plugins` are enabled beyond the default ones; see
        `admission.order`. With `migrations`, StorageVersionMigrations are served: a real server does so only if told
        to. `caller` calls webhooks, by default over HTTPS.
        """
        self._audit = audit_log
        self.store = store
        accounts = ServiceAccountTokens(store, key or SigningKey.new())
        self.tokens = BearerTokens(tokens or {}, accounts)
        self.catalog = Catalog()
        self._network = IPv4Network(service_network) if service_network else network_of(store)
        pods_are_here = service_network is not None and self._network.is_loopback
        self.catalog.add(builtin_types(optional=migrations, loopback_endpoints=pods_are_here))
        field_manager = FieldManager(self.catalog)
        self._caller = caller or Caller(store)
        conversions = Conversions(self._caller)
        self._writer = Writer(store, ServiceAddresses(store, self._network), field_manager, conversions)
        self._definitions = Definitions(store, self.catalog, self._writer, field_manager, conversions)
        self._definitions.load()
        self._metrics = Metrics(store)
        self._access = AccessControl(store, self.tokens, accounts)
        self.kubelets: Kubelets = {}
        """The kubelets by the name of their node; see `introduced`."""
        authorizer = self._access.authorizer
        counts = WebhookMetrics()
        self._metrics.others.append(counts.collect)
        parts = PluginDependencies(
            store=store,
            catalog=self.catalog,
            authorizer=authorizer,
            conversions=conversions,
            caller=self._caller,
            webhook_counts=counts,
            require_accounts=require_accounts,
        )
        chain = Chain(make_plugins(parts, admission_plugins))
        self._operations = Operations(
            store,
            self.catalog,
            field_manager,
            self._writer,
            self._definitions,
            self._access,
            chain,
            conversions,
            self.kubelets,
        )
        self._deadlines = Deadlines()
        self._forgetting: asyncio.Task[None] | None = None
        self._about = NonResourceURLs(self.catalog, self._metrics, self._checks())

    async def start(self) -> None:
        """Create what every cluster has."""
        await self._definitions.resume()
        await move_services(self.store, self.catalog, self._writer, self._network)
        await bootstrap(self.store, self.catalog, self._writer, str(self._network[1]))
        await bootstrap_policy(self.store, self.catalog, self._writer)
        self._forgetting = asyncio.create_task(forget_with_time(self.store))

    async def close(self) -> None:
        """Make everything durable and stop. Watches end."""
        if self._forgetting is not None:
            self._forgetting.cancel()
            await asyncio.gather(self._forgetting, return_exceptions=True)
        await self._definitions.close()
        # First webhook calls end: the writes that wait for them must fail, and not be stored.
        await self.store.close()
        await self._caller.close()
        if self._audit is not None:
            self._audit.close()
            self._audit = None

    @contextmanager
    def introduced(self, node: str, kubelet: Kubelet) -> Iterator[None]:
        """For the length of the block, `kubelet` answers for the pods of that node."""
        if not self.kubelets:
            self.catalog.add(metrics_types())
        self.kubelets[node] = kubelet
        try:
            yield
        finally:
            del self.kubelets[node]
            if not self.kubelets:
                for each in metrics_types():
                    self.catalog.remove(each.kind.group, each.kind.plural)

    async def handle(self, request: Request, user: User) -> Answer:
        """Answer any request; see `answer.Handler`."""
        info = RequestInfo.of(request)
        attributes = attributes_of(info, user)
        id_ = header(request, audit.ID) or ambient.uid()
        record = None
        if self._audit is not None:
            record = audit.AuditContext(self._audit, request, attributes, user.address, id_)
            record.write("RequestReceived")
        answer = await self._answered(request, info, attributes, record)
        answer.headers = [*answer.headers, (audit.ID, id_)]
        if record is not None:
            record.answered(answer)
        return answer

    async def _answered(
        self, request: Request, info: RequestInfo, attributes: Attributes, record: audit.AuditContext | None
    ) -> Answer:
        warnings: list[str] = []
        try:
            seconds = LONGEST if attributes.verb == "watch" else time_limit(info.query)
            annotations = record.annotations if record is not None else {}
            dispatched = self._dispatch(
                request, info, self._authorize(request, attributes, record), warnings, annotations
            )
            # A read never waits, and a watch has no time limit.
            answer = await (self._deadlines.within(seconds, dispatched) if request.method in CHANGING else dispatched)
        except Failure as refused:
            warnings += refused.warnings
            answer = _refused(refused, request)
        except WriteFailed as error:
            log.error("%s: %s", request, error)
            answer = _refused(failure(500, "", str(error)), request)
        except RecursionError:
            answer = _refused(bad_request("the object is nested too deeply"), request)
        except Exception:
            log.exception("%s failed", request)
            message = f"Internal error occurred: {request} failed; see the server's log"
            answer = _refused(failure(500, "InternalError", message), request)
        answer.headers = [*answer.headers, *warning_headers(warnings)]
        return answer

    async def _dispatch(
        self,
        request: Request,
        info: RequestInfo,
        attributes: Attributes,
        warnings: list[str],
        annotations: dict[str, str],
    ) -> Answer:
        """Answer a request; adds `warnings`, which are sent even with an error, and audit `annotations`."""
        if (document := self._about.answer(request)) is not None:
            return document
        if request.path.rstrip("/") in (CONFIGURATION_PATH, JWKS_PATH):
            return self._about_tokens(request)
        query = {**info.query}
        target = find_target(info, self.catalog)
        verb = verb_of(request.method, target, query) if target else ""
        if target is None or is_plain_not_found(verb, target):
            return page_not_found()
        check_verb(request.method, verb, target)
        if verb not in ("", attributes.verb):  # an old-style watch path with another method than GET
            raise no_such_path()
        if target.watch and target.name:
            query["fieldSelector"] = str(FieldSelector.of({"metadata.name": target.name}))
            target = Target(target.type, target.namespace)
        if target.subresource in ON_NODES:
            shape = negotiate_error(request)  # what a pod sends is passed on unchanged, in any media type
        else:
            shape = _negotiate(request, verb, target)
            check_options("apply" if verb == "patch" and applies(request) else verb, query)
        validation = FieldValidation(query.get("fieldValidation", ""), warnings)
        if target.type.deprecation:
            warnings.append(target.type.deprecation)
        began = ambient.monotonic()
        kind = target.type.kind
        counted = (verb, kind.group, kind.version, kind.plural, target.subresource)
        code = 500
        try:
            call = Call(verb, target, request, query, shape, validation, warnings, attributes, annotations)
            answer = await self._operations.carry_out(call)
            code = answer.code
        except Failure as refused:
            code = refused.status.code
            raise
        finally:
            self._metrics.count(counted, code, ambient.monotonic() - began)
        return answer

    def _authorize(self, request: Request, attributes: Attributes, record: audit.AuditContext | None) -> Attributes:
        """The attributes with the impersonated user, if the request is allowed; a `Failure` 403 if it is not.

        This comes first: not every client may know whether a kind or an object exists.
        """
        if (became := self._access.impersonation.user(request.headers, attributes)) is not None:
            attributes = replace(attributes, user=became[0])
            if record is not None:
                record.impersonated, record.constraint = became
        decision = self._access.authorizer.decide(attributes)
        if record is not None:
            record.decision = decision
        if not decision.allowed:
            raise refusal(attributes, decision.reason)
        return attributes

    def _about_tokens(self, request: Request) -> Answer:
        """The OpenID documents, by which other programs verify tokens of ServiceAccounts."""
        if request.method != "GET":
            raise method_not_allowed()
        if request.path.rstrip("/") == JWKS_PATH:
            return Answer(200, msgspec.json.encode(self._access.accounts.keys()), "application/jwk-set+json")
        address = f"https://{header(request, 'Host') or 'kubernetes.default.svc'}"
        return Answer(200, msgspec.json.encode(self._access.accounts.configuration(address)))

    def _checks(self) -> dict[str, health.Check]:
        return {"ping": lambda: None, "etcd": lambda: "the store is closed" if self.store.closed else None}


CHANGING = frozenset({"DELETE", "PATCH", "POST", "PUT"})


def open_server(
    path: Path | None = None,
    *,
    tokens: Mapping[str, User] | None = None,
    key: SigningKey | None = None,
    require_accounts: bool = False,
    audit_log: audit.AuditLog | None = None,
    service_network: str | None = None,
    admission_plugins: Collection[str] = (),
    migrations: bool = False,
) -> APIServer:
    """The API server over the data in `path`, or in memory. For the rest see `APIServer`."""
    return APIServer(
        Store.open(path),
        tokens,
        key,
        require_accounts=require_accounts,
        audit_log=audit_log,
        service_network=service_network,
        admission_plugins=admission_plugins,
        migrations=migrations,
    )


def _negotiate(request: Request, verb: str, target: Target) -> MediaTypeOptions:
    """The media type of the answer. Built-in kinds are behind a router, which checks Accept headers, too."""
    if target.type.strategy.is_routed:
        check_route(request, (*OFFERED, *OFFERED_STREAMS) if verb in ("list", "watch") else OFFERED)
    if target.type.kind.group in (*REVIEWS, METRICS):
        return negotiate_without_table(request)
    return negotiate_stream(request) if verb == "watch" else negotiate(request)


def _refused(refused: Failure, request: Request) -> Answer:
    shape = negotiate_error(request)
    answer = _answer(refused.status.code, status_bytes(refused.status, shape), shape)
    answer.headers = [*refused.headers]
    if refused.status.details and refused.status.details.retry_after_seconds:
        answer.headers = [*answer.headers, ("Retry-After", str(refused.status.details.retry_after_seconds))]
    return answer


def _answer(code: int, body: bytes, shape: MediaTypeOptions) -> Answer:
    return Answer(code, body, content_type=shape.media_type)
