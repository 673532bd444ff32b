"""Filling in: a Workspace belongs to whoever creates it, and has memory for as many people as it is for.

windvane run examples/fill_in_defaults.py --install-crds

A default that is always the same is better said in the class, `people: int = 1`: the API server fills it in by itself.
This takes a function: it depends on who asks, and on another field.
"""

from windvane import AdmissionRequest, Column, Operator, Quantity, Resource, Spec, Status


class WorkspaceSpec(Spec):
    people: int = 1
    """How many work in it."""
    owner: str | None = None
    """Whose it is; if left out, of who creates it."""
    memory: Quantity | None = None
    """How much it may use; if left out, 512Mi for each of the people."""


class Workspace(
    Resource[WorkspaceSpec, Status],
    group="examples.windvane.dev",
    version="v1",
    columns=[
        Column("People", ".spec.people"),
        Column("Owner", ".spec.owner"),
        Column("Memory", ".spec.memory", type="string"),
    ],
    ready_column=False,
):
    """A place to work in."""


operator = Operator("workspaces")


@operator.default(Workspace, on=["create"])
def fill_in(workspace: Workspace, request: AdmissionRequest[Workspace]) -> None:
    spec = workspace.spec
    spec.owner = spec.owner or request.user.username
    spec.memory = spec.memory or Quantity(f"{512 * spec.people}Mi")
