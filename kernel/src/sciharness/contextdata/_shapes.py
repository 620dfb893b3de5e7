"""Axes against arrays: every axis is registered, used, and as long as the arrays along it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sciharness.contextdata._axes import Axis
from sciharness.contextdata._faults import Faults, place, printable, several
from sciharness.contextdata._variables import Variable

Variables = Mapping[str, Variable | None]
Axes = Mapping[str, Axis | None]

# A longer `size` axis without any data along it only claims memory (8 bytes an entry).
_UNBACKED = 10_000_000


class Shapes:
    """Compares the shapes of all variables with their axes.

    ``wrong`` names the variables whose arrays are at fault, so that nothing
    further is concluded from their shapes.
    """

    def __init__(self, variables: Variables, axes: Axes, faults: Faults) -> None:
        self.wrong: set[str] = set()
        self._variables = variables
        self._axes = axes
        self._faults = faults
        self._lengths = {name: axis.length if axis else None for name, axis in axes.items()}
        self._differing: list[str] = []
        self._unregistered: dict[str, list[str]] = {}
        # Lengths of dimensions whose axis cannot be told; None where not even the length can.
        self._unresolved: set[int | None] = set()

    def check(self) -> None:
        """Note all faults between shapes and axes."""
        used: set[str] = set()
        fitting: tuple[tuple[str, ...], tuple[int, ...] | None] = ((), None)
        for name, variable in self._variables.items():
            if variable is None or variable.axes is None:
                header = variable.header if variable else None
                self._unresolved |= set(header.shape) if header else {None}
                continue
            axes = variable.axes
            shape = variable.header.shape if variable.header else None
            if (axes, shape) == fitting:  # mostly like the one before
                continue
            used.update(axes)
            if tuple(map(self._lengths.get, axes)) == shape:
                fitting = (axes, shape)
            else:
                self._compare(name, axes, shape)
        self._report_unregistered()
        self._report_lengths()
        self._report_unused(used)
        self._report_unbacked()

    def _compare(self, name: str, axes: tuple[str, ...], shape: tuple[int, ...] | None) -> None:
        """Sort a variable whose shape is not plainly that of its axes."""
        known = shape if shape and len(shape) == len(axes) else (None,) * len(axes)
        for axis, length in zip(axes, known, strict=True):
            if axis not in self._axes:
                self._unregistered.setdefault(axis, []).append(name)
                self._unresolved.add(length)
        if shape is None:
            return
        if len(shape) == len(axes):
            self._differing.append(name)
            return
        self.wrong.add(name)
        expected = f"{len(axes)} dimension{'s' * (len(axes) != 1)}, as many as axes"
        found = f"{len(shape)}, shape {shape}"
        self._faults.file(f"{name}.npy", place("variables", name), expected, found)

    def _report_unregistered(self) -> None:
        for axis, names in self._unregistered.items():
            hint = "Register the axis or name another."
            if len(names) == 1:
                path = place("variables", names[0], "axes")
                self._faults.manifest(path, "registered axes", repr(printable(axis)), hint)
            else:
                expected = f"{printable(axis)!r}, an axis of variables {several(names)}"
                self._faults.manifest("axes", expected, "none of that name", hint)

    def _report_lengths(self) -> None:
        blamed = self._blamed() if self._differing else {}
        for axis, (length, names) in blamed.items():
            expected = f"{length} entries, as in the arrays of {several(names)}"
            self._faults.manifest(place("axes", axis), expected, str(self._lengths[axis]))
        for name in self._differing:
            dimensions = list(self._dimensions(name))
            due = [None if axis in blamed else self._lengths.get(axis) for axis, _ in dimensions]
            lengths = tuple(length for _, length in dimensions)
            if all(a in (None, b) for a, b in zip(due, lengths, strict=True)):
                continue
            self.wrong.add(name)
            shape = ", ".join(
                f"{printable(axis)}={'any' if length is None else length}"
                for (axis, _), length in zip(dimensions, due, strict=True)
            )
            path = place("variables", name)
            self._faults.file(f"{name}.npy", path, f"shape ({shape})", str(lengths))

    def _dimensions(self, name: str) -> Iterator[tuple[str, int]]:
        """Yield axis and length of each dimension of a variable that has as many as axes."""
        variable = self._variables[name]
        if variable and variable.header and variable.axes and name not in self.wrong:
            yield from zip(variable.axes, variable.header.shape, strict=True)

    def _blamed(self) -> dict[str, tuple[int, list[str]]]:
        """Return the axes at fault: several variables agree on another length.

        Where only one variable differs, or they differ from each other, the
        variables are at fault.
        """
        lengths: dict[str, set[int]] = {}
        names: dict[str, list[str]] = {}
        for name in self._variables:
            for axis, length in self._dimensions(name):
                lengths.setdefault(axis, set()).add(length)
                names.setdefault(axis, []).append(name)
        return {
            axis: (min(found), names[axis])
            for axis, found in lengths.items()
            if len(found) == 1
            and len(set(names[axis])) > 1
            and self._lengths.get(axis) not in {None, *found}
        }

    def _report_unused(self, used: set[str]) -> None:
        for axis in self._axes:
            if axis in used or self._may_be_meant(self._lengths[axis]):
                continue
            hint = "Remove it or name it in a variable."
            self._faults.manifest(place("axes", axis), "an axis of some variable", "unused", hint)

    def _may_be_meant(self, length: int | None) -> bool:
        """Whether a dimension of unknown axis may belong to an axis of this length."""
        if length is None or None in self._unresolved:
            return bool(self._unresolved)
        return length in self._unresolved

    def _report_unbacked(self) -> None:
        long = {
            name
            for name, axis in self._axes.items()
            if axis and axis.source == "size" and (axis.length or 0) > _UNBACKED
        }
        if not long:
            return
        for variable in self._variables.values():
            if variable and variable.axes and (not variable.header or variable.header.nbytes):
                long.difference_update(variable.axes)
        for axis in sorted(long):
            found = f"{self._lengths[axis]} entries and no data along it"
            self._faults.manifest(place("axes", axis, "size"), "entries that data backs", found)
