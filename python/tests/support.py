"""Small scenarios, a place for files, and a server."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "src"))
MAIN = ROOT / "dist" / "cli" / "main.js"

import folkmoot  # noqa: E402
from folkmoot import command  # noqa: E402


def town(**more: Any) -> dict[str, Any]:
    """A town of twelve, of whom four have a mind of their own. Takes a second."""
    return {
        "title": "A small town",
        "population": 12,
        "agents": [{"group": "town", "producers": 2}, {"group": "minds", "count": 4}],
        "length": {"blocks": 3},
        **more,
    }


class Case(unittest.TestCase):
    """A test whose tables are dicts, and whose `folder` has a space in its path."""

    def setUp(self) -> None:
        folkmoot.set_frames("dicts")
        self.addCleanup(folkmoot.set_frames, "auto")
        held = tempfile.TemporaryDirectory(prefix="folk moot ")
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)

    def environment(self, **values: str | None) -> None:
        """Sets variables for this test. None removes one."""
        for name, value in values.items():
            before = os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
            self.addCleanup(_restore, name, before)


class Server:
    """A server in a process of its own."""

    def __init__(self, test: Case, *arguments: str, data: str = "data") -> None:
        words = [*command.find(), "serve", "--limits=off", "--port=0",
                 f"--data={test.folder / data}", "--log-level=error", *arguments]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        test.addCleanup(self.stop)
        assert self.process.stdout
        listening = json.loads(self.process.stdout.readline())
        self.url: str = listening["url"]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()


def _restore(name: str, value: str | None) -> None:
    os.environ.pop(name, None)
    if value is not None:
        os.environ[name] = value
