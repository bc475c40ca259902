"""A decider as a program: one question per line on stdin, one answer per line on stdout.

Each question contains all data about the agent, and each answer returns the memory for the next
question, so the program can be restarted at any time without loss.
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
    reason = f"{block['soundness']} % sound, threshold {threshold} %"
    return {
        "commands": [{"do": "vote", "decision": decision, "reason": reason}],
        "memory": {"threshold": threshold},
    }


for line in sys.stdin:
    question = json.loads(line)
    print(json.dumps({"id": question["id"], **decide(question["view"])}), flush=True)
