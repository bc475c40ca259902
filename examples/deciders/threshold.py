"""A decider as a program, with the package in python/: learns its threshold from other votes.

Each question contains all data about the agent, and each answer returns the memory for the next
question, so the program can be restarted at any time without loss.
"""
import sys
from pathlib import Path

# Finds the package in a checkout. An installed package comes first.
sys.path.append(str(Path(__file__).resolve().parents[2] / "python" / "src"))

import folkmoot


@folkmoot.decider
def learner(question):
    view, block = question.view, question.block
    threshold = view["memory"].get("threshold", 50)
    heard = [1 if vote["decision"] == "approve" else -1 for vote in block["votes"]]
    if heard:
        threshold -= view["parameters"]["step"] * sum(heard) / len(heard)
    threshold = min(100, max(0, round(threshold)))
    reason = f"{block['soundness']} % sound, threshold {threshold} %"
    vote = folkmoot.vote(block["soundness"] >= threshold, reason)
    return {"commands": [vote], "memory": {"threshold": threshold}}


learner.main()
