"""What plugin authors test with: run an operation here or in a real worker, check a plugin.

    from sciharness import testkit

    def test_rows_are_counted(tmp_path):
        data = testkit.table(tmp_path, {"a": [1.0, 2.0], "y": [3.0, 4.0]}, target="y")
        tried = testkit.run_here(plugin, "count", {}, {"data": data}, tmp_path)
        assert tried.metrics == {"rows": 2.0}

:func:`check` is what ``harness plugin check`` prints.
"""

from __future__ import annotations

from sciharness.testkit.bench import Bench
from sciharness.testkit.conformance import check, check_installed
from sciharness.testkit.here import Tried, ask_here, run_here
from sciharness.testkit.samples import table
from sciharness.testkit.verdicts import Verdict

__all__ = ["Bench", "Tried", "Verdict", "ask_here", "check", "check_installed", "run_here", "table"]
