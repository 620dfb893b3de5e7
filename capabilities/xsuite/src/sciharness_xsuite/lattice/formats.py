"""Lattice texts of other programs: recognised, never guessed at, never executed."""

from __future__ import annotations

import re

from attrs import frozen

from sciharness.errors import DataError
from sciharness_xsuite.lattice.source import Source

_LOOKED_AT = 256 * 1024


@frozen
class Format:
    """A format that is known by its text: what it is and which capability would convert it."""

    name: str
    capability: str
    sign: re.Pattern[bytes]
    suffixes: tuple[str, ...] = ()
    needed: int = 1


def _lines(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode(), re.IGNORECASE | re.MULTILINE)


# Each is looked for at the beginnings of lines; the first that fits is taken.
_FORMATS = (
    Format("TFS table", "tfs", _lines(r"^@\s+\w+\s+%\d*\w+\s"), (".tfs",)),
    Format(
        "Elegant command file",
        "elegant",
        _lines(r"^\s*&(run_setup|run_control|track|twiss_output|bunched_beam|global_settings)\b"),
        (".ele",),
    ),
    Format(
        "BMAD lattice",
        "bmad",
        _lines(r"^\s*(parameter|beginning|particle_start|bmad_com)\s*\[\s*\w+\s*\]\s*="),
        (".bmad",),
    ),
    Format(
        "SixTrack input",
        "sixtrack",
        _lines(
            r"^(GEOMETRY|GEOM|FREE|SINGLE ELEMENTS|BLOCK DEFINITIONS|STRUCTURE INPUT)\b[^:;=\n]*$"
        ),
        (".sixtrack",),
        needed=2,
    ),
    Format(
        "Elegant lattice",
        "elegant",
        _lines(
            r"^\s*\"?[\w.:+-]+\"?\s*:\s*(CSBEND|CSRCSBEND|KQUAD|KSEXT|KOCT|KICKER|DRIF|EDRIFT|"
            r"CSRDRIFT|QUAD|SEXT|SBEN|RFCA|WATCH|CHARGE|MALIGN|MAXAMP|TWISS|MARK|MONI|HKICK|VKICK|"
            r"RCOL|ECOL|CWIGGLER|UKICKMAP)\s*(,|&|$)"
        ),
        (".lte",),
    ),
    Format(
        "MAD-X text",
        "madx",
        _lines(
            r"^\s*((\w[\w.$]*\s*:\s*)?(sequence\b|line\s*=\s*\(|(sbend|rbend|quadrupole|sextupole|"
            r"octupole|multipole|rfcavity|marker|drift|kicker|hkicker|vkicker|monitor|instrument|"
            r"collimator|solenoid|hmonitor|vmonitor)\s*(,|;))|endsequence\b|beam\s*,|use\s*,|"
            r"call\s*,|option\s*,|title\s*,|seqedit\s*,|makethin\b|ptc_\w+|twiss\s*[,;]|"
            r"(const\s+|real\s+)?[\w.]+(\s*->\s*\w+)?\s*:=\s*[^=]+;)"
        ),
        (".madx", ".seq", ".mad", ".mad8", ".str"),
    ),
)
_PYTHON = _lines(r"^\s*(import\s+\w|from\s+[\w.]+\s+import\b|def\s+\w+\()")


def refuse_other_format(source: Source) -> None:
    """Refuse a text of another program by naming the capability that is missing.

    Raises:
        DataError: the text is a lattice of another program, a script or binary.
    """
    if _looks_like_json(source.content):
        return
    found = recognised(source)
    if found is not None:
        raise DataError(
            f"is a {found.name}, and no lattice text is executed here: the missing capability is "
            f"`{found.capability}_to_xsuite_json`",
            where=source.name,
            hint=_hint(found.capability, source.name),
        )
    if b"\0" in source.content[:_LOOKED_AT] or source.content[:1] in (b"\x80", b"\x89"):
        what = "binary data"
    elif _PYTHON.search(source.content[:_LOOKED_AT]):
        what = "a Python script, which is never executed"
    else:
        return
    raise DataError(
        f"is {what}, expected the JSON of Line.to_dict",
        where=source.name,
        hint="Write it with line.to_json('ring.json').",
    )


def recognised(source: Source) -> Format | None:
    """Return the format of a text, by what stands in it, else by the end of its name."""
    head = source.content[:_LOOKED_AT]
    for known in _FORMATS:
        if len(set(known.sign.findall(head)[:50])) >= known.needed:
            return known
    name = source.name.lower().removesuffix(".gz")
    return next((known for known in _FORMATS if name.endswith(known.suffixes or "\0")), None)


def _hint(capability: str, name: str) -> str:
    if capability == "madx":
        return (
            "beam.xsuite has it: `harness call beam.xsuite.madx_to_xsuite_json --input "
            f"source={name}`, or a step before this one."
        )
    return (
        "No plugin here has it. Load the ring with the program that wrote it or with xtrack, and "
        "write line.to_json('ring.json')."
    )


def _looks_like_json(content: bytes) -> bool:
    return content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
