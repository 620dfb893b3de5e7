"""Load sets: the verified bytes that one worker may import."""

from __future__ import annotations

from attrs import frozen

from sciharness.workers.wire import Message
from sciharness_catalog.verify import VerifiedPackage


@frozen
class LoadSet:
    """What a worker may import of ours: the plugin's bytes and those of libraries beside it."""

    package: VerifiedPackage
    libraries: tuple[VerifiedPackage, ...] = ()

    def messages(self) -> tuple[Message, bytes]:
        """Return the header that opens a worker, and the bytes that follow it."""
        header: list[Message] = []
        bodies: list[bytes] = []
        for package in (*self.libraries, self.package):
            header.append(
                {
                    "root": str(package.root),
                    "files": [[name, len(data)] for name, data in package.files.items()],
                }
            )
            bodies.extend(package.files.values())
        opening = {
            "plugin_id": self.package.plugin_id,
            "entry_point": self.package.entry_point,
            "packages": header,
        }
        return opening, b"".join(bodies)
