"""Carries out requests for resources, verb by verb, once they are understood and allowed."""

from functools import partial

from windvane.api.json_value import Wire, json_copy
from windvane.api.status import APIStatus, StatusDetails
from windvane.cluster.apiserver.admission.admission import Admission
from windvane.cluster.apiserver.admission.chain import Chain
from windvane.cluster.apiserver.answer import Answer
from windvane.cluster.apiserver.authorization.access_control import AccessControl
from windvane.cluster.apiserver.authorization.rule_resolver import CLUSTER_ROLES
from windvane.cluster.apiserver.conversion.conversions import Conversions
from windvane.cluster.apiserver.encoding.media_types import PROTOBUF
from windvane.cluster.apiserver.failure import Failure, method_not_allowed
from windvane.cluster.apiserver.managedfields.field_manager import FieldManager
from windvane.cluster.apiserver.patch.patcher import Patcher, check_repeated, patch_type, read_apply
from windvane.cluster.apiserver.pipeline.body import read_body, read_delete_options
from windvane.cluster.apiserver.pipeline.call import Call
from windvane.cluster.apiserver.pipeline.cluster_role_aggregation import settle_aggregated
from windvane.cluster.apiserver.pipeline.create_only import CreateOnlyResources, is_create_only
from windvane.cluster.apiserver.pipeline.definitions import CRDS, Definitions
from windvane.cluster.apiserver.pipeline.deletion import options_of
from windvane.cluster.apiserver.pipeline.draft import Written
from windvane.cluster.apiserver.pipeline.eviction import Evictions
from windvane.cluster.apiserver.pipeline.reader import Reader
from windvane.cluster.apiserver.pipeline.representation import View, status_bytes
from windvane.cluster.apiserver.pipeline.scale_subresource import ScaleSubresource
from windvane.cluster.apiserver.pipeline.writer import Writer
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.storage_codec import unpack
from windvane.cluster.apiserver.request.options import is_on
from windvane.cluster.apiserver.storage.store import Store
from windvane.cluster.apiserver.streams.connect_handler import ConnectHandler, Kubelets
from windvane.cluster.apiserver.streams.resource_metrics import GROUP as METRICS
from windvane.cluster.apiserver.streams.resource_metrics import ResourceMetrics
from windvane.cluster.apiserver.target import Target

MADE_UP_NAMES = 7  # names are tried, and then a last one, as on a real server
# Subresources that only the pod's kubelet can answer.
ON_NODES = frozenset({"attach", "exec", "log", "portforward", "proxy"})


