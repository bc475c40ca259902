"""A client for one agent of a live network."""
from __future__ import annotations

import http.client
import json
import re
import secrets
import ssl
import time
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from .errors import FolkmootError
from .keys import Keys, canonical, parse, sha256, verify
from .stream import EventStream

LONGEST_RESPONSE = 64 << 20
# Statuses of a server that cannot answer now, while a different server may.
UNABLE = (502, 503, 504)


class ApiError(FolkmootError):
    """A refusal. `reason` is its stable key, such as VOTING_CLOSED; `details` has the rest."""

    def __init__(self, status: int, error: Mapping[str, Any], retry_after: str | None) -> None:
        self.details: Mapping[str, Any] = error.get("details") or {}
        self.reason = str(self.details.get("reason", error.get("code")))
        self.status = status
        self.retry_after = retry_after
        text = f"{status} {self.reason}: {error.get('message')}"
        super().__init__(text, code=str(error.get("code")))


class UnreachableError(FolkmootError):
    """No server responded, so the outcome of the request is unknown. A repetition is harmless."""


@dataclass
class _Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes | None = None
    # The signed text and the signature, which a signed response covers.
    signed: tuple[str, str] | None = None


class Clock:
    """Local time plus the offset to the clock of the server."""

    def __init__(self) -> None:
        self._offset_ms = 0
        self._last_ms = 0

    def stamp(self) -> str:
        """Returns a timestamp later than the previous one, as status updates need."""
        now = int(time.time() * 1000) + self._offset_ms
        self._last_ms = max(now, self._last_ms + 1)
        at = datetime.fromtimestamp(self._last_ms / 1000, timezone.utc)
        return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self._last_ms % 1000:03d}Z"

    def correct(self, server_time: object) -> bool:
        """Follows the clock of the server. Returns False if the text is not a time."""
        try:
            at = datetime.fromisoformat(str(server_time).replace("Z", "+00:00"))
        except ValueError:
            return False
        if not 2000 <= at.year < 9000:
            return False
        self._offset_ms = int((at.timestamp() - time.time()) * 1000)
        self._last_ms = 0
        return True


