"""Events over a WebSocket (RFC 6455), with resume and backoff. Needs no library."""
from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import random
import socket
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .errors import FolkmootError
from .keys import parse

if TYPE_CHECKING:
    from .agent import AgentClient

FIRST_SECONDS, MOST_SECONDS, TOO_FAST_SECONDS = 0.25, 30.0, 60.0
# A subscription that lasted this long resets the backoff.
STEADY_SECONDS = 5.0
ANSWER_SECONDS = 15.0
SILENT_HEARTBEATS = 2.5
LONGEST_MESSAGE = 16 << 20
# Close codes after which a retry would fail too. docs/protocol.md, section 15.
FINAL_CODES = (1009, 4400, 4403, 4405, 4409, 4503)
UNAUTHENTICATED, TOO_FAST = 4401, (4429, 4430)
BROKEN = 1006

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CONTINUATION, _TEXT, _CLOSE, _PING = 0, 1, 8, 9
_PONG = 10


class Closed(Exception):
    """The connection ended, with this code."""

    def __init__(self, code: int, error: Mapping[str, Any] | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.error = error or {}


class Socket:
    """One WebSocket connection of a client."""

    def __init__(self, connection: http.client.HTTPConnection, path: str) -> None:
        key = base64.b64encode(os.urandom(16))
        headers = {"Upgrade": "websocket", "Connection": "Upgrade",
                   "Sec-WebSocket-Key": key.decode(), "Sec-WebSocket-Version": "13"}
        try:
            connection.request("GET", path, headers=headers)
            # The response would close the file of the socket, so the head is read here.
            assert connection.sock is not None
            self._socket: socket.socket = connection.sock
            self._file = self._socket.makefile("rb")
            status = self._file.readline(4096).split()
            accept = base64.b64encode(hashlib.sha1(key + _GUID).digest())
            given = {}
            for _ in range(100):
                name, _, value = self._file.readline(8192).partition(b":")
                if not value:
                    break
                given[name.strip().lower()] = value.strip()
            if status[1:2] != [b"101"] or given.get(b"sec-websocket-accept") != accept:
                refused = b" ".join(status[1:]).decode("latin-1")
                raise OSError(f"handshake refused: {refused}")
        except http.client.HTTPException as error:
            raise OSError(f"handshake failed: {error!r}") from None

    def send(self, message: Mapping[str, Any]) -> None:
        self._frame(_TEXT, json.dumps(message).encode())

    def _frame(self, kind: int, data: bytes) -> None:
        size = len(data)
        if size < 126:
            head = struct.pack("!BB", 0x80 | kind, 0x80 | size)
        else:
            head = struct.pack("!BBH", 0x80 | kind, 0x80 | 126, size)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(data))
        self._socket.sendall(head + mask + masked)

    def receive(self, seconds: float) -> dict[str, Any]:
        """Returns the next message. Raises Closed, and TimeoutError after this much silence."""
        self._socket.settimeout(max(seconds, 0.001))
        text = bytearray()
        while True:
            final, kind, data = self._read_frame()
            if kind == _PING:
                self._frame(_PONG, data)
            elif kind == _CLOSE:
                raise Closed(struct.unpack("!H", data[:2])[0] if len(data) >= 2 else 1005)
            elif kind in (_TEXT, _CONTINUATION):
                text += data
                if len(text) > LONGEST_MESSAGE:
                    raise Closed(BROKEN)
                if final:
                    message = parse(text)
                    return message if isinstance(message, dict) else {}

    def _read_frame(self) -> tuple[bool, int, bytes]:
        first, second = self._exactly(2)
        size = second & 0x7F
        if size >= 126:
            size = int.from_bytes(self._exactly(2 if size == 126 else 8), "big")
        if size > LONGEST_MESSAGE or second & 0x80 or first & 0x70:
            raise Closed(BROKEN)
        return bool(first & 0x80), first & 0x0F, self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        data = self._file.read(size)
        if len(data) < size:
            raise Closed(BROKEN)
        return data

    def close(self) -> None:
        try:
            self._frame(_CLOSE, struct.pack("!H", 1000))
        except OSError:
            pass
        self._file.close()
        self._socket.close()


def _members(value: object) -> dict[str, Any]:
    """Returns the members of an object of a server, which may send anything."""
    return value if isinstance(value, dict) else {}


def _count(members: Mapping[str, Any], name: str, most: int) -> int:
    value = members.get(name)
    if not isinstance(value, int) or not 0 <= value <= most:
        raise ValueError(f"{name} is {value!r}")
    return value


