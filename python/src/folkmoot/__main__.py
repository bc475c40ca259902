"""Installs the command line into this Python environment, or shows which one is used.

    python -m folkmoot                      print the program and its version
    python -m folkmoot install FILE.tgz     install the file that `npm pack` wrote
"""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from . import command
from .errors import FolkmootError


def main(arguments: list[str]) -> int:
    try:
        if not arguments:
            finished = command.run(["--version"])
            print(*command.find(), finished.stdout.decode().strip())
            return 0
        if len(arguments) == 2 and arguments[0] == "install":
            return install(Path(arguments[1]))
    except FolkmootError as error:
        print(f"folkmoot: {error}", file=sys.stderr)
        return error.exit_code or 2
    print(__doc__, file=sys.stderr)
    return 2


def install(package: Path) -> int:
    """Installs with the npm of Node.js. Its dependencies come from npm's registry or cache."""
    node = Path(command.find_node()).resolve()
    # The wheel of Node.js has npm in lib/, and so have other installations.
    places = [node.parent.parent / "lib", node.parent, node.parent.parent / "share"]
    scripts = [place / "node_modules" / "npm" / "bin" / "npm-cli.js" for place in places]
    npm = next((str(script) for script in scripts if script.is_file()), None)
    program = [str(node), npm] if npm else ["npm"]
    target = command.installation()
    target.mkdir(parents=True, exist_ok=True)
    (target / "package.json").write_text('{"private": true}\n')
    words = [*program, "install", "--omit=dev", str(package.resolve())]
    path = f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    try:
        return subprocess.run(words, cwd=target, env={**os.environ, "PATH": path}).returncode
    except OSError as error:
        raise FolkmootError(f"cannot run npm: {error}", advice=command.INSTALL_NODE) from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
