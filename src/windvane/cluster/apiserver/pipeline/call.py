"""One request, once it is known what it asks for: who wants what done, to what, and how they want to be answered."""

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
    """What is to be done."""

    verb: str
    target: Target
    request: Request
    query: dict[str, str]
    shape: MediaTypeOptions
    validation: FieldValidation
    warnings: list[str]
    """What is told with the answer, whatever it is; more may be added."""
    attributes: Attributes
    annotations: dict[str, str]
    """What is told to the audit log; more may be added."""

    @property
    def dry_run(self) -> bool:
        """Whether nothing is to be stored."""
        return self.query.get("dryRun") == "All"

    @property
    def applies(self) -> bool:
        """Whether it is a patch that is applied."""
        return self.verb == "patch" and applies(self.request)

    @property
    def by(self) -> str:
        """Who writes: the manager that the request names, or else the program that sent it."""
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
        """An answer in the form that was asked for."""
        return Answer(code, body, content_type=self.shape.media_type)


def applies(request: Request) -> bool:
    """Whether the body of a patch is something to apply."""
    return media_type_of_body(request) == APPLY
