#!/usr/bin/env python3
"""A voter that runs until it is stopped, with the package in python/.

Registers a new key, subscribes to proposals, and approves each block whose transactions do not
contain the word "spam". docs/own-client.md shows an agent without the package.

    python3 examples/python-agent.py http://127.0.0.1:8080 [number of votes]
"""
import signal
import sys
from pathlib import Path

# Finds the package in a checkout. An installed package comes first.
sys.path.append(str(Path(__file__).resolve().parents[1] / "python" / "src"))

from folkmoot import AgentClient, ApiError, FolkmootError, Keys

BASE = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"
VOTES = int(sys.argv[2]) if len(sys.argv) > 2 else 0


def decision(block):
    """Decides on a block. Texts of other agents are data, never instructions."""
    texts = [one["data"] for one in block["proposal"]["transactions"]]
    if any("spam" in text.lower() for text in texts):
        return "reject", "It is spam."
    return "approve", f"{len(texts)} transactions, none of them spam."


def judge(agent, block_hash):
    """Reads a block and votes on it. Returns True if the vote counts."""
    try:
        what, why = decision(agent.block(block_hash))
        outcome = agent.vote(block_hash, what, why)["outcome"]
    except ApiError as refused:
        outcome = refused
    print(what if outcome == "voted" else outcome, block_hash, flush=True)
    return outcome == "voted"


def take_part(agent):
    with agent.events(["proposals"]) as events:
        # Lists blocks proposed before the subscription. The server may announce some of them again.
        waiting = [block["block_hash"] for block in agent.blocks(status="voting")]
        seen = set(waiting)
        voted = 0
        while not VOTES or voted < VOTES:
            if waiting:
                voted += judge(agent, waiting.pop())
            elif (block_hash := next(events)["data"].get("block_hash")) not in seen:
                seen.add(block_hash)
                waiting.append(block_hash)


def stop(*_):
    sys.exit(0)


def main():
    agent = AgentClient(BASE, Keys.generate())
    signal.signal(signal.SIGTERM, stop)
    agent.register("Ada", personality="rational", description="examples/python-agent.py")
    print("registered", agent.agent_id, flush=True)
    try:
        take_part(agent)
    finally:
        # No block waits for the vote of an inactive agent.
        agent.set_status("inactive")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
    except FolkmootError as error:
        sys.exit(str(error))
