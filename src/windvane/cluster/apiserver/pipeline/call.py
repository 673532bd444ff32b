"""One request, understood: its target, verb, options and attributes, and the media type of the answer."""

from dataclasses import dataclass
from typing import Any

from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import Answer
from windvane.cluster.apiserver.authorization.attributes import Attributes
from windvane.cluster.apiserver.encoding.accept import MediaTypeOptions
from windvane.cluster.apiserver.encoding.media_types import header, media_type_of_body
from windvane.cluster.apiserver.patch.patcher import APPLY
from windvane.cluster.apiserver.request.options import LONGEST_MANAGER, FieldValidation, is_on
from windvane.cluster.apiserver.target import Target


@dataclass(frozen=True, slots=True)
class Call:
    """A request with its target and options."""

    verb: str
    target: Target
    request: Request
    query: dict[str, str]
    shape: MediaTypeOptions
    validation: FieldValidation
    warnings: list[str]
    """Sent with the answer, also with an error; later stages add to them."""
    attributes: Attributes
    annotations: dict[str, str]
    """Written to the audit log; later stages add to them."""

    @property
    def dry_run(self) -> bool:
        """Whether nothing is to be stored."""
        return self.query.get("dryRun") == "All"

    @property
    def applies(self) -> bool:
        """Whether it is a server-side apply."""
        return self.verb == "patch" and applies(self.request)

    @property
    def by(self) -> str:
        """The field manager: the one that the request names, or else the client's user agent."""
        if manager := self.query.get("fieldManager"):
            return manager
        program = header(self.request, "User-Agent").partition("/")[0]
        printable = "".join(character for character in program if character.isprintable())
        return printable.encode()[:LONGEST_MANAGER].decode(errors="ignore")

    @property
    def options(self) -> dict[str, Any]:
        """The options of a write as an object: CreateOptions, UpdateOptions or PatchOptions."""
        options: dict[str, Any] = {"kind": f"{self.verb.capitalize()}Options", "apiVersion": "meta.k8s.io/v1"}
        if self.dry_run:
            options["dryRun"] = ["All"]
        if "force" in self.query:
            options["force"] = is_on(self.query, "force")
        return options | {
            name: self.query[name] for name in ("fieldManager", "fieldValidation") if self.query.get(name)
        }

    def answer(self, code: int, body: bytes) -> Answer:
        """An answer in the media type of the call."""
        return Answer(code, body, content_type=self.shape.media_type)


def applies(request: Request) -> bool:
    """Whether the body of a patch is an apply configuration."""
    return media_type_of_body(request) == APPLY
