"""What is done about objects, verb by verb, once a request is understood and allowed."""

from windvane.api.resource import Object, kind_of
from windvane.api.status import APIStatus, StatusDetails
from windvane.cluster.apiserver.access.bootstrap_policy import settle_aggregated
from windvane.cluster.apiserver.access.gate import Gate
from windvane.cluster.apiserver.access.policy import CLUSTER_ROLES
from windvane.cluster.apiserver.access.signing import stamp
from windvane.cluster.apiserver.answer import Answer
from windvane.cluster.apiserver.call import Call
from windvane.cluster.apiserver.catalog import Catalog
from windvane.cluster.apiserver.crd.crds import CRDS, Definitions
from windvane.cluster.apiserver.deletion import deletion_warnings
from windvane.cluster.apiserver.evictions import Evictions
from windvane.cluster.apiserver.failure import Failure, bad_request, method_not_allowed
from windvane.cluster.apiserver.metadata import check_placement
from windvane.cluster.apiserver.options import is_on
from windvane.cluster.apiserver.ownership.owners import Owners
from windvane.cluster.apiserver.patch.patching import Patching, mind_repeated, patch_type, read_apply
from windvane.cluster.apiserver.pods import bind, check_binding
from windvane.cluster.apiserver.reading import Reader
from windvane.cluster.apiserver.rules import Rules
from windvane.cluster.apiserver.scaling import Scaling
from windvane.cluster.apiserver.store.store import Store
from windvane.cluster.apiserver.streams.connecting import Connecting, Kubelets
from windvane.cluster.apiserver.streams.usage import GROUP as METRICS
from windvane.cluster.apiserver.streams.usage import UsageAnswers
from windvane.cluster.apiserver.target import Target
from windvane.cluster.apiserver.wire.accept import write
from windvane.cluster.apiserver.wire.body import delete_options, read_body, read_builtin, read_delete_options
from windvane.cluster.apiserver.wire.negotiate import PROTOBUF
from windvane.cluster.apiserver.wire.representation import View, status_bytes
from windvane.cluster.apiserver.wire.stored import Wire, unpack
from windvane.cluster.apiserver.writing import Guard, Writer, Written, check_preconditions
from windvane.k8s import authentication, core, policy

MADE_UP_NAMES = 7  # are tried, and then one more that must do, as on a real server
# Groups of kinds that are questions about who may do what.
REVIEWS = ("authentication.k8s.io", "authorization.k8s.io")
# What is posted about an object, by the subresource that it is posted to, and in which older versions it may be.
POSTED: dict[str, tuple[type[Object], *tuple[str, ...]]] = {
    "binding": (core.Binding,),
    "eviction": (policy.Eviction, "policy/v1beta1"),
    "token": (authentication.TokenRequest,),
}
# What only the node that a pod runs on can answer.
ON_NODES = frozenset({"attach", "exec", "log", "portforward", "proxy"})


