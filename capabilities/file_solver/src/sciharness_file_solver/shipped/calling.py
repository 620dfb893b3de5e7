"""Calls of a solver: a private copy of its folder, its command, tables in and out."""

from __future__ import annotations

import contextlib
import csv
import math
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

AIM_SECONDS = 2.0  # how long one call of several cases should take
GROWTH = 4.0  # how much longer than the one before a call may be
HOPELESS = 16  # cases that fail one by one, and none that works, before it is given up
LAST_BYTES = 500

Row = Sequence[float]
Answer = list[float] | str  # what a solver gave for a case, or why it gave nothing


class SolverFailed(Exception):
    """A call of the solver gave no usable answer; says why."""


def private_copy(root: Path, executable: str, folder: Path) -> Path:
    """Copy the regular files of ``root`` to ``folder`` and return the program among them.

    Only the program may be executed there. Links and special files are refused.
    """
    program = Path(executable)
    if program.is_absolute() or ".." in program.parts or not (root / program).is_file():
        raise SolverFailed(f"there is no program {executable!r} in the solver's folder")
    for above, folders, files in os.walk(root):
        place = folder / Path(above).relative_to(root)
        place.mkdir(parents=True, exist_ok=True)
        for name in (*folders, *files):
            _copy(Path(above, name), place / name)
    os.chmod(folder / program, 0o555)
    return folder / program


def _copy(source: Path, target: Path) -> None:
    mode = source.lstat().st_mode
    if stat.S_ISDIR(mode):
        return
    if not stat.S_ISREG(mode):
        raise SolverFailed(f"{source.name} is a link or no regular file")
    with open(source, "rb") as given, open(target, "xb") as taken:
        while chunk := given.read(1 << 20):
            taken.write(chunk)
    os.chmod(target, 0o444)


def command_line(command: Sequence[str], program: Path, source: Path, sink: Path) -> list[str]:
    """Return a command with its places filled in."""
    places = {
        "{executable}": str(program),
        "{input}": str(source),
        "{output}": str(sink),
        "{python}": sys.executable,
    }
    words = []
    for word in command:
        for place, text in places.items():
            word = word.replace(place, text)
        words.append(word)
    return [sys.executable, *words] if words[0] == str(program) and _is_bare(program) else words


def _is_bare(program: Path) -> bool:
    """Return whether a program is Python source that does not say how it is started."""
    if program.suffix != ".py":
        return False
    with open(program, "rb") as stream:
        return stream.read(2) != b"#!"


def call(
    command: Sequence[str],
    program: Path,
    source: Path,
    sink: Path,
    seconds: float | None,
    folder: Path,
) -> None:
    """Run the solver once in ``folder``, from the file ``source`` to the file ``sink``.

    A command without ``{input}`` reads standard input, one without ``{output}``
    writes standard output.
    """
    words = command_line(command, program, source, sink)
    reads = not any("{input}" in word for word in command)
    writes = not any("{output}" in word for word in command)
    with contextlib.ExitStack() as stack:
        given = stack.enter_context(open(source if reads else os.devnull, "rb"))
        taken = stack.enter_context(open(sink if writes else os.devnull, "wb"))
        log = stack.enter_context(open(sink.with_name(f"{sink.name}.log"), "w+b"))
        try:
            running = subprocess.Popen(
                words, stdin=given, stdout=taken, stderr=log, cwd=folder, start_new_session=True
            )
        except OSError as error:
            raise SolverFailed(f"cannot be started: {error.strerror}") from error
        code = _ended(running, seconds)
        if code != 0:
            raise SolverFailed(f"{_ending(code, seconds)}{_last_words(log)}")
    if not sink.is_file():
        raise SolverFailed("it wrote no output")


def _ended(running: subprocess.Popen[bytes], seconds: float | None) -> int | None:
    """Return the exit code, or ``None`` for a program that had to be ended."""
    try:
        return running.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(OSError):  # whatever it has started ends with it
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def _ending(code: int | None, seconds: float | None) -> str:
    if code is None:
        return f"no answer within {seconds:g} s"
    return f"exit code {code}" if code > 0 else f"ended by signal {-code}"


def _last_words(log: Any) -> str:  # Any: a binary file
    log.seek(0, os.SEEK_END)
    log.seek(max(0, log.tell() - LAST_BYTES))
    lines = log.read().decode("utf-8", "replace").strip().splitlines()
    return f": {lines[-1].strip()[:200]}" if lines else ""


def write_rows(path: Path, names: Sequence[str], rows: Sequence[Row]) -> None:
    """Write a strict CSV file with one row per case."""
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([repr(float(value)) for value in row] for row in rows)


def read_rows(path: Path, names: Sequence[str], count: int) -> list[Answer]:
    """Return the columns ``names`` of a solver's output, one answer per case.

    A case without finite numbers is a failure of its own.
    """
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            header, *rows = [row for row in csv.reader(stream) if row] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SolverFailed(f"its output is no CSV: {error}") from error
    header = [name.strip() for name in header]
    missing = [name for name in names if name not in header]
    if missing:
        raise SolverFailed(f"its output has no column {missing[0]!r}: {', '.join(header)[:200]}")
    if len(rows) != count:
        raise SolverFailed(f"its output has {len(rows)} rows for {count} cases")
    places = [header.index(name) for name in names]
    return [_numbers(row, places) for row in rows]


