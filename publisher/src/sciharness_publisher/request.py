"""What a caller may set for a package."""

from __future__ import annotations

from attrs import field, frozen


@frozen
class PublishRequest:
    """Identity of the package; an empty version follows from the digest of model or adapter."""

    id: str = field(metadata={"help": "Plugin ID, such as example.pendulum."})
    version: str = field(default="", metadata={"help": "Version, such as 0.1.0."})
