"""Where to track: the processor with xtrack's prebuilt kernel, or a GPU when one is there."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from attrs import frozen

from sciharness.errors import RequestError

_CPU_NOTE = "xtrack's prebuilt serial kernel on the processor"


@frozen
class Device:
    """A context of xobjects (``None`` is the processor) and a note on what ran."""

    context: Any  # Any: xobjects has no types
    is_gpu: bool
    note: str


def chosen_device(wanted: str) -> Device:
    """Return the device for ``cpu``, ``gpu`` or ``auto``.

    Raises:
        RequestError: a GPU is asked for and there is none.
    """
    if wanted == "cpu":
        return Device(None, False, _CPU_NOTE)
    context, missing = _gpu()
    if context is not None:
        return Device(context, True, "kernel compiled by cupy on a GPU")
    if wanted == "gpu":
        raise RequestError(
            f"there is no GPU to track on: {missing}",
            where="device",
            hint="Use device auto or cpu.",
        )
    return Device(None, False, _CPU_NOTE)


def _gpu() -> tuple[Any, str]:
    try:
        cupy = import_module("cupy")  # large, and only there beside a GPU
    except ImportError:
        return None, "cupy is not installed"
    import xobjects

    try:
        if cupy.cuda.runtime.getDeviceCount() < 1:
            return None, "cupy finds no device"
        return xobjects.ContextCupy(), ""
    except Exception as error:  # noqa: BLE001  drivers raise errors of their own kinds
        return None, f"{type(error).__name__}: {error}"[:200]
