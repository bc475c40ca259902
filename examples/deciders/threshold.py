"""A decider as a program: a question a line on standard input, an answer a line on standard output.

All that it knows of an agent stands in the question, and what it wants to know next time it gives
back as memory: so it may be ended and started again at any moment, and nothing is lost.
"""

import json
import sys


def decide(view):
    threshold = view["memory"].get("threshold", 50)
    block = view["block"]
    heard = [1 if vote["decision"] == "approve" else -1 for vote in block["votes"]]
    if heard:
        threshold -= view["parameters"]["step"] * sum(heard) / len(heard)
    threshold = min(100, max(0, round(threshold)))
    decision = "approve" if block["soundness"] >= threshold else "reject"
    reason = f"{block['soundness']} % of it add up, and I want {threshold} %"
    return {
        "commands": [{"do": "vote", "decision": decision, "reason": reason}],
        "memory": {"threshold": threshold},
    }


for line in sys.stdin:
    question = json.loads(line)
    print(json.dumps({"id": question["id"], **decide(question["view"])}), flush=True)
