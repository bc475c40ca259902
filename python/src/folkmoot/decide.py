"""Deciders: functions that decide for simulated agents, in this process, over stdio or over HTTP.

docs/deciders.md describes questions and answers. A decider that a run of this process uses answers
over a local socket: the command starts a relay, which a token admits. The relay's arguments do not
depend on the socket, so the cassette of the run fits later runs.
"""
from __future__ import annotations

import contextlib
import functools
import hmac
import json
import os
import queue
import secrets
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import IO, Any

from .errors import DeciderError, FolkmootError

LONGEST_QUESTION = 64 << 20
# Answers have at most 256 KiB.
LONGEST_ANSWER = 256 << 10

_RELAY = """
const [port, token] = process.env.FOLKMOOT_DECIDERS.split(' ');
const socket = require('net').connect(Number(port), '127.0.0.1');
socket.on('error', () => process.exit(1)).on('close', () => process.exit());
socket.write(token + ' ' + process.argv[1] + '\\n');
process.stdin.pipe(socket).pipe(process.stdout);
""".strip()


@dataclass(frozen=True)
class Question:
    """A question to a decider. `view` has everything that the agent knows."""

    id: str
    agent: int
    kind: str
    number: int
    view: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Question:
        """Makes a question of its JSON object. Raises KeyError, and TypeError for another value."""
        return cls(asked["id"], asked["agent"], asked["kind"], asked["number"], asked["view"])

    @property
    def block(self) -> dict[str, Any]:
        """The block in question."""
        return dict(self.view.get("block") or {})


Function = Callable[[Any], Any]