class Operations:
    """Carries out requests for resources."""

    def __init__(
        self,
        store: Store,
        catalog: Catalog,
        field_manager: FieldManager,
        writer: Writer,
        definitions: Definitions,
        access: AccessControl,
        chain: Chain,
        conversions: Conversions,
        kubelets: Kubelets,
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._field_manager = field_manager
        self._writer = writer
        self._definitions = definitions
        self._access = access
        self._chain = chain
        self._reader = Reader(store, conversions)
        evictions = Evictions(store, catalog, self._reader, writer)
        self._create_only = CreateOnlyResources(catalog, field_manager, writer, evictions, access)
        self._scale = ScaleSubresource(self._reader, writer, field_manager)
        self._resource_metrics = ResourceMetrics(self._reader, catalog, kubelets)
        self._connect = ConnectHandler(self._reader, catalog, access, kubelets)

    async def carry_out(self, call: Call) -> Answer:
        """Carry out a request, and answer it."""
        target = call.target
        if target.subresource in ON_NODES:
            return await self._connect.answer(call, self._admission(call, {}))
        if target.type.kind.group == METRICS:
            return self._resource_metrics.answer(call)
        if target.subresource == "scale":
            return await self._scale.answer(call, self._admission(call, call.options))
        if call.verb == "create" and is_create_only(target):
            return await self._create_only.answer(call, self._admission(call, call.options))
        match call.verb:
            case "get" | "list" | "watch":
                return await self._read(call)
            case "create" | "update" | "patch":
                return await self._write(call)
            case "delete":
                return await self._delete(call)
            case "deletecollection":
                return await self._delete_collection(call)
        raise method_not_allowed()

    # Reading

    async def _read(self, call: Call) -> Answer:
        view = self._view(call)
        match call.verb:
            case "get":
                return call.answer(200, view.one(await self._reader.read(call.target, call.query)))
            case "list":
                return call.answer(200, view.many(await self._reader.read_list(call.target, call.query)))
        content = f"{PROTOBUF};stream=watch" if call.shape.media_type == PROTOBUF else "application/json"
        return Answer(content_type=content, stream=view.stream(self._reader.watch(call.target, call.query)))

    def _view(self, call: Call) -> View:
        return View(call.target.type, call.shape, call.query.get("includeObject", ""))

    # Writing

    async def _write(self, call: Call) -> Answer:
        target, admission = call.target, self._admission(call, call.options)
        name = target.name
        match call.verb:
            case "create":
                wire = read_body(call.request, target.type, call.validation)
                written = await self._create(call, wire, admission)
                name = wire["metadata"]["name"]
            case "update":
                wire = read_body(call.request, target.type, call.validation)
                written = await self._writer.update(target, wire, by=call.by, dry_run=call.dry_run, admission=admission)
            case _:
                written = await self._patch(call, admission)
        await self._follow_up(target, name, call.dry_run)
        return call.answer(201 if written.made or call.verb == "create" else 200, self._view(call).one(written.value))

    async def _create(self, call: Call, wire: Wire, admission: Admission) -> Written:
        """Store a new object; with another generated name if the first is taken."""
        made_up = not (wire.get("metadata") or {}).get("name")
        sent = json_copy(wire) if made_up else wire
        create = partial(self._writer.create, by=call.by, dry_run=call.dry_run, admission=admission)
        for _ in range(MADE_UP_NAMES if made_up else 0):
            try:
                return await create(call.target, wire)
            except Failure as refused:
                if refused.status.reason != "AlreadyExists":
                    raise
                wire.clear()  # from the object as it was sent: admission must not add things twice
                wire.update(json_copy(sent))
        return await create(call.target, wire)

    async def _patch(self, call: Call, admission: Admission) -> Written:
        target, by = call.target, call.by
        if not call.applies:
            how = patch_type(call.request, target.type)
            patcher = Patcher(target.type, how, call.request.body or b"", call.validation)
            return await self._writer.modify(target, patcher.change, by=by, dry_run=call.dry_run, admission=admission)
        config, repeated = read_apply(call.request)

        def merge(current: Wire | None) -> Wire:
            force = is_on(call.query, "force")
            merged = self._field_manager.apply(target.type, target.subresource, config, current, by, force=force)
            check_repeated(repeated, call.validation)
            return merged

        return await self._writer.apply(target, merge, dry_run=call.dry_run, admission=admission)

    async def _delete(self, call: Call) -> Answer:
        target, how = call.target, read_delete_options(call.request, call.query)
        call.warnings.extend(target.type.strategy.deletion_warnings(how.propagation))
        admission = self._admission(call, options_of(how), dry_run=how.dry_run)
        written = await self._writer.delete(target, how, admission=admission)
        await self._follow_up(target, target.name, how.dry_run)
        if not written.gone or target.type.strategy.returned_when_deleted:
            return call.answer(200, self._view(call).one(written.value))
        kind, uid = target.type.kind, unpack(target.type, written.value)["metadata"]["uid"]
        details = StatusDetails(name=target.name, group=kind.group, kind=kind.plural, uid=uid)
        return call.answer(200, status_bytes(APIStatus(status="Success", details=details), call.shape))

    async def _delete_collection(self, call: Call) -> Answer:
        target, how = call.target, read_delete_options(call.request, call.query)
        call.warnings.extend(target.type.strategy.deletion_warnings(how.propagation))
        admission = self._admission(call, options_of(how), dry_run=how.dry_run)
        listed = await self._reader.read_list(target, call.query)
        for entry in listed.entries:
            one = Target(target.type, entry.key.namespace, entry.key.name)
            try:
                await self._writer.delete(one, how, admission=admission)
            except Failure as refused:
                if refused.status.code != 404:  # another client was faster
                    raise
            await self._follow_up(one, entry.key.name, how.dry_run)
        return call.answer(200, self._view(call).many(listed))

    async def _follow_up(self, target: Target, name: str, dry_run: bool) -> None:
        """Bring the catalog and aggregated ClusterRoles up to date before the write is answered.

        A CRD changes what is served, and a terminating one is deleted with the last of its objects.
        """
        kind = target.type.kind
        current = self._catalog.find(kind.group, kind.version, kind.plural)
        if dry_run:
            return
        if target.type.collection == CLUSTER_ROLES:
            await settle_aggregated(self._store, self._catalog, self._writer)
        elif target.type.collection == CRDS:
            await self._definitions.stored(name)
        elif current is not None and current.leaving:
            await self._definitions.stored(current.definition_name)

    def _admission(self, call: Call, options: Wire, *, dry_run: bool | None = None) -> Admission:
        """The admission of a request. Delete options may ask for a dry run in the body."""
        return Admission(
            chain=self._chain,
            target=call.target,
            user=call.attributes.user,
            guard=self._access.guard(call.attributes, call.target),
            check_create=partial(self._access.check_create, call.attributes),
            options=options,
            dry_run=call.dry_run if dry_run is None else dry_run,
            warnings=call.warnings,
            annotations=call.annotations,
        )
