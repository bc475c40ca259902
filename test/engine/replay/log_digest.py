"""Recomputes log_digest from what `folkmoot log` prints: python3 log_digest.py < run.ndjson"""
import hashlib, json, sys

parts = ("seq", "at", "kind", "public_key", "target", "timestamp", "signature", "body")
digest = bytes(32)
for line in sys.stdin.buffer:
    entry = json.loads(line)
    texts = [str(entry[part]).encode() for part in parts]
    frame = b"".join(len(text).to_bytes(8, "big") + text for text in texts)
    digest = hashlib.sha256(digest + frame).digest()
print(digest.hex())
