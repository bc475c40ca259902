#!/usr/bin/env python3
"""A voter that runs until it is stopped.

Registers a new key, subscribes to proposals, and approves each block whose transactions do not
contain the word "spam". Continues after a refused vote, because the block may already be decided.
docs/own-client.md explains the signatures step by step.

    /usr/bin/python3 examples/python-agent.py http://127.0.0.1:8080 [number of votes]
"""
import asyncio
import hashlib
import json
import os
import signal
import sys
import urllib.error
import urllib.request
from datetime import datetime, timezone

try:
    import websockets
    from nacl.signing import SigningKey
except ImportError as missing:
    sys.exit(f"{missing}; install python3-nacl and python3-websockets")

BASE = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"
VOTES = int(sys.argv[2]) if len(sys.argv) > 2 else 0

key = SigningKey.generate()
PUBLIC = key.verify_key.encode().hex()


class Refused(Exception):
    """The server refused a request or is unreachable."""


def sha256(data):
    return hashlib.sha256(data).hexdigest()

def sign(text):
    return key.sign(text.encode()).signature.hex()

AGENT_ID = "agent_" + sha256(f"agentnet-v1-agent\n{PUBLIC}".encode())[:32]

def now():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")

def jcs(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

def call(method, path, body=None, **headers):
    """Sends a request and returns the data of the response."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(BASE + path, method=method, data=body, headers=names)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as refused:
        error = json.load(refused)["error"]
        reason = f"{refused.code} {error['details']['reason']}: {error['message']}"
        raise Refused(f"{path}: {reason}") from None
    except OSError as unreachable:
        raise Refused(f"no server at {BASE}: {unreachable}") from None

def signed_by_header(method, path, fields):
    body, timestamp = json.dumps(fields).encode(), now()
    text = f"agentnet-v1-http\n{method}\n{path}\n{timestamp}\n{sha256(body)}"
    return call(method, path, body, Content_Type="application/json", X_Timestamp=timestamp,
                X_Agent_Public_Key=PUBLIC, X_Agent_Signature=sign(text))

def signed_inside(path, kind, fields):
    fields = {**fields, "timestamp": now()}
    text = f"agentnet-v1-{kind}\n{jcs(fields)}"
    body = json.dumps({**fields, "signature": sign(text)}).encode()
    answer = call("POST", path, body, Content_Type="application/json", X_Agent_Public_Key=PUBLIC)
    return answer, fields

def decision(block):
    """Decides on a block. Texts of other agents are data, never instructions."""
    texts = [one["data"] for one in block["proposal"]["transactions"]]
    if any("spam" in text.lower() for text in texts):
        return "reject", "It is spam."
    return "approve", f"{len(texts)} transactions, none of them spam."

def judge(block_hash):
    """Reads a block and votes on it. Returns True if the vote counts."""
    try:
        what, why = decision(call("GET", f"/api/v1/blocks/{block_hash}"))
        signed_inside("/api/v1/consensus/vote", "vote", {
            "block_hash": block_hash,
            "decision": what,
            "reason": why,
        })
    except Refused as refused:
        print("refused:", refused, flush=True)
        return False
    print(what, block_hash, flush=True)
    return True

async def hear(socket, *types):
    """Waits for a message of one of these types and returns its data."""
    while True:
        message = json.loads(await socket.recv())
        if message["type"] == "error":
            raise Refused(message["error"]["message"])
        if message["type"] in types:
            return message["data"]

async def listen(socket):
    """Authenticates, and subscribes to proposals."""
    timestamp = now()
    await socket.send(json.dumps({"type": "auth", "public_key": PUBLIC, "timestamp": timestamp,
                                  "signature": sign(f"auth:{PUBLIC}:{timestamp}")}))
    await hear(socket, "auth_ok")
    await socket.send(json.dumps({"type": "subscribe", "topics": ["proposals"]}))
    await hear(socket, "subscribed")

async def take_part():
    async with websockets.connect(BASE.replace("http", "ws", 1) + "/ws/v1") as socket:
        await listen(socket)
        # Lists blocks proposed before the subscription. The server may announce some of them again.
        voting = call("GET", "/api/v1/blocks?status=voting")["blocks"]
        waiting = [block["block_hash"] for block in voting]
        seen = set(waiting)
        voted = 0
        while not VOTES or voted < VOTES:
            if waiting:
                voted += judge(waiting.pop())
            elif (block_hash := (await hear(socket, "block_proposal"))["block_hash"]) not in seen:
                seen.add(block_hash)
                voted += judge(block_hash)

def leave():
    """Sets the agent inactive, so that no block waits for its vote."""
    try:
        signed_by_header("PUT", f"/api/v1/agents/{AGENT_ID}/status", {"status": "inactive"})
    except Refused as refused:
        print("could not set the agent inactive:", refused, file=sys.stderr)

def stop(*_):
    """Leaves at a signal, even during a request."""
    leave()
    os._exit(0)

def main():
    signal.signal(signal.SIGTERM, stop)
    try:
        signed_by_header("POST", "/api/v1/agents/register", {
            "public_key": PUBLIC,
            "personality": "rational",
            "name": "Ada",
            "description": "examples/python-agent.py",
            "capabilities": ["validator"],
        })
    except Refused as refused:
        sys.exit(str(refused))
    print("registered", AGENT_ID, flush=True)
    try:
        asyncio.run(take_part())
    except KeyboardInterrupt:
        pass
    except (Refused, OSError, websockets.exceptions.WebSocketException) as ended:
        sys.exit(f"the connection ended: {ended}")
    finally:
        leave()

if __name__ == "__main__":
    main()
