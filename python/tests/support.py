"""Small scenarios, and a place for files."""
from __future__ import annotations

import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "src"))
MAIN = ROOT / "dist" / "cli" / "main.js"

import folkmoot  # noqa: E402


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


def _restore(name: str, value: str | None) -> None:
    os.environ.pop(name, None)
    if value is not None:
        os.environ[name] = value
