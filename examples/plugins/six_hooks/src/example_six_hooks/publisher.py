"""A publisher: the model card as one page to print."""

import json

from attrs import frozen

from sciharness import Context, InputSpec, Outcome, OutputSpec, Publisher


@frozen
class SheetRequest:
    """Identity of the package; the kernel fills it in from `publish`."""

    id: str
    version: str


def sheet(request: SheetRequest, context: Context) -> Outcome:
    """Write the page."""
    card = json.loads(context.inputs["model_card"].path.read_text("utf-8"))
    lines = [f"# {request.id} {request.version}", "", f"Predicts {card['target']['name']} from:"]
    lines += [f"- {one['name']}: {one['min']} to {one['max']}" for one in card["columns"]]
    context.output("sheet.md", "OTHER").write_text("\n".join(lines) + "\n", "utf-8")
    return Outcome()


SHEET = Publisher(
    operation="sheet",
    run=sheet,
    request=SheetRequest,
    summary="Writes the model card as one page to print.",
    delivers=("model_sheet",),
    inputs=(InputSpec("model_card", ("model_card",)),),
    outputs=(OutputSpec("sheet.md", "OTHER"),),
)