def _numbers(row: Sequence[str], places: Sequence[int]) -> Answer:
    try:
        found = [float(row[place]) for place in places]
    except (ValueError, IndexError):
        return f"no number in its output: {','.join(row)[:100]}"
    if not all(map(math.isfinite, found)):
        return f"no finite number in its output: {','.join(row)[:100]}"
    return found


def adapter_command(adapter: Path, root: Path, executable: str) -> list[str]:
    """Return the command that calls a solver through an adapter of file-solver-adapter-v1."""
    head = ["{python}", "-I", "-B", str(adapter), "--solver-root", str(root)]
    return [*head, "--solver-executable", executable, "--input", "{input}", "--output", "{output}"]


class Solver:
    """One private copy of a solver whose input and output are tables.

    ``setting`` holds ``executable``, ``command``, ``inputs``, ``outputs`` and
    ``case_seconds``, the time that one case may take. With the text of an
    ``adapter`` that program is called instead and calls the solver.
    """

    def __init__(self, setting: Mapping[str, Any], root: Path, scratch: Path) -> None:
        self._setting = setting
        self._folder = scratch / "solver"
        scratch.mkdir(parents=True, exist_ok=True)
        self._program = private_copy(root, setting["executable"], self._folder)
        self._command = setting["command"]
        if setting.get("adapter"):
            adapter = scratch / "adapter.py"
            adapter.write_text(setting["adapter"], encoding="utf-8", newline="")
            self._command = adapter_command(adapter, self._folder, setting["executable"])
        self._source, self._sink = scratch / "input.csv", scratch / "output.csv"

    def rows(self, rows: Sequence[Row]) -> list[Answer]:
        """Return what the solver answers; a call that fails is asked again in halves."""
        try:
            return self._call(rows)
        except SolverFailed as fault:
            if len(rows) == 1:
                return [str(fault)]
        half = len(rows) // 2
        return self.rows(rows[:half]) + self.rows(rows[half:])

    def _call(self, rows: Sequence[Row]) -> list[Answer]:
        setting = self._setting
        self._sink.unlink(missing_ok=True)
        write_rows(self._source, setting["inputs"], rows)
        seconds = setting["case_seconds"] * len(rows)
        call(self._command, self._program, self._source, self._sink, seconds, self._folder)
        return read_rows(self._sink, setting["outputs"], len(rows))


class Shares:
    """Cases shared out to several copies of a solver: first one by one, then by the second."""

    def __init__(self, count: int, slots: int) -> None:
        self._count, self._slots = count, slots
        self._next, self._size = 0, 1.0
        self._lock = threading.Lock()

    def take(self) -> range:
        """Return the places of the next cases, none when all are taken."""
        with self._lock:
            left = self._count - self._next
            size = min(int(self._size), -(-left // (2 * self._slots)))
            first, self._next = self._next, self._next + size
            return range(first, self._next)

    def took(self, cases: int, seconds: float) -> None:
        """Learn from a call how many cases the next one should have."""
        with self._lock:
            wanted = cases * min(GROWTH, AIM_SECONDS / max(seconds, 1e-3))
            self._size = max(1.0, wanted)

    def stop(self) -> None:
        """Give out no more."""
        with self._lock:
            self._next = self._count


def solve(
    setting: Mapping[str, Any],
    root: Path,
    scratch: Path,
    rows: Sequence[Row],
    slots: int,
    heard: Callable[[Sequence[int], Sequence[Answer]], None] = lambda places, answers: None,
    stopped: Callable[[], bool] = lambda: False,
) -> list[Answer | None]:
    """Return the solver's answer to each row, ``None`` where it was stopped before.

    ``slots`` calls run side by side, each in a private copy of the folder, so
    that files of one cannot meet those of another. ``heard`` is told, one call
    at a time, which places of ``rows`` were answered and how.
    """
    answers: list[Answer | None] = [None] * len(rows)
    shares, lock, faults = Shares(len(rows), slots), threading.Lock(), list[BaseException]()

    def work(solver: Solver) -> None:
        try:
            while (taken := shares.take()) and not stopped():
                began = time.monotonic()
                found = solver.rows([rows[case] for case in taken])
                shares.took(len(taken), time.monotonic() - began)
                with lock:
                    answers[taken.start : taken.stop] = found
                    heard(taken, found)
                    _give_up(answers)
        except BaseException as fault:  # noqa: BLE001  raised again by the caller
            faults.append(fault)
            shares.stop()

    used = range(max(1, min(slots, len(rows))))
    # All copies before any start: a program open for writing, here or in a process that was just
    # forked off, cannot be run.
    solvers = [Solver(setting, root, scratch / f"slot{slot}") for slot in used]
    threads = [threading.Thread(target=work, args=(solver,)) for solver in solvers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return answers


def _give_up(answers: Sequence[Answer | None]) -> None:
    """Refuse a solver that fails whatever it is asked: the rest would be no better."""
    known = list(_known(answers))
    if len(known) >= HOPELESS and all(isinstance(answer, str) for answer in known):
        raise SolverFailed(f"none of {len(known)} cases was answered: {known[0]}")


def _known(answers: Sequence[Answer | None]) -> Iterator[Answer]:
    """Yield the first answers, as many as tell whether it is hopeless."""
    for answer in answers[: 64 * HOPELESS]:
        if answer is not None:
            yield answer
            if not isinstance(answer, str):
                return


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