class Operations:
    """Does what is asked."""

    def __init__(
        self,
        store: Store,
        catalog: Catalog,
        rules: Rules,
        owners: Owners,
        writer: Writer,
        definitions: Definitions,
        gate: Gate,
        kubelets: Kubelets,
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._rules = rules
        self._owners = owners
        self._writer = writer
        self._definitions = definitions
        self._gate = gate
        self._reader = Reader(store)
        self._evictions = Evictions(store, catalog, self._reader, writer)
        self._scaling = Scaling(self._reader, writer, owners, rules)
        self._usage = UsageAnswers(self._reader, catalog, kubelets)
        self._connecting = Connecting(self._reader, catalog, gate, kubelets)

    async def carry_out(self, call: Call) -> Answer:
        """Do it, and say what came of it."""
        target = call.target
        if target.subresource in ON_NODES:
            return await self._connecting.answer(call)
        if target.type.kind.group == METRICS:
            return self._usage.answer(call)
        if target.subresource == "scale":
            return await self._scaling.answer(call)
        if target.subresource in POSTED:
            return await self._posted(call)
        match call.verb:
            case "get" | "list" | "watch":
                return self._read(call)
            case "create" if target.type.kind.group in REVIEWS:
                wire = read_body(call.request, target.type, self._rules, call.validation)
                check_placement(target.type, wire, target.namespace)
                review = self._gate.reviews.answer(target.type.kind.name, wire, call.wanted.user)
                return call.answer(201, write(review, call.shape))
            case "create" if target.type.kind.resource == "bindings":
                binding = read_body(call.request, target.type, self._rules, call.validation)
                pods = self._catalog.types["", "v1", "pods"]
                pod = Target(pods, target.namespace, (binding.get("metadata") or {}).get("name", ""), "binding")
                return await self._posted_about_pod(call, pod, binding)
            case "create" | "update" | "patch":
                return await self._write(call)
            case "delete":
                return await self._delete(call)
            case "deletecollection":
                return await self._delete_collection(call)
        raise method_not_allowed()

    # Reading

    def _read(self, call: Call) -> Answer:
        view = self._view(call)
        match call.verb:
            case "get":
                return call.answer(200, view.one(self._reader.get(call.target, call.query).value))
            case "list":
                return call.answer(200, view.many(self._reader.list(call.target, call.query)))
        content = f"{PROTOBUF};stream=watch" if call.shape.media_type == PROTOBUF else "application/json"
        return Answer(content_type=content, stream=view.stream(self._reader.watch(call.target, call.query)))

    def _view(self, call: Call) -> View:
        return View(call.target.type, call.shape, self._rules, call.query.get("includeObject", ""))

    # Writing

    async def _write(self, call: Call) -> Answer:
        target, guard = call.target, self._gate.guard(call.wanted, call.target)
        name = target.name
        match call.verb:
            case "create":
                wire = read_body(call.request, target.type, self._rules, call.validation)
                stamp(target, wire, call.wanted.user)
                written = await self._create(call, wire, guard)
                name = wire["metadata"]["name"]
            case "update":
                wire = read_body(call.request, target.type, self._rules, call.validation)
                written = await self._writer.update(target, wire, by=call.by, dry_run=call.dry_run, guard=guard)
            case _:
                written = await self._patch(call, guard)
        await self._follow_up(target, name, call.dry_run)
        call.warnings.extend(written.warnings)
        return call.answer(201 if written.made or call.verb == "create" else 200, self._view(call).one(written.value))

    async def _create(self, call: Call, wire: Wire, guard: Guard) -> Written:
        """Store a new object; under another name, if the one that was made up for it is taken."""
        made_up = not (wire.get("metadata") or {}).get("name")
        for _ in range(MADE_UP_NAMES if made_up else 0):
            try:
                return await self._writer.create(call.target, wire, by=call.by, dry_run=call.dry_run, guard=guard)
            except Failure as refused:
                if refused.status.reason != "AlreadyExists":
                    raise
                wire["metadata"]["name"] = ""
        return await self._writer.create(call.target, wire, by=call.by, dry_run=call.dry_run, guard=guard)

    async def _patch(self, call: Call, guard: Guard) -> Written:
        target, by = call.target, call.by
        if not call.applies:
            how = patch_type(call.request, target.type)
            patching = Patching(target.type, how, call.request.body or b"", self._rules, call.validation)
            return await self._writer.modify(target, patching.change, by=by, dry_run=call.dry_run, guard=guard)
        config, repeated = read_apply(call.request)

        def merge(current: Wire | None) -> Wire:
            force = is_on(call.query, "force")
            merged = self._owners.applied(target.type, target.subresource, config, current, by, force=force)
            mind_repeated(repeated, call.validation)
            return merged

        return await self._writer.apply(target, merge, dry_run=call.dry_run, guard=guard)

    async def _delete(self, call: Call) -> Answer:
        target, how = call.target, read_delete_options(call.request, call.query)
        call.warnings.extend(deletion_warnings(target.type, how))
        written = await self._writer.delete(target, how)
        await self._follow_up(target, target.name, how.dry_run)
        if not written.gone or target.type.returned_when_deleted:
            return call.answer(200, self._view(call).one(written.value))
        kind, uid = target.type.kind, unpack(target.type, written.value)["metadata"]["uid"]
        details = StatusDetails(name=target.name, group=kind.group, kind=kind.plural, uid=uid)
        return call.answer(200, status_bytes(APIStatus(status="Success", details=details), call.shape))

    async def _delete_collection(self, call: Call) -> Answer:
        target, how = call.target, read_delete_options(call.request, call.query)
        call.warnings.extend(deletion_warnings(target.type, how))
        listed = self._reader.list(target, call.query)
        for entry in listed.entries:
            one = Target(target.type, entry.key.namespace, entry.key.name)
            try:
                await self._writer.delete(one, how)
            except Failure as refused:
                if refused.status.code != 404:  # somebody else was faster
                    raise
            await self._follow_up(one, entry.key.name, how.dry_run)
        return call.answer(200, self._view(call).many(listed))

    async def _follow_up(self, target: Target, name: str, dry_run: bool) -> None:
        """What follows from a write is done before anybody hears of the write.

        A definition changes what is served, and one that is being deleted goes with the last of its objects. A
        ClusterRole may be part of others.
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

    # What is posted about an object

    async def _posted(self, call: Call) -> Answer:
        target = call.target
        kind, *older = POSTED[target.subresource]
        posted = read_builtin(call.request, kind_of(kind), call.validation, *older)
        self._writer.check_namespace(target, target.name)
        if target.subresource == "token":
            issued = self._gate.accounts.issue(target.namespace, target.name, posted)
            return call.answer(201, write(issued, call.shape))
        return await self._posted_about_pod(call, target, posted)

    async def _posted_about_pod(self, call: Call, target: Target, posted: Wire) -> Answer:
        pod = Target(target.type, target.namespace, target.name)
        kind = "Binding" if target.subresource == "binding" else "Eviction"
        about = check_placement(target.type, posted, target.namespace)
        if about.get("name", "") != target.name:
            raise bad_request(f"name in URL does not match name in {kind} object")
        if kind == "Binding":
            check_binding(posted)

            def assign(wire: Wire) -> Wire:
                check_preconditions(pod, posted, wire)
                return bind(wire, posted)

            await self._writer.amend(pod, assign, dry_run=call.dry_run)
        else:
            await self._evictions.evict(pod, delete_options(posted.get("deleteOptions") or {}, call.query))
        return call.answer(201, status_bytes(APIStatus(status="Success", code=201), call.shape))
