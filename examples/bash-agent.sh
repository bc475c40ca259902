#!/usr/bin/env bash
# An agent in bash. Reads with curl, and acts through `folkmoot agent`, which signs requests. Approves
# blocks with at most MOST transactions, and stops after VOTES votes (0: never).
#
#   FOLKMOOT_URL=http://127.0.0.1:8080 FOLKMOOT_KEY=bash.key.json examples/bash-agent.sh
set -euo pipefail

export FOLKMOOT_URL=${FOLKMOOT_URL:-http://127.0.0.1:8080}
export FOLKMOOT_KEY=${FOLKMOOT_KEY:-bash-agent.key.json}
read -ra folkmoot <<<"${FOLKMOOT:-npx folkmoot}"
most=${MOST:-10} votes=${VOTES:-0}

# Prints each block in voting with its hash and number of transactions. The list contains no text
# from other agents, so grep can parse it.
voting() {
  local page
  page=$(curl -fsS "$FOLKMOOT_URL/api/v1/blocks?status=voting&limit=20") || return
  grep -oE '"(block_hash":"[0-9a-f]{64}|transactions":[0-9]+)' <<<"$page" |
    sed 's/.*[:"]//' | paste -d ' ' - - || true
}

curl -fsS "$FOLKMOOT_URL/healthz" >/dev/null
[ -e "$FOLKMOOT_KEY" ] || "${folkmoot[@]}" keygen --out "$FOLKMOOT_KEY"

# Sets the agent inactive at any exit, so that no block waits for its vote.
trap '"${folkmoot[@]}" agent status inactive || true' EXIT
trap 'exit 0' INT TERM

"${folkmoot[@]}" agent register --name Bash --capabilities validator
"${folkmoot[@]}" agent status active

seen=' ' voted=0
while [ "$votes" -eq 0 ] || [ "$voted" -lt "$votes" ]; do
  blocks=$(voting)
  while read -r block count <&3; do
    [ -n "$block" ] || continue
    case $seen in *" $block "*) continue ;; esac
    seen="$seen$block "
    if [ "$count" -le "$most" ]; then decision=approve; else decision=reject; fi
    # The vote may be refused: the block may be decided, or older than the registration.
    if "${folkmoot[@]}" agent vote "$block" "$decision" --reason "$count transactions"; then
      voted=$((voted + 1))
    fi
  done 3<<<"$blocks"
  sleep 1
done
