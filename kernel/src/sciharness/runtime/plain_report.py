"""The kernel's own report: plain Markdown, for runs that lease no report capability."""

from __future__ import annotations

from sciharness.runtime.records import ArtifactRef, to_plain
from sciharness.runtime.session import NewEvent, Session
from sciharness.runtime.view import View
from sciharness.store.artifacts import artifact_id

STEP = "report"

_SPECIAL = "\\`*_{}[]<>()#+|!-"


def plain_report_event(session: Session, view: View) -> NewEvent:
    """Return the event of the kernel's own report, which is stored by this."""
    blob = session.store.ingest_bytes(plain_report(view).encode())
    index = len(session.state.settled)
    reference = ArtifactRef(
        id=artifact_id("scientific_report", "report.md", blob.sha256, index),
        name="report.md",
        type="scientific_report",
        sha256=blob.sha256,
        size=blob.size,
        action=index,
        step=STEP,
    )
    return ("PlainReport", {"artifacts": [to_plain(reference)]})


def plain_report(view: View) -> str:
    """Return a run record (see ``report_view``) as Markdown."""
    lines = [f"# {_text(view['title'])}", "", _text(view["goal"]), ""]
    lines += [
        "## Criteria",
        "",
        "| metric | wanted | value | source | met |",
        "|---|---|---|---|---|",
    ]
    lines += [_criterion(item) for item in view["criteria"]]
    lines += ["", "## Metrics", "", "| name | value | source | capability |", "|---|---|---|---|"]
    lines += [
        f"| {_text(item['name'])} | {item['value']:.8g} | {item['source']} "
        f"| {_text(item['capability'])} |"
        for item in view["metrics"]
    ]
    lines += ["", "## Sealed labels", ""]
    lines += [_sealed(name, item) for name, item in view["sealed_holdout_targets"].items()]
    lines += [_look(item) for item in view["holdout_queries"]]
    lines += [f"- label isolation: {view['label_isolation']}"]
    lines += ["", "## Actions", ""]
    lines += [_action(item) for item in view["actions"]]
    if view.get("failure"):
        lines += ["", f"The run ended early: {_text(view['failure'])}"]
    lines += ["", "## Pins", ""]
    lines += [f"- `{text}`" for text in view["pins"].values()]
    lines += ["", "## Artifacts", ""]
    lines += [
        f"- {_text(item['step'])}.{_text(item['name'])}: `{item['sha256']}`"
        for item in view["artifacts"]
    ]
    if view["contract"].get("deliver"):
        lines += ["", "Packages are made after this report; `packages.md` in the export names them"]
        lines += ["and says whether anybody reviewed them (`independent_binary_review_performed`)."]
    return "\n".join(lines) + "\n"


def _criterion(item: View) -> str:
    value = "none" if item["value"] is None else f"{item['value']:.8g}"
    source = "trusted" if item["trusted"] else "any"
    met = "yes" if item["met"] else f"no: {_text(item['reason'])}"
    wanted = f"{item['op']} {item['threshold']:g}"
    return f"| {_text(item['metric'])} | {wanted} | {value} | {source} | {met} |"


def _sealed(name: str, item: View) -> str:
    return (
        f"- {_text(item['target'])} of {_text(name)}: {item['rows_final']} final rows,"
        f" {item['rows_train']} visible rows ({_text(item['split'])})"
    )


def _look(item: View) -> str:
    replayed = ", replayed" if item["replayed"] else ""
    return f"- look {item['look']} by predictor `{item['predictor_digest'][:12]}`{replayed}"


def _action(item: View) -> str:
    tail = f": {_text(item['message'])}" if item["message"] else ""
    return f"- {_text(item['step'])} ({_text(item['capability'])}) {item['status']}{tail}"


def _text(value: object) -> str:
    flat = " ".join(str(value).split())
    return "".join(f"\\{mark}" if mark in _SPECIAL else mark for mark in flat)
