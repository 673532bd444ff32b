"""The subresource `scale`: reads and writes the replicas of any scalable kind."""

from collections.abc import Callable

from windvane.api.json_value import Wire, json_copy
from windvane.client.transport import Request
from windvane.cluster.apiserver.admission.admission import Admission
from windvane.cluster.apiserver.answer import Answer
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.managedfields.field_manager import FieldManager
from windvane.cluster.apiserver.patch.patcher import Patcher, check_repeated, patch_type, read_apply
from windvane.cluster.apiserver.pipeline.body import read_builtin
from windvane.cluster.apiserver.pipeline.call import Call
from windvane.cluster.apiserver.pipeline.preconditions import check_address, check_uid
from windvane.cluster.apiserver.pipeline.reader import Reader
from windvane.cluster.apiserver.pipeline.representation import View
from windvane.cluster.apiserver.pipeline.stages import scale_of
from windvane.cluster.apiserver.pipeline.writer import Writer
from windvane.cluster.apiserver.registry.kinds import builtin_type
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.registry.scale import without_zero
from windvane.cluster.apiserver.registry.storage_codec import unpack
from windvane.cluster.apiserver.request.options import FieldValidation, is_on
from windvane.cluster.apiserver.target import Target
from windvane.k8s import autoscaling

SCALE = builtin_type(autoscaling.Scale)
"""The type of a Scale, which has no path of its own."""
Change = Callable[[Wire], Wire]
"""Makes the new Scale from the current one."""


class ScaleSubresource:
    """Reads and writes the Scale of an object."""

    def __init__(self, reader: Reader, writer: Writer, field_manager: FieldManager) -> None:
        self._reader = reader
        self._writer = writer
        self._field_manager = field_manager

    async def answer(self, call: Call, admission: Admission) -> Answer:
        """Answer a request about a Scale."""
        type_, strategy = call.target.type, scale_of(call.target.type)
        entire = Target(type_, call.target.namespace, call.target.name)
        view = View(SCALE, call.shape, call.query.get("includeObject", ""))
        if call.verb == "get":
            wire = unpack(type_, await self._reader.read(entire))
            strategy.check_readable(wire)
            return call.answer(200, view.made(strategy.read(wire)))
        change = self._applied(call) if call.applies else self._changed(call, entire)

        def rescale(scale: Wire, current: Wire) -> Wire:
            after = change(scale)
            check_address(entire, after)
            check_uid(entire, after, current)
            return after

        written = await self._writer.scale(entire, rescale, dry_run=call.dry_run, admission=admission)
        return call.answer(200, view.made(strategy.read(unpack(type_, written.value))))

    def _applied(self, call: Call) -> Change:
        config, repeated = read_apply(call.request)

        def change(scale: Wire) -> Wire:
            after = self._field_manager.apply(SCALE, "scale", config, scale, call.by, force=is_on(call.query, "force"))
            check_repeated(repeated, call.validation)
            scale_of(call.target.type).check_applied(call.target.name, after, scale)
            return after

        return change

    def _changed(self, call: Call, entire: Target) -> Change:
        if call.verb == "update":
            stated = _read_scale(call.request, entire.type, call.validation)
            check_address(entire, stated)
            # It has no effect, but admission sees it.
            stated["status"] = {"replicas": 0, **(stated.get("status") or {})}
            make: Change = lambda _: json_copy(stated)  # noqa: E731
        else:
            how = patch_type(call.request, entire.type)
            make = Patcher(SCALE, how, call.request.body or b"", call.validation).change

        def change(scale: Wire) -> Wire:
            after = make(scale)
            without_zero(after)
            self._field_manager.record_update(SCALE, "scale", after, scale, call.by)
            return after

        return change


def _read_scale(request: Request, type_: ResourceType, validation: FieldValidation) -> Wire:
    try:
        return read_builtin(request, SCALE.kind, validation)
    except Failure as refused:
        raise scale_of(type_).unreadable(refused) from refused