class EventStream(Iterator[dict[str, Any]]):
    """An iterator of events, {type, seq, data}. Also a context manager, which closes it.

    It connects when it is created, so no later event is missed. `position` is the position after
    the last event that was returned, to pass as `since` to a new stream. `gaps` counts changes of
    the history: later events are those of the new one. An iteration raises FolkmootError if a retry
    would fail too.
    """

    def __init__(
        self, client: AgentClient, topics: Sequence[str], since: int | Mapping[str, Any] | None
    ) -> None:
        self.topics = list(topics)
        self.gaps = 0
        self.position: dict[str, Any] | None = dict(since) if isinstance(since, Mapping) else None
        self._since = since if isinstance(since, int) else None
        self._client = client
        self._socket: Socket | None = None
        self._url = ""
        self._silence = ANSWER_SECONDS
        self._failures = 0
        self._refusals = 0
        self._live_at = time.monotonic()
        self._connect()

    def __next__(self) -> dict[str, Any]:
        while True:
            if self._socket is None:
                self._connect()
                continue
            try:
                message = self._socket.receive(self._silence)
            except (Closed, OSError, ValueError) as error:
                self._lost(error)
                continue
            seq = message.get("seq")
            if isinstance(seq, int) and seq > (self.position or {}).get("seq", 0):
                return self._take(message)

    def __enter__(self) -> EventStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._socket:
            self._socket.close()
        self._socket = None

    def _take(self, event: dict[str, Any]) -> dict[str, Any]:
        assert self.position is not None
        self.position = {**self.position, "seq": event["seq"]}
        return event

    def _connect(self) -> None:
        """Connects until it succeeds. Raises FolkmootError if a retry would fail too."""
        while self._socket is None:
            try:
                self._subscribe()
            except (Closed, OSError, ValueError) as error:
                self._lost(error)

    def _subscribe(self) -> None:
        from .agent import connect

        client = self._client
        self._url = client.urls[0]
        connection = Socket(connect(self._url, ANSWER_SECONDS), "/ws/v1")
        self._socket = connection
        timestamp = client._clock.stamp()
        signature = client.keys.sign(f"auth:{client.public_key}:{timestamp}")
        connection.send({"type": "auth", "public_key": client.public_key, "timestamp": timestamp,
                         "signature": signature})
        server = self._answer(connection, "auth_ok")
        self._silence = SILENT_HEARTBEATS * _count(server, "heartbeat_ms", 3_600_000) / 1000
        if self.position is None:
            since = _count(server, "last_seq", 2**53) if self._since is None else self._since
            self.position = {"epoch": server.get("epoch"), "seq": since}
        connection.send({"type": "subscribe", "topics": self.topics, "since": self.position})
        subscribed = self._answer(connection, "subscribed")
        self._refusals = 0
        self._live_at = time.monotonic()
        if subscribed.get("gap"):
            # The server replays its history from the first event.
            self.gaps += 1
            epoch = subscribed.get("epoch")
            seq = self.position["seq"] if self.position["epoch"] == epoch else 0
            self.position = {"epoch": epoch, "seq": seq}

    def _answer(self, connection: Socket, kind: str) -> dict[str, Any]:
        error: Mapping[str, Any] | None = None
        try:
            while True:
                message = connection.receive(ANSWER_SECONDS)
                if message.get("type") == kind:
                    return _members(message.get("data"))
                if message.get("type") == "error":
                    error = _members(message.get("error"))
                    if kind == "subscribed" and error.get("code") == "INVALID_REQUEST":
                        raise Closed(4400, error)
        except Closed as closed:
            raise Closed(closed.code, closed.error or error) from None

    def _lost(self, error: Exception) -> None:
        """Waits before the next connection. Raises FolkmootError if it would fail too."""
        self.close()
        code = error.code if isinstance(error, Closed) else BROKEN
        if code != 1000:
            self._client.leave_server(self._url)
        if time.monotonic() - self._live_at >= STEADY_SECONDS:
            self._failures = 0
        self._live_at = time.monotonic()
        refusal = error.error if isinstance(error, Closed) else {}
        details = _members(refusal.get("details"))
        if code == UNAUTHENTICATED:
            self._refusals += 1
            self._client._clock.correct(details.get("server_time"))
        if code in FINAL_CODES or self._refusals > 1:
            reason = details.get("reason", f"close code {code}")
            raise FolkmootError(f"event stream ended: {reason}: {refusal.get('message', '')}",
                                code=str(refusal.get("code", code))) from None
        most = min(MOST_SECONDS, FIRST_SECONDS * 2 ** min(self._failures, 16))
        self._failures += 1
        time.sleep(TOO_FAST_SECONDS if code in TOO_FAST else random.random() * most)