class Decider:
    """A function that answers questions. Made by `decider`."""

    def __init__(self, function: Function, batch: int, strategy: Mapping[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.name = getattr(function, "__name__", "decider")
        self.batch = batch
        self.strategy = dict(strategy)
        self._function = function

    def __call__(self, question: Any) -> Any:
        return self._function(question)

    def answers(self, questions: Sequence[Question]) -> list[dict[str, Any] | None]:
        """Answers questions. Raises DeciderError, which names the question."""
        try:
            if self.batch == 1:
                given = [self._function(question) for question in questions]
            else:
                given = list(self._function(list(questions)))
            if len(given) != len(questions):
                raise ValueError(f"{len(given)} answers to {len(questions)} questions")
            answers = [answer_of(one) for one in given]
            for one in answers:
                if len(json.dumps(one, allow_nan=False)) > LONGEST_ANSWER:
                    raise ValueError(f"answer too long (limit {LONGEST_ANSWER} bytes)")
            return answers
        except Exception as error:
            first = questions[0]
            more = f" and {len(questions) - 1} more" if len(questions) > 1 else ""
            me = first.view.get("me") or {}
            text = f"{type(error).__name__}: {error}"
            raise DeciderError(
                f"decider {self.name}: question {first.id}{more} "
                f"(agent {me.get('name', first.agent)}): {text}",
                first,
            ) from error

    def main(self) -> None:
        """Answers on standard input and output, as a program of the strategy `exec`.

        Prints of the function go to standard error, because standard output carries the answers.
        """
        output = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        _Answering(self, output, _print_failure).read(sys.stdin.buffer)

    def serve(self, port: int = 0, host: str = "127.0.0.1") -> DeciderHttp:
        """Answers over HTTP, for the strategy `http`. Port 0 is a free one: see `url`."""
        return DeciderHttp(self, host, port)


def decider(
    function: Function | None = None, *, batch: int = 1, **strategy: Any
) -> Any:
    """Makes a decider of a function from a Question to an answer.

    The answer is "approve" or "reject", a command or a list of commands as in docs/scripts.md, a
    dict such as {"commands": ..., "memory": ...}, or None to do nothing. With `batch`, the function
    takes a list of up to that many questions, and returns a list of answers. Other arguments are
    members of the strategy: `asks=["vote", "produce"]`, `parameters={...}`, `timeout_ms=...`.
    """
    if function is None:
        return lambda given: Decider(given, batch, strategy)
    return Decider(function, batch, strategy)


def vote(decision: str | bool, reason: str | None = None, **more: Any) -> dict[str, Any]:
    """Makes the command to vote. `decision` is approve, reject, True or False."""
    if isinstance(decision, bool):
        decision = "approve" if decision else "reject"
    return {"do": "vote", "decision": decision, **({"reason": reason} if reason else {}), **more}


def answer_of(given: Any) -> dict[str, Any] | None:
    """Brings what a function returned into the form of an answer."""
    if given is None:
        return None
    if isinstance(given, (str, bool)):
        given = vote(given)
    if isinstance(given, Mapping):
        return {"commands": [dict(given)]} if "do" in given else dict(given)
    return {"commands": list(given)}


def _print_failure(error: DeciderError) -> None:
    traceback.print_exception(error.__cause__ or error)
    print(error, file=sys.stderr, flush=True)


class _Batches:
    """Answers questions in a thread. Questions that wait meanwhile make the next batch."""

    def __init__(self, decider: Decider, failed: Callable[[DeciderError], None]) -> None:
        self._decider = decider
        self._failed = failed
        self._waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def ask(self, question: Question, reply: Callable[[Any, DeciderError | None], None]) -> None:
        self._waiting.put((question, reply))

    def end(self) -> None:
        self._waiting.put(None)

    def _run(self) -> None:
        ended = False
        while not ended:
            batch = [self._waiting.get()]
            with contextlib.suppress(queue.Empty):
                while batch[-1] is not None and len(batch) < self._decider.batch:
                    batch.append(self._waiting.get_nowait())
            ended = batch[-1] is None
            asked = [one for one in batch if one is not None]
            if asked:
                self._answer(asked)

    def _answer(self, asked: list[Any]) -> None:
        error = None
        answers: list[Any] = [None] * len(asked)
        try:
            answers = self._decider.answers([question for question, _ in asked])
        except DeciderError as failure:
            error = failure
            self._failed(failure)
        for (_, reply), answer in zip(asked, answers):
            with contextlib.suppress(OSError, ValueError):
                reply(answer, error)


class _Answering:
    """Answers lines of questions with lines of answers."""

    def __init__(
        self, decider: Decider, output: IO[bytes], failed: Callable[[DeciderError], None]
    ) -> None:
        self._output = output
        self._batches = _Batches(decider, failed)

    def read(self, lines: IO[bytes]) -> None:
        try:
            for line in iter(lambda: lines.readline(LONGEST_QUESTION), b""):
                question = Question.of(json.loads(line))
                self._batches.ask(question, functools.partial(self._write, question.id))
        except OSError:
            pass
        finally:
            self._batches.end()
        self._batches.thread.join()

    def _write(self, id: str, answer: Any, error: DeciderError | None) -> None:
        # A text is no answer, so the run records that this question failed.
        given = {"id": id, "answer": answer if error is None else str(error)}
        self._output.write(json.dumps(given).encode() + b"\n")
        self._output.flush()


def relayed_groups(scenario: Mapping[str, Any]) -> set[str]:
    """Returns the groups whose questions come to functions, by the relay, in a saved scenario."""
    parts = [*scenario.get("agents", []), *scenario.get("interventions", [])]
    strategies = [part.get("strategy") for part in parts]
    commands = [one.get("command") for one in strategies if isinstance(one, dict)]
    return {words[3] for words in commands if words and words[1:3] == ["-e", _RELAY]}


class DeciderServer:
    """Deciders of this process for the time of a command."""

    def __init__(self, deciders: Mapping[str, Decider]) -> None:
        for group, one in deciders.items():
            if not isinstance(one, Decider):
                raise FolkmootError(
                    f"not a decider: {one!r} for group {group}", advice="decorate it with @decider"
                )
        self._deciders = dict(deciders)
        self._token = secrets.token_hex(16)
        self._listener: socket.socket | None = None
        self._stop: Callable[[], None] = lambda: None
        self.failure: DeciderError | None = None

    @property
    def cause(self) -> BaseException | None:
        """The exception of the function."""
        return self.failure.__cause__ if self.failure else None

    @property
    def env(self) -> dict[str, str]:
        if self._listener is None:
            return {}
        return {"FOLKMOOT_DECIDERS": f"{self._listener.getsockname()[1]} {self._token}"}

    def strategies(self) -> dict[str, Any]:
        """Returns the strategies, by group, that bring the questions here."""
        return {
            group: {
                "kind": "exec",
                "command": ["node", "-e", _RELAY, group],
                "env": ["FOLKMOOT_DECIDERS"],
                "most_at_once": max(1, one.batch),
                **one.strategy,
            }
            for group, one in self._deciders.items()
        }

    def on_failure(self, stop: Callable[[], None]) -> None:
        """Calls `stop` when a function raises an exception."""
        self._stop = stop

    def __enter__(self) -> DeciderServer:
        if self._deciders:
            self._listener = socket.create_server(("127.0.0.1", 0))
            threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._listener:
            # A blocked accept ends only after shutdown.
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines, connection.makefile("wb") as output:
            connection.settimeout(10)
            with contextlib.suppress(OSError):
                token, _, group = lines.readline(1024).decode("utf-8", "replace").partition(" ")
                found = self._deciders.get(group.rstrip("\n"))
                if found and hmac.compare_digest(token.encode(), self._token.encode()):
                    connection.settimeout(None)
                    _Answering(found, output, self._failed).read(lines)

    def _failed(self, error: DeciderError) -> None:
        self.failure = self.failure or error
        self._stop()


class DeciderHttp:
    """A decider as an HTTP server. A context manager; `url` is its address."""

    def __init__(self, decider: Decider, host: str, port: int) -> None:
        batches = _Batches(decider, _print_failure)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                try:
                    length = int(self.headers.get("Content-Length", ""))
                    if not 0 <= length <= LONGEST_QUESTION:
                        raise ValueError("body too long")
                    question = Question.of(json.loads(self.rfile.read(length)))
                except (ValueError, KeyError, TypeError):
                    self.close_connection = True
                    return self._send(400, {"error": "expected a question"})
                replies: queue.SimpleQueue[Any] = queue.SimpleQueue()
                batches.ask(question, lambda answer, error: replies.put((answer, error)))
                answer, error = replies.get()
                self._send(500 if error else 200, {"error": str(error)} if error else answer)

            def _send(self, status: int, value: Any) -> None:
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._batches = batches
        self._server = ThreadingHTTPServer((host, port), Handler)
        self._server.daemon_threads = True
        self.url = f"http://{host}:{self._server.server_address[1]}/"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Serves until an interrupt."""
        self._thread.join()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._batches.end()

    def __enter__(self) -> DeciderHttp:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
