"""The built wheel in an empty environment without network, and the programs of docs/python.md."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from support import ROOT, Case

# Twelve lines: sweep, table, figure, decider.
SCRIPT = """
import folkmoot
folkmoot.set_frames("dicts")
town = {"title": "A town", "population": 12, "length": {"blocks": 3},
        "agents": [{"group": "town", "producers": 2}, {"group": "minds", "count": 4}]}
sweep = folkmoot.sweep(town, {"agents.minds.count": [3, 5]}, replicates=1, log="full")
table = sweep.runs()
@folkmoot.decider
def strict(question):
    return "approve" if question.block["soundness"] == 100 else "reject"
run = folkmoot.run(town, seed=7, deciders={"minds": strict})
open("figure.html", "w").write(sweep.report()._repr_html_())
print(*[row["digest"] for row in table], run.digest, run.measures["decider_failures"])
"""


def output(*arguments: str, cwd: Path, **env: str) -> str:
    given = {**os.environ, **env}
    done = subprocess.run(arguments, cwd=cwd, env=given, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.stdout}{done.stderr}")
    return done.stdout


class Wheel(Case):
    def setUp(self) -> None:
        super().setUp()
        source = self.folder / "source"
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
        shutil.copytree(ROOT / "python", source, ignore=ignored)
        try:
            output(sys.executable, "-m", "pip", "wheel", "-q", "--no-index", "--no-deps",
                   "--no-build-isolation", "-w", ".", str(source), cwd=self.folder)
            output(sys.executable, "-m", "venv", "empty", cwd=self.folder)
        except AssertionError as error:
            missing = re.search(r"No module named '?(pip|setuptools|ensurepip|wheel)|ensurepip is "
                                r"not|setuptools is not available|invalid command 'bdist_wheel'",
                                str(error))
            if not missing:
                raise
            self.skipTest("needs python3-pip, python3-venv, python3-setuptools, python3-wheel")
        self.python = str(self.folder / "empty" / "bin" / "python")

    def test_the_wheel_works_in_an_empty_environment(self) -> None:
        wheel, = self.folder.glob("*.whl")
        self.assertEqual(wheel.name, "folkmoot-0.1.0-py3-none-any.whl")
        output(self.python, "-m", "pip", "install", "-q", "--no-index", wheel.name, cwd=self.folder)
        self.assertLessEqual(len(SCRIPT.strip().splitlines()), 12)
        printed = output(self.python, "-c", SCRIPT, cwd=self.folder, FOLKMOOT_COMMAND=str(ROOT))
        here = output(sys.executable, "-c", SCRIPT, cwd=self.folder,
                      PYTHONPATH=str(ROOT / "python" / "src"))
        self.assertEqual(printed, here)
        self.assertRegex(printed, r"^(\w{64} ){3}0\n$")
        self.assertIn("svg", (self.folder / "figure.html").read_text())
        shown = output(self.python, "-m", "folkmoot", cwd=self.folder, FOLKMOOT_COMMAND=str(ROOT))
        self.assertTrue(shown.endswith("main.js 0.1.0\n"))
        # Without a command line, one line says what to do.
        path = f"{self.folder / 'empty' / 'bin'}:/bin"
        done = subprocess.run([self.python, "-m", "folkmoot"], capture_output=True, text=True,
                              env={"PATH": path})
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
        self.assertIn("set FOLKMOOT_COMMAND", done.stderr)


class Document(Case):
    def test_the_programs_of_the_document_run(self) -> None:
        text = (ROOT / "docs" / "python.md").read_text("utf-8")
        pattern = r"(<!-- not run: [^\n]*-->\n)?```python\n(.*?)```"
        blocks = [block for skipped, block in re.findall(pattern, text, re.S) if not skipped]
        self.assertEqual(len(blocks), 4)
        printed = output(sys.executable, "-c", "".join(blocks), cwd=self.folder,
                         PYTHONPATH=str(ROOT / "python" / "src"), FOLKMOOT_COMMAND=str(ROOT))
        lines = printed.splitlines()
        self.assertRegex(lines[0], r"^9 runs in ")
        self.assertRegex(lines[1], r"^\w+ 0?\.?\d+(\.\d+)? \w{64}$")
        self.assertEqual(lines[2:], ["True", "NOT_FOUND 2 name a file,", "True"])


if __name__ == "__main__":
    unittest.main()
