"""The data of a context.data directory as capabilities use it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import field, frozen

from sciharness.contextdata._faults import Faults, place

if TYPE_CHECKING:
    from sciharness.contextdata._folder import Array

_Value = TypeVar("_Value")


def _kept(mapping: Mapping[str, _Value]) -> Mapping[str, _Value]:
    return MappingProxyType(dict(mapping))


def _kept_axes(mapping: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:  # Any: names
    return MappingProxyType({name: tuple(axes) for name, axes in mapping.items()})


@frozen(eq=False, repr=False)
class AgentContext:
    """Axes and variables with their meaning; the record is fixed, the arrays can be written.

    ``axes`` and ``variables`` map names to arrays, ``variable_axes`` each
    variable to the names of its axes. ``structures`` maps variables to the
    relation along which they lie, ``relation_names`` lists the relations, and
    ``num_nodes`` is the number of nodes that these join (``None`` without).
    ``descriptions`` has a text for each axis and variable.

    Raises:
        ContextManifestError: a name is both an axis and a variable, or axes
            and arrays do not fit each other.
    """

    axes: Mapping[str, Array] = field(converter=_kept)
    variables: Mapping[str, Array] = field(converter=_kept)
    variable_axes: Mapping[str, tuple[str, ...]] = field(converter=_kept_axes)
    descriptions: Mapping[str, str] = field(factory=dict, converter=_kept)
    structures: Mapping[str, str] = field(factory=dict, converter=_kept)
    relation_names: tuple[str, ...] = field(default=(), converter=tuple)
    num_nodes: int | None = None

    def __attrs_post_init__(self) -> None:
        faults = Faults()
        for name in sorted(self.axes.keys() & self.variables.keys()):
            faults.manifest(place("variables", name), "a name that no axis has", f"axis {name!r}")
        for name, array in self.variables.items():
            axes = self.variable_axes.get(name, ())
            due = tuple(len(self.axes[axis]) if axis in self.axes else None for axis in axes)
            if due != array.shape:
                expected = f"shape {due} by its axes {list(axes)}"
                faults.manifest(place("variables", name), expected, str(array.shape))
        for name in (*self.structures.values(), *self.relation_names):
            if name not in self.variables:
                faults.manifest(place("variables", name), "a relation", "none of that name")
        if faults.problems:
            raise faults.error("AgentContext")

    @classmethod
    def from_directory(cls, path: str | os.PathLike[str], mmap: bool = False) -> AgentContext:
        """Return the context of the directory at ``path``; with ``mmap`` arrays are mapped.

        Raises:
            ContextManifestError: the directory is not sound.
        """
        from sciharness.contextdata.load import load_context_data  # loads numpy

        loaded = load_context_data(path, mmap)
        data, along = loaded["data"], loaded["variable_axes"]
        return cls(
            axes={name: array for name, array in data.items() if name not in along},
            variables={name: data[name] for name in along},
            variable_axes=along,
            descriptions=loaded["descriptions"],
            structures=loaded["structures"],
            relation_names=loaded["relation_names"],
            num_nodes=loaded["num_nodes"],
        )

    @property
    def data(self) -> Mapping[str, Array]:
        """All axes and variables by name."""
        return MappingProxyType({**self.axes, **self.variables})

    @property
    def relations(self) -> Mapping[str, Array]:
        """The relations by name: integer arrays (edges, 2) or (hyperedges, 3), target first."""
        return MappingProxyType({name: self.variables[name] for name in self.relation_names})

    @property
    def table_axis(self) -> str | None:
        """The axis on which all variables lie, if they are the columns of one table."""
        shared = set(self.variable_axes.values())
        axes = shared.pop() if len(shared) == 1 else ()
        return axes[0] if len(axes) == 1 else None

    def __getitem__(self, name: str) -> Array:
        return self.variables[name] if name in self.variables else self.axes[name]

    def __contains__(self, name: object) -> bool:
        return name in self.variables or name in self.axes

    def along(self, axis: str) -> Mapping[str, Array]:
        """Return the variables that have ``axis`` among their axes."""
        return MappingProxyType(
            {
                name: self.variables[name]
                for name, axes in self.variable_axes.items()
                if axis in axes
            }
        )

    def on(self, relation: str) -> Mapping[str, Array]:
        """Return the variables whose last axis runs over the edges of ``relation``."""
        return MappingProxyType(
            {name: self.variables[name] for name, of in self.structures.items() if of == relation}
        )

    def describe(self, name: str) -> str:
        """Return the description of an axis or a variable; empty where it has none."""
        if name not in self:
            raise KeyError(name)
        return self.descriptions.get(name, "")

    def __repr__(self) -> str:
        lines = [
            f"{name}: {array.dtype}, axis of {len(array)}" for name, array in self.axes.items()
        ]
        for name, array in self.variables.items():
            along = ", ".join(self.variable_axes.get(name, ()))
            lines.append(f"{name}: {array.dtype} along ({along})")
        return "AgentContext(\n  " + "\n  ".join(lines) + "\n)"
