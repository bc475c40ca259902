"""Agents on a real server: requests, signatures, events."""
from __future__ import annotations

import base64
import hashlib
import json
import socket
import subprocess
import threading
import unittest
from typing import Any
from unittest import mock

from support import Case, Server, folkmoot

from folkmoot import command, keys
from folkmoot.keys import canonical

try:
    folkmoot.Keys.generate()
    LIBRARY = True
except folkmoot.FolkmootError:
    LIBRARY = False


@unittest.skipUnless(LIBRARY, "needs python3-cryptography or python3-nacl")
class Agents(Case):
    def agent(self, url: str | list[str], **more: Any) -> folkmoot.AgentClient:
        return folkmoot.AgentClient(url, folkmoot.Keys.generate(), **more)

    def test_an_agent_proposes_votes_and_hears_the_outcome(self) -> None:
        server = Server(self)
        ada = self.agent(server.url)
        self.assertEqual(ada.register("Ada", capabilities=["validator", "producer"])["agent_id"],
                         ada.agent_id)
        with ada.events(["proposals", "outcomes", "social", "memes", "consensus"]) as events:
            block = ada.propose(["hello", ada.transaction("world")], additions={"x": [1.5, "é"]})
            self.assertEqual(next(events)["data"]["block_hash"], block["block_hash"])
            ada.discuss(block["block_hash"], "well done", "positive")
            ada.post_meme("to the moon", caption="two\nlines", tags=["a"])
            vote = ada.vote(block["block_hash"], True, "Well said.")
            self.assertEqual((vote["outcome"], vote["block_status"]), ("voted", "finalized"))
            types = []
            while "block_status" not in types:
                types.append(next(events)["type"])
            self.assertEqual(types[:3], ["consensus_discussion", "meme_posted", "block_validation"])
        self.assertEqual(ada.get("/api/v1/state/x")["value"], [1.5, "é"])
        self.assertEqual(ada.block(block["block_hash"])["status"], "finalized")
        self.assertEqual(len(ada.blocks(limit=5)), 1)
        self.assertIn("overall_score", ada.reputation())
        bob = self.agent(server.url)
        bob.register("Bob")
        found = ada.propose_alliance([bob.agent_id], "calm")
        bob.respond_alliance(found["alliance_id"], True)
        bob.leave_alliance(found["alliance_id"])
        self.assertEqual(ada.set_status("inactive")["status"], "inactive")
        with self.assertRaises(folkmoot.ApiError) as caught:
            ada.vote("0" * 64, "approve")
        self.assertEqual((caught.exception.reason, caught.exception.code),
                         ("UNKNOWN_BLOCK", "INVALID_REQUEST"))

    def test_a_late_vote_is_a_result(self) -> None:
        server = Server(self)
        agents = [self.agent(server.url) for _ in range(4)]
        for number, one in enumerate(agents):
            one.register(f"Agent {number}", capabilities=["validator", "producer"])
        block_hash = agents[0].propose()["block_hash"]
        outcomes = [one.vote(block_hash, "approve") for one in agents]
        self.assertEqual([one["outcome"] for one in outcomes], ["voted"] * 3 + ["closed"])
        self.assertEqual(outcomes[3]["block_status"], "finalized")

    def test_events_resume_after_a_restart_of_the_server(self) -> None:
        server = Server(self)
        ada = self.agent(server.url)
        ada.register("Ada")
        events = ada.events(["network"])
        self.addCleanup(events.close)
        ada.set_status("maintenance", reason="one")
        self.assertEqual(next(events)["data"]["reason"], "one")
        ada.set_status("active", reason="missed")
        server.stop()
        server = Server(self)
        ada.urls = [server.url]
        ada.set_status("maintenance", reason="two")
        reasons = [event["data"].get("reason") for event in (next(events), next(events))]
        self.assertEqual(reasons, ["missed", "two"])
        again = ada.events(["network"], since=events.position)
        self.addCleanup(again.close)
        ada.set_status("active", reason="three")
        self.assertEqual(next(again)["data"]["reason"], "three")
        self.assertEqual(again.gaps, 0)
        # Another history: its events come from the first on.
        server.stop()
        server = Server(self, data="other")
        ada.urls = [server.url]
        ada.register("Ada")
        kinds = [next(again)["data"]["status"]]
        self.assertEqual((kinds, again.gaps), (["active"], 1))

    def test_a_stream_that_cannot_succeed_is_an_error(self) -> None:
        server = Server(self)
        stranger = self.agent(server.url)
        with self.assertRaisesRegex(folkmoot.FolkmootError, "UNKNOWN_KEY"):
            stranger.events(["network"])
        stranger.register("Eve")
        with self.assertRaisesRegex(folkmoot.FolkmootError, "UNKNOWN_TOPIC"):
            stranger.events(["nonsense"])

    def test_signatures_of_responses_are_verified(self) -> None:
        own = folkmoot.Keys.generate()
        own.save(self.folder / "response.key.json")
        self.assertEqual((self.folder / "response.key.json").stat().st_mode & 0o777, 0o600)
        server = Server(self, f"--response-key={self.folder / 'response.key.json'}")
        ada = self.agent(server.url, server_key=own.public_key.upper())
        ada.register("Ada")
        ada.post_meme(b"text")
        self.assertIn("head_hash", ada.network_state())
        other = self.agent(server.url, server_key="0" * 64)
        with self.assertRaisesRegex(folkmoot.FolkmootError, "signed by another key"):
            other.network_state()
        with mock.patch.object(folkmoot.agent, "sha256", lambda data: "0" * 64):
            with self.assertRaises(folkmoot.FolkmootError) as caught:
                self.agent(server.url).network_state()
        self.assertEqual(caught.exception.code, "RESPONSE_SIGNATURE")
        plain = Server(self, data="plain")
        with self.assertRaisesRegex(folkmoot.FolkmootError, "not signed"):
            self.agent(plain.url, server_key=own.public_key).network_state()

    def test_the_client_follows_the_clock_of_the_server_and_moves_to_the_next(self) -> None:
        server = Server(self)
        with socket.create_server(("127.0.0.1", 0)) as closed:
            nowhere = f"http://127.0.0.1:{closed.getsockname()[1]}"
        with self.assertRaises(folkmoot.UnreachableError):
            self.agent(nowhere).network_state()
        ada = self.agent([nowhere, server.url])
        with mock.patch("time.time", lambda: 1e9):
            self.assertEqual(ada.register("Ada")["agent_id"], ada.agent_id)
            with ada.events(["network"]) as events:
                ada.set_status("maintenance")
                self.assertEqual(next(events)["type"], "agent_status")

    def test_hostile_servers_end_no_program(self) -> None:
        for answer in [b"", b"HTTP/1.1 200 OK\r\n\r\nnonsense", b"\xff" * 9000,
                       b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
                       b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
                       b"Content-Length: 0\r\n\r\n",
                       b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 100_000]:
            with socket.create_server(("127.0.0.1", 0)) as listener:
                threading.Thread(target=self.respond, args=(listener, answer)).start()
                url = f"http://127.0.0.1:{listener.getsockname()[1]}"
                with self.assertRaises(folkmoot.FolkmootError):
                    self.agent(url, timeout=5).network_state()
        for url in ["ftp://x", "http://a@b", "http://x/y", "file:///etc/passwd"]:
            with self.assertRaisesRegex(folkmoot.FolkmootError, "invalid URL"):
                self.agent(url)

    def test_hostile_event_streams_end_no_program(self) -> None:
        hello = {"heartbeat_ms": 1000, "last_seq": 0, "epoch": "e"}
        accepted = [{"type": "auth_ok", "data": hello}, {"type": "subscribed", "data": {}}]
        hostile = [
            [{"type": "auth_ok"}], [{"type": "auth_ok", "data": [1]}], [{"type": "error"}],
            [{"type": "auth_ok", "data": {**hello, "heartbeat_ms": 1e300}}],
            [{"type": "auth_ok", "data": {**hello, "last_seq": "0"}}],
            [{"type": "error", "error": {"details": [1]}}], [*accepted, {"seq": "9"}],
            [*accepted, {"seq": None}], [b"[" * 100_000],
            [*accepted, {"type": "kept", "seq": 1}],
        ]
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=self.stream, args=(listener, hostile)).start()
            with mock.patch.object(folkmoot.stream, "FIRST_SECONDS", 0):
                url = f"http://127.0.0.1:{listener.getsockname()[1]}"
                events = self.agent(url).events(["network"])
                self.assertEqual(next(events)["type"], "kept")
                with self.assertRaisesRegex(folkmoot.FolkmootError, "close code 4400"):
                    next(events)

    @staticmethod
    def stream(listener: socket.socket, all: list[Any]) -> None:
        """Sends the messages of each connection in frames of one byte, and then closes it."""
        for number, messages in enumerate(all):
            connection, _ = listener.accept()
            with connection:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += connection.recv(1)
                key = next(line[19:] for line in head.split(b"\r\n")
                           if line.lower().startswith(b"sec-websocket-key: "))
                accept = base64.b64encode(hashlib.sha1(key + folkmoot.stream._GUID).digest())
                connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\n"
                                   b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
                for message in messages:
                    text = message if isinstance(message, bytes) else json.dumps(message).encode()
                    frames = b"".join(bytes([0, 1, byte]) for byte in text)
                    connection.sendall(b"\x01\x00" + frames + b"\x80\x00")
                code = 4400 if number == len(all) - 1 else 1001
                connection.sendall(b"\x88\x02" + code.to_bytes(2, "big"))
                connection.recv(65536)

    @staticmethod
    def respond(listener: socket.socket, answer: bytes) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(answer)


