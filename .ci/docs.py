"""Write the pages that are built from files of the packages, or check that they are true.

python .ci/docs.py            write them
python .ci/docs.py --check    say which one is not what it has to be, change nothing
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = {
    ROOT / "examples" / "context_data.md": ROOT / "kernel/src/sciharness/contextdata/guide.md",
}


def main(check: bool) -> int:
    """Write or check every page; return the exit code."""
    stale = [page for page, source in PAGES.items() if not _is_true(page, source)]
    for page in stale:
        print(f"{page.relative_to(ROOT)} {'is not what its source says' if check else 'written'}")
        if not check:
            page.write_bytes(PAGES[page].read_bytes())
    return 1 if check and stale else 0


def _is_true(page: Path, source: Path) -> bool:
    return page.is_file() and page.read_bytes() == source.read_bytes()


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
