"""A hybrid as files: model.json, inference.py, card, example, guide and the solver's archive."""

from __future__ import annotations

import json
from typing import Any, Literal

from attrs import field, frozen

from sciharness.plugin import Context
from sciharness_file_solver.sources import hybrid_source
from sciharness_publisher.example import minimal_example
from sciharness_publisher.guide import usage_guide
from sciharness_publisher.predictor import (
    Card,
    Column,
    Interval,
    card_document,
    model_document,
    write_texts,
)

Json = dict[str, Any]  # Any: JSON values

_ROUTING = """
## Routing

Every row is answered by the surrogate (`routed` is `model`) where its column values lie in the
ranges above and in a region whose error bound, measured on cases that no fit has seen, is at most
{tolerance:.6g}. `lower` and `upper` are that bound around the prediction; a share of about
{miss:g} % of answers may lie outside. Every other row falls back to the solver itself (`routed` is
`solver`): it is run from `solver.tar`, which lies beside model.json, or from the folder that
`--solver-root` names, after each of its files was compared with the digests in model.json. It runs
with the rights of whoever calls the predictor. A row for which the solver gives no finite number
stops the program with exit code 1.
"""


@frozen
class HybridModel:
    """A surrogate, the policy of where it answers, and the solver for the rest."""

    target: str
    columns: tuple[Column, ...]
    surrogate: Json
    policy: Json
    solver: Json
    words: str
    unit: str | None = None
    out_of_domain: Literal["flag", "refuse"] = "flag"
    interval: Interval | None = None
    kind: str = field(default="hybrid", init=False)
    inference: str = field(default="routing", init=False)

    def payload(self) -> Json:
        """Return the fields of model.json that are a hybrid's own."""
        return {"surrogate": self.surrogate, "policy": self.policy, "solver": self.solver}

    def describe(self) -> str:
        """Return what the model is in a sentence."""
        return (
            f"The model is a surrogate ({self.words}) of the solver `{self.solver['executable']}`, "
            "which itself answers where the surrogate is not sure enough."
        )


def write_hybrid(context: Context, model: HybridModel, card: Card, part: str) -> None:
    """Write the files of a hybrid; ``part`` is the inference part of its surrogate."""
    document = model_document(model, card)
    guide = usage_guide(model, card) + _ROUTING.format(
        tolerance=model.policy["tolerance"], miss=100 * model.policy["miss_rate"]
    )
    texts = {
        "model.json": _fields(document),
        "inference.py": hybrid_source(part),
        "model_card.json": _fields(card_document(model, card)),
        "minimal_example.py": minimal_example(model),
        "usage_guide.md": guide,
    }
    write_texts(context, texts)


def _fields(document: Json) -> str:
    """Return JSON with one line per field."""
    lines = (
        f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}"
        for name, value in document.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"
