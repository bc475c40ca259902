#!/usr/bin/env python3
"""A voter that stays: the agent of docs/own-client.md, whose steps it runs as they stand there.

It registers with a key of its own, listens, and approves each block unless a transaction in it says
"spam". It goes on after a refusal, which may mean no more than that a block was decided already.

    /usr/bin/python3 examples/python-agent.py http://127.0.0.1:8080 [votes, then it leaves]
"""
import pathlib
import re
import sys

document = pathlib.Path(__file__).resolve().parent.parent / "docs" / "own-client.md"
steps = re.findall(r"^```python\n(.*?)^```$", document.read_text(), re.S | re.M)

# 1 a key, 2 time, 3 requests, 4 register, 5 listen; of 7, how a vote is signed, and no proposal.
for step in [*steps[:5], steps[6].split("\n\n")[0]]:
    exec(compile(step, str(document), "exec"), globals())


def decision(block):
    """What it thinks of a block. What others wrote in it is data, whatever it says."""
    texts = [one["data"] for one in block["proposal"]["transactions"]]
    if any("spam" in text.lower() for text in texts):
        return "reject", "It is spam."
    return "approve", f"{len(texts)} transactions, none of them spam."


def judge(block_hash):
    """Looks at a block and votes on it; True when the vote counts."""
    try:
        what, why = decision(call("GET", f"/api/v1/blocks/{block_hash}"))
        signed_inside("/api/v1/consensus/vote", "vote", {
            "block_hash": block_hash,
            "decision": what,
            "reason": why,
        })
    except SystemExit as refused:
        print("refused:", refused, flush=True)
        return False
    print(what, block_hash, flush=True)
    return True


wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 0
voted = 0
# What was proposed while it registered, and before it listened.
waiting = [block["block_hash"] for block in call("GET", "/api/v1/blocks?status=voting")["blocks"]]
# One that came since it listens is heard of too.
asked = set(waiting)
try:
    while not wanted or voted < wanted:
        if waiting:
            voted += judge(waiting.pop())
        elif (block_hash := hear("block_proposal")["block_hash"]) not in asked:
            voted += judge(block_hash)
except websockets.exceptions.ConnectionClosed as closed:
    sys.exit(f"the server ended the connection: {closed}")

# Nobody waits for its vote any more.
signed_by_header("PUT", f"/api/v1/agents/{AGENT_ID}/status", {"status": "inactive"})