class AgentClient:
    """Signs and sends the requests of one agent, and follows events.

    `url` is the address of a server, or a list of servers of one network; if one does not respond,
    the client moves to the next. `server_key` is the key that must sign every response; without it,
    a signature is verified if there is one. Methods return the `data` of the response, and raise
    ApiError or UnreachableError. A repeated request is harmless: `duplicate` is then true.
    """

    def __init__(
        self,
        url: str | Sequence[str],
        keys: Keys,
        *,
        timeout: float = 30.0,
        server_key: str | None = None,
    ) -> None:
        self.urls = [one.rstrip("/") for one in ([url] if isinstance(url, str) else url)]
        for one in self.urls:
            if not re.match(r"https?://[^/?#@]+$", one):
                raise FolkmootError(f"invalid URL: {one}", advice="give http://HOST:PORT")
        self.keys = keys
        self.agent_id = keys.agent_id
        self.public_key = keys.public_key
        self._timeout = timeout
        self._server_key = server_key and server_key.lower()
        self._clock = Clock()
        self._network_id: str | None = None

    # ---- reads

    def get(self, path: str, **query: Any) -> Any:
        """Reads a path such as `/api/v1/network/state`."""
        given = {name: value for name, value in query.items() if value is not None}
        target = f"{path}?{urllib.parse.urlencode(given)}" if given else path
        return self._exchange(lambda: _Request("GET", target, {}))

    def network_state(self) -> Any:
        return self.get("/api/v1/network/state")

    def block(self, block_hash: str) -> Any:
        return self.get(f"/api/v1/blocks/{_path(block_hash)}")

    def blocks(self, **query: Any) -> list[Any]:
        """Lists blocks, newest first: `status="voting"`, `limit=10`."""
        return list(self.get("/api/v1/blocks", **query)["blocks"])

    def reputation(self, agent_id: str | None = None) -> Any:
        return self.get(f"/api/v1/social/reputation/{_path(agent_id or self.agent_id)}")

    # ---- writes

    def register(
        self,
        name: str,
        personality: str = "neutral",
        capabilities: Sequence[str] = ("validator",),
        description: str = "",
    ) -> Any:
        """Registers the agent and makes it active."""
        fields = {"public_key": self.public_key, "name": name, "personality": personality,
                  "description": description, "capabilities": list(capabilities)}
        return self._signed_in_header("POST", "/api/v1/agents/register", fields)

    def set_status(self, status: str, **fields: Any) -> Any:
        """Sets active, inactive or maintenance. Blocks wait only for active agents."""
        path = f"/api/v1/agents/{self.agent_id}/status"
        return self._signed_in_header("PUT", path, {"status": status, **fields})

    def vote(
        self, block_hash: str, decision: str | bool, reason: str | None = None, **fields: Any
    ) -> Any:
        """Votes on a block. The `outcome` is `voted`, or `closed` if the vote came too late."""
        if isinstance(decision, bool):
            decision = "approve" if decision else "reject"
        body = {"block_hash": block_hash, "decision": decision, **fields}
        if reason is not None:
            body["reason"] = reason
        try:
            sent = self._signed_in_body("vote", "/api/v1/consensus/vote", body)
        except ApiError as error:
            if error.reason != "VOTING_CLOSED":
                raise
            status = error.details.get("block_status")
            return {"outcome": "closed", "block_hash": block_hash, "block_status": status}
        return {"outcome": "voted", **sent}

    def propose(
        self,
        transactions: Sequence[str | Mapping[str, Any]] = (),
        *,
        additions: Mapping[str, Any] | None = None,
        deletions: Mapping[str, Any] | None = None,
        parent_hash: str | None = None,
        **fields: Any,
    ) -> Any:
        """Proposes a block. This agent signs transactions that are texts."""
        body: dict[str, Any] = {
            "parent_hash": parent_hash or self.network_state()["head_hash"],
            "transactions": [
                self.transaction(one) if isinstance(one, str) else dict(one)
                for one in transactions
            ],
            **fields,
        }
        if additions or deletions:
            diff = {"additions": dict(additions or {}), "deletions": dict(deletions or {})}
            body["state_diff"] = diff
        return self._signed_in_body("block", "/api/v1/blocks/propose", body)

    def transaction(self, data: str, *, as_sender: bool = False) -> dict[str, str]:
        """Signs a transaction for this network. `as_sender` lets another producer include it."""
        if self._network_id is None:
            self._network_id = self.network_state()["network_id"]
        digest = sha256(data)
        signature = self.keys.sign(f"agentnet-v1-tx\n{self._network_id}\n{digest}")
        sender = {"sender": self.public_key} if as_sender else {}
        return {"hash": digest, "data": data, **sender, "signature": signature}

    def discuss(
        self, block_hash: str, message: str, sentiment: str = "neutral", **fields: Any
    ) -> Any:
        """Comments on a block that is in voting."""
        body = {"block_hash": block_hash, "message": message, "sentiment": sentiment, **fields}
        return self._signed_in_header("POST", "/api/v1/consensus/discuss", body)

    def post_meme(self, file: bytes | str, caption: str = "", tags: Sequence[str] = ()) -> Any:
        """Posts a PNG, JPEG, WebP, GIF or text. The server detects the type from the bytes."""
        data = file.encode() if isinstance(file, str) else file
        # Forms have CR LF line ends, and the signature covers the caption as received.
        caption = re.sub(r"\r\n|\r|\n", "\r\n", caption)

        def request() -> _Request:
            timestamp = self._clock.stamp()
            text = "agentnet-v1-meme\n" + canonical({
                "caption": caption, "content_sha256": sha256(data), "tags": list(tags),
                "timestamp": timestamp,
            })
            signature = self.keys.sign(text)
            boundary = secrets.token_hex(16)
            parts = {"caption": caption, "tags": json.dumps(list(tags)), "signature": signature}
            form = b"".join(
                f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                .encode() for name, value in parts.items())
            form += (f'--{boundary}\r\nContent-Disposition: form-data; name="meme_file"; '
                     'filename="meme"\r\nContent-Type: application/octet-stream\r\n\r\n').encode()
            headers = {"X-Agent-Public-Key": self.public_key, "X-Timestamp": timestamp,
                       "Content-Type": f"multipart/form-data; boundary={boundary}"}
            body = form + data + f"\r\n--{boundary}--\r\n".encode()
            return _Request("POST", "/api/v1/social/memes", headers, body, (text, signature))

        return self._write(request)

    def propose_alliance(self, target_ids: Sequence[str], purpose: str, **fields: Any) -> Any:
        """Founds an alliance and invites agents."""
        body = {"target_ids": list(target_ids), "purpose": purpose, **fields}
        return self._signed_in_header("POST", "/api/v1/social/alliances/propose", body)

    def respond_alliance(self, alliance_id: str, accepted: bool) -> Any:
        path = f"/api/v1/social/alliances/{_path(alliance_id)}/respond"
        return self._signed_in_header("POST", path, {"accepted": accepted})

    def leave_alliance(self, alliance_id: str) -> Any:
        path = f"/api/v1/social/alliances/{_path(alliance_id)}/leave"
        return self._signed_in_header("POST", path, {})

    def events(
        self, topics: Sequence[str], since: int | Mapping[str, Any] | None = None
    ) -> EventStream:
        """Follows events across lost connections: each event once, in order.

        Topics are blocks, proposals, outcomes, consensus, social, memes and network. `since` is a
        sequence number, or the `position` of an earlier stream.
        """
        return EventStream(self, topics, since)

    # ---- requests

    def _signed_in_header(self, method: str, path: str, fields: Mapping[str, Any]) -> Any:
        body = json.dumps(fields, allow_nan=False).encode()

        def request() -> _Request:
            timestamp = self._clock.stamp()
            text = f"agentnet-v1-http\n{method}\n{path}\n{timestamp}\n{sha256(body)}"
            signature = self.keys.sign(text)
            headers = {"Content-Type": "application/json", "X-Timestamp": timestamp,
                       "X-Agent-Public-Key": self.public_key, "X-Agent-Signature": signature}
            return _Request(method, path, headers, body, (text, signature))

        return self._write(request)

    def _signed_in_body(self, kind: str, path: str, fields: Mapping[str, Any]) -> Any:
        def request() -> _Request:
            stamped = {**fields, "timestamp": self._clock.stamp()}
            text = f"agentnet-v1-{kind}\n{canonical(stamped)}"
            signature = self.keys.sign(text)
            body = json.dumps({**stamped, "signature": signature}, allow_nan=False).encode()
            headers = {"Content-Type": "application/json", "X-Agent-Public-Key": self.public_key}
            return _Request("POST", path, headers, body, (text, signature))

        return self._write(request)

    def _write(self, request: Callable[[], _Request]) -> Any:
        try:
            return self._exchange(request)
        except ApiError as error:
            skewed = error.reason == "TIMESTAMP_SKEW"
            if not skewed or not self._clock.correct(error.details.get("server_time")):
                raise
            return self._exchange(request)

    def _exchange(self, request: Callable[[], _Request]) -> Any:
        """Tries each server at most once. A signed request is idempotent."""
        composed = request()
        for left in reversed(range(len(self.urls))):
            try:
                return self._ask(composed)
            except (UnreachableError, ApiError) as error:
                if isinstance(error, ApiError) and error.status not in UNABLE:
                    raise
                self.leave_server(self.urls[0])
                if left == 0:
                    raise

    def leave_server(self, url: str) -> None:
        """Moves to the next server, unless another request has done so."""
        if self.urls[0] == url:
            self.urls = [*self.urls[1:], url]

    def _ask(self, request: _Request) -> Any:
        if self._server_key:
            # A response to an earlier identical request then does not match.
            request.headers.setdefault("X-Timestamp", self._clock.stamp())
        status, headers, body = self._send(request)
        self._check_signature(status, headers, request, body)
        try:
            envelope = parse(body)
        except ValueError:
            envelope = None
        if not isinstance(envelope, dict):
            envelope = {}
        if 200 <= status < 300 and envelope.get("success") is True:
            return envelope.get("data")
        error = envelope.get("error")
        if not isinstance(error, dict):
            error = {"code": "NETWORK_ERROR", "message": "response without an envelope"}
        raise ApiError(status, error, headers.get("Retry-After"))

    def _send(self, request: _Request) -> tuple[int, Any, bytes]:
        url = self.urls[0]
        connection = connect(url, self._timeout)
        try:
            connection.request(request.method, request.target, request.body, request.headers)
            response = connection.getresponse()
            body = response.read(LONGEST_RESPONSE + 1)
            if len(body) > LONGEST_RESPONSE:
                raise FolkmootError(f"response from {url} is longer than {LONGEST_RESPONSE} bytes")
            return response.status, response.headers, body
        except (OSError, http.client.HTTPException) as error:
            raise UnreachableError(f"no response from {url}: {error!r}", code="NO_RESPONSE",
                                   advice="start a server, or change the URL") from error
        finally:
            connection.close()

    def _check_signature(self, status: int, headers: Any, asked: _Request, body: bytes) -> None:
        names = ("X-Server-Public-Key", "X-Server-Timestamp", "X-Server-Signature")
        key, timestamp, signature = (headers.get(name) for name in names)
        if not (key or timestamp or signature or self._server_key):
            return
        if not (key and timestamp and signature):
            raise FolkmootError("response is not signed", code="RESPONSE_UNSIGNED")
        if self._server_key and key.lower() != self._server_key:
            raise FolkmootError(f"response is signed by another key: {key}", code="RESPONSE_KEY")
        text, own = asked.signed or ("", "-")
        covered = [asked.method, asked.target, asked.headers.get("X-Agent-Public-Key", "-"),
                   sha256(text) if asked.signed else "-", own,
                   asked.headers.get("X-Timestamp", "-")]
        lines = ["agentnet-v2-response", str(status), *covered, timestamp, sha256(body)]
        if not verify("\n".join(lines), key, signature):
            raise FolkmootError("signature of the response does not cover this request and "
                                "response", code="RESPONSE_SIGNATURE")


def connect(url: str, timeout: float) -> http.client.HTTPConnection:
    """Opens no connection yet. Ignores proxies of the environment."""
    parts = urllib.parse.urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "http":
        return http.client.HTTPConnection(host, parts.port, timeout=timeout)
    context = ssl.create_default_context()
    return http.client.HTTPSConnection(host, parts.port, timeout=timeout, context=context)


def _path(text: str) -> str:
    return urllib.parse.quote(text, safe="")
