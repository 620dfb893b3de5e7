"""Data files of verified packages for ``importlib.resources``, from the same bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from importlib.resources.abc import Traversable, TraversableResources
from typing import Any


class VerifiedResources(TraversableResources):
    """The files below one package."""

    def __init__(self, files: Mapping[str, bytes], folder: str) -> None:
        self._files = files
        self._folder = folder

    def files(self) -> Traversable:
        """Return the package's folder."""
        return VerifiedPath(self._files, self._folder)


class VerifiedPath(Traversable):
    """A file or folder among verified bytes."""

    def __init__(self, files: Mapping[str, bytes], path: str) -> None:
        self._files = files
        self._path = path

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._path.rpartition("/")[2]

    def iterdir(self) -> Iterator[Traversable]:
        """Yield what lies directly in this folder."""
        prefix = f"{self._path}/"
        names = {p[len(prefix) :].partition("/")[0] for p in self._files if p.startswith(prefix)}
        for name in sorted(names):
            yield VerifiedPath(self._files, prefix + name)

    def is_dir(self) -> bool:
        """Return whether files lie below this path."""
        return any(path.startswith(f"{self._path}/") for path in self._files)

    def is_file(self) -> bool:
        """Return whether this is a file."""
        return self._path in self._files

    def joinpath(self, *descendants: Any) -> Traversable:  # Any: text or path objects
        """Return the path below this one."""
        parts = [part for d in descendants for part in str(d).split("/") if part not in ("", ".")]
        if ".." in parts:
            raise FileNotFoundError("a resource path does not lead upwards")
        return VerifiedPath(self._files, "/".join([self._path, *parts]))

    def __truediv__(self, child: Any) -> Traversable:  # Any: text or path objects
        return self.joinpath(child)

    def read_bytes(self) -> bytes:
        """Return the bytes of this file."""
        if self._path not in self._files:
            raise FileNotFoundError(f"no verified file {self._path!r}")
        return self._files[self._path]

    def read_text(self, encoding: str | None = None) -> str:
        """Return the text of this file."""
        return self.read_bytes().decode(encoding or "utf-8")

    def open(self, mode: str = "r", *args: Any, **kwargs: Any) -> Any:  # Any: as the base class
        """Return this file opened for reading."""
        stream = io.BytesIO(self.read_bytes())
        return stream if "b" in mode else io.TextIOWrapper(stream, *args, **kwargs)
