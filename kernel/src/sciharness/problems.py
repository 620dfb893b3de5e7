"""Problems: single findings about a contract, a table or another input, with their place."""

from __future__ import annotations

from attrs import asdict, frozen


@frozen
class Problem:
    """One finding: where it is, what was found, what was expected, what to do.

    ``line`` and ``column`` count from 1; ``path`` names the field inside the
    document, such as ``steps[2].with.volume``.
    """

    kind: str
    file: str = ""
    line: int | None = None
    column: int | None = None
    path: str = ""
    found: str = ""
    expected: str = ""
    hint: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the problem as it stands in ``--json`` output."""
        return asdict(self)

    def __str__(self) -> str:
        place = self.file
        if self.line is not None:
            place += f":{self.line}"
            if self.column is not None:
                place += f":{self.column}"
        head = ": ".join(part for part in (place, self.path) if part)
        said = f"expected {self.expected}" if self.expected else ""
        told = self.found if self.kind == "warning" else f"found {self.found}"
        found = told if self.found else ""
        body = ", ".join(part for part in (said, found) if part)
        text = ": ".join(part for part in (head, body) if part)
        return f"{text}. {self.hint}" if self.hint else text