class KeysAndText(Case):
    def test_canonical_json_is_that_of_the_server(self) -> None:
        script = ("const {canonical} = await import(process.argv[1]);"
                  "process.stdout.write(JSON.parse(process.argv[2]).map(canonical).join('\\n'))")
        values = [0.1, -0.0, 1e21, 1e20, 123456789012345680000.0, 1e-6, 1e-7, 1.5e-9, 100.0, 5e-324,
                  -1.25, 1.7976931348623157e308, 2**53 - 1, {"\u20ac": 1, "\r": [True, None],
                  "\ufb33": "\x00\x7f\u2028\"\\", "\U0001f600": "é"}, [], {}]
        module = str(command.find()[-1]).replace("cli/main.js", "engine/protocol/canonical.js")
        arguments = [command.find_node(), "--input-type=module", "-e", script, module,
                     json.dumps(values)]
        shown = subprocess.run(arguments, capture_output=True, check=True).stdout.decode()
        self.assertEqual("\n".join(map(canonical, values)), shown)
        for wrong in [float("nan"), 2**53, "\ud800", {1: 2}, object()]:
            with self.assertRaises(ValueError):
                canonical(wrong)

    @unittest.skipUnless(LIBRARY, "needs python3-cryptography or python3-nacl")
    def test_keys_are_those_of_keygen(self) -> None:
        path = self.folder / "ada.key.json"
        command.run(["keygen", f"--out={path}"])
        kept = json.loads(path.read_text())
        loaded = folkmoot.Keys.load(path)
        self.assertEqual((loaded.public_key, loaded.agent_id),
                         (kept["public_key"], kept["agent_id"]))
        self.assertNotIn(kept["private_key"], repr(loaded))
        for text in ["{", "[]", json.dumps({**kept, "private_key": "12"}),
                     json.dumps({**kept, "public_key": "00" * 32})]:
            path.write_text(text)
            with self.assertRaises(folkmoot.FolkmootError) as caught:
                folkmoot.Keys.load(path)
            self.assertNotIn(kept["private_key"], str(caught.exception))

    def test_without_a_library_the_error_says_what_to_install(self) -> None:
        missing = {name: None for name in ("cryptography", "nacl", "nacl.signing")}
        missing["cryptography.hazmat.primitives"] = None
        missing["cryptography.exceptions"] = None
        with mock.patch.dict("sys.modules", missing):
            with self.assertRaisesRegex(folkmoot.FolkmootError, r"pip install 'folkmoot\[agent\]'"):
                folkmoot.Keys.generate()
            with self.assertRaises(folkmoot.FolkmootError):
                keys.verify("", "00" * 32, "00" * 64)

    @unittest.skipUnless(LIBRARY, "needs python3-cryptography or python3-nacl")
    def test_both_libraries_give_the_same_signatures(self) -> None:
        own = folkmoot.Keys(bytes(range(32)))
        signature = own.sign("text")
        names = ("cryptography.hazmat.primitives", "cryptography.exceptions")
        with mock.patch.dict("sys.modules", dict.fromkeys(names)):
            try:
                other = folkmoot.Keys(bytes(range(32)))
            except folkmoot.FolkmootError:
                self.skipTest("needs both libraries")
            self.assertEqual(other.sign("text"), signature)
            self.assertTrue(keys.verify("text", own.public_key, signature))
            self.assertFalse(keys.verify("text.", own.public_key, signature))
        self.assertTrue(keys.verify("text", own.public_key, signature))
        for key, given in [(own.public_key, "zz" * 64), ("0", signature), ("é" * 64, signature)]:
            self.assertFalse(keys.verify("text", key, given))


if __name__ == "__main__":
    unittest.main()
