"""Imports from verified bytes: the plugin's own modules never come from the disk.

Modules are compiled from the bytes the kernel read and hashed; no bytecode
file of theirs is read. The finder stands first in ``sys.meta_path`` and raises
for every name below its packages that is not listed, so that a file added
later is not found. Data files are served from the same bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sciharness.workers.resources import VerifiedResources


class VerifiedFinder:
    """Finds and loads the modules of verified packages, and no others below their names.

    ``files`` maps paths relative to ``root`` to bytes. Several instances live
    side by side: the plugin's and those of libraries of ours.
    """

    def __init__(self, root: str, files: Mapping[str, bytes]) -> None:
        self.root = root
        self.files = files
        self.folders = {path[:at] for path in files for at in range(len(path)) if path[at] == "/"}
        self.tops = {path.partition("/")[0].removesuffix(".py") for path in files}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of one of our modules, ``None`` for a name that is not ours.

        Raises:
            ModuleNotFoundError: the name is ours and not listed.
        """
        if fullname.partition(".")[0] not in self.tops:
            return None
        stem = fullname.replace(".", "/")
        if f"{stem}/__init__.py" in self.files:
            return self._spec(fullname, f"{stem}/__init__.py", package=True)
        if f"{stem}.py" in self.files:
            return self._spec(fullname, f"{stem}.py", package=False)
        if stem in self.folders:
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [f"{self.root}/{stem}"]
            return spec
        raise ModuleNotFoundError(f"no verified module {fullname!r}", name=fullname)

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave the making of the module to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Compile and run a module."""
        assert module.__spec__ is not None
        _show_source(module.__spec__.origin or "", self.get_source(module.__name__))
        exec(self.get_code(module.__name__), module.__dict__)

    def get_code(self, fullname: str) -> CodeType:
        """Return the compiled module."""
        name = self._file(fullname)
        # dont_inherit: our own `from __future__` lines must not reach a plugin.
        code: CodeType = compile(self.files[name], f"{self.root}/{name}", "exec", dont_inherit=True)
        return code

    def get_source(self, fullname: str) -> str:
        """Return the source text of a module."""
        from importlib.util import decode_source

        return decode_source(self.files[self._file(fullname)])

    def is_package(self, fullname: str) -> bool:
        """Return whether the module is a package."""
        return f"{fullname.replace('.', '/')}/__init__.py" in self.files

    def get_filename(self, fullname: str) -> str:
        """Return the path a module has on disk, for people only."""
        return f"{self.root}/{self._file(fullname)}"

    def get_data(self, path: str) -> bytes:
        """Return the verified bytes of a data file, as ``pkgutil.get_data`` asks for it.

        Raises:
            FileNotFoundError: no such file is listed.
        """
        relative = path.replace("\\", "/").removeprefix(f"{self.root}/")
        if relative not in self.files:
            raise FileNotFoundError(f"no verified file {path!r}")
        return self.files[relative]

    def get_resource_reader(self, fullname: str) -> VerifiedResources:
        """Return what ``importlib.resources`` reads from."""
        from sciharness.workers.resources import VerifiedResources

        return VerifiedResources(self.files, fullname.replace(".", "/"))

    def _spec(self, fullname: str, name: str, *, package: bool) -> ModuleSpec:
        loader: Any = self  # Any: a loader by its methods; the abstract classes cost 20 ms
        origin = f"{self.root}/{name}"
        spec = ModuleSpec(fullname, loader, origin=origin, is_package=package)
        spec.has_location = True
        if package:
            spec.submodule_search_locations = [origin.rpartition("/")[0]]
        return spec

    def _file(self, fullname: str) -> str:
        stem = fullname.replace(".", "/")
        for name in (f"{stem}/__init__.py", f"{stem}.py"):
            if name in self.files:
                return name
        raise ImportError(f"no verified module {fullname!r}", name=fullname)


def install(finder: VerifiedFinder) -> None:
    """Put a finder first and forget its modules if any were imported before."""
    loaded: Any = finder  # Any: a finder by its methods
    sys.meta_path.insert(0, loaded)
    for name in [name for name in sys.modules if name.partition(".")[0] in finder.tops]:
        del sys.modules[name]


def _show_source(filename: str, source: str) -> None:
    """Let tracebacks and ``inspect`` show what runs, not what lies on the disk now."""
    import linecache

    lines = source.splitlines(keepends=True)
    linecache.cache[filename] = (len(source), None, lines, filename)
