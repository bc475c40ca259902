"""Deciders: in this process, over stdio and over HTTP; those that raise, hang and print."""
from __future__ import annotations

import http.client
import json
import sys
import textwrap
import threading
import time
import unittest
from typing import Any

from support import ROOT, Case, folkmoot, town

from folkmoot import decide


@folkmoot.decider
def strict(question: folkmoot.Question) -> str:
    return "approve" if question.block["soundness"] == 100 else "reject"


QUESTION = {"protocol": 1, "id": "3/vote/0", "agent": 3, "kind": "vote", "number": 0,
            "view": {"me": {"name": "lawful-3"}, "block": {"soundness": 100}}}


class InThisProcess(Case):
    def test_functions_decide_and_their_answers_are_replayed(self) -> None:
        asked: list[str] = []

        @folkmoot.decider(asks=["vote", "produce"], parameters={"level": 7})
        def careful(question: folkmoot.Question) -> Any:
            asked.append(question.kind)
            self.assertEqual(question.view["parameters"], {"level": 7})
            if question.kind == "produce":
                return None
            seen = question.view["memory"].get("seen", 0)
            return {"commands": [folkmoot.vote(seen % 2 == 0, f"vote {seen}")],
                    "memory": {"seen": seen + 1}}

        out = self.folder / "run"
        run = folkmoot.run(town(), seed=1, deciders={"minds": careful}, out=out)
        self.assertEqual(run.measures["decider_questions"], len(asked))
        self.assertEqual(run.measures["decider_failures"], 0)
        reasons = {row["reason"] for row in run.events("block_validation") if row.get("reason")}
        self.assertLessEqual({"vote 0", "vote 1"}, reasons)
        # The cassette answers, although the socket of this run is another.
        count = len(asked)
        again = folkmoot.run(town(), seed=1, deciders={"minds": careful}, cassette=out)
        self.assertEqual((again.digest, len(asked)), (run.digest, count))
        alone = folkmoot.run(out / "scenario.json", cassette=out)
        self.assertEqual(alone.digest, run.digest)

    def test_a_fork_asks_functions_again_and_of_other_groups(self) -> None:
        asked: list[str] = []

        @folkmoot.decider
        def never(question: folkmoot.Question) -> str:
            asked.append(question.id)
            return "reject"

        run = folkmoot.run(town(), seed=1, deciders={"minds": strict})
        silence = {"kind": "silence", "whom": [{"group": "town", "count": 2}], "at_ms": 3000}
        with self.assertRaises(folkmoot.FolkmootError) as caught:
            run.fork(silence)
        self.assertEqual(caught.exception.code, "NO_DECIDER")
        fork = run.fork(silence, deciders={"minds": never})
        # The cassette of the run answers the other questions.
        self.assertGreater(len(asked), 0)
        self.assertLess(len(asked), fork.measures["decider_questions"])
        self.assertEqual(fork.measures["decider_failures"], 0)
        asked.clear()
        both = {"minds": strict, "town": never}
        changed = run.fork(deciders=both)
        self.assertGreater(len(asked), 0)
        self.assertLess(changed.measures["finalized_share"], run.measures["finalized_share"])
        # The fork is a run with functions in both groups.
        again = changed.fork(silence, deciders=both)
        self.assertEqual(again.measures["decider_failures"], 0)
        sweep = run.fork(silence, deciders={"minds": strict}, replicates=2)
        self.assertEqual([row["decider_failures"] for row in sweep.runs()], [0] * 4)

    def test_waiting_questions_make_a_batch(self) -> None:
        sizes: list[int] = []

        @folkmoot.decider(batch=4)
        def together(questions: list[folkmoot.Question]) -> list[bool]:
            sizes.append(len(questions))
            time.sleep(0.05)
            return [question.block["soundness"] > 50 for question in questions]

        links = {"latency": {"distribution": "constant", "mean_ms": 50, "spread_ms": 0}}
        agents = [{"group": "town", "producers": 2},
                  {"group": "minds", "count": 8, "traits": {"think_ms": 0}}]
        run = folkmoot.run(town(links=links, agents=agents), deciders={"minds": together})
        self.assertEqual(sum(sizes), run.measures["decider_questions"])
        self.assertGreater(max(sizes), 1)
        self.assertLessEqual(max(sizes), 4)

    def test_a_sweep_asks_from_several_processes(self) -> None:
        sweep = folkmoot.sweep(town(), {"consensus.policy": ["bft", "majority"]}, replicates=1,
                               jobs=2, deciders={"minds": strict})
        self.assertEqual([row["decider_failures"] for row in sweep.runs()], [0, 0])
        self.assertTrue(all(row["decider_questions"] > 0 for row in sweep.runs()))

    def test_an_exception_names_the_question_and_ends_the_run(self) -> None:
        @folkmoot.decider
        def broken(question: folkmoot.Question) -> str:
            return question.view["no such member"]

        with self.assertRaises(folkmoot.DeciderError) as caught:
            folkmoot.run(town(), deciders={"minds": broken})
        error = caught.exception
        self.assertRegex(str(error), r"^decider broken: question \d+/vote/0 \(agent \w+-\d+\): "
                                     "KeyError: 'no such member'$")
        self.assertIsInstance(error.__cause__, KeyError)
        self.assertEqual(error.question.kind, "vote")
        for answer in [5, {"commands": object()}, "x" * 300_000, [float("nan")]]:
            with self.assertRaisesRegex(folkmoot.DeciderError, "question 3/vote/0"):
                folkmoot.decider(lambda _: answer).answers([error.question.of(QUESTION)])
        with self.assertRaisesRegex(folkmoot.FolkmootError, "decorate it with @decider"):
            folkmoot.run(town(), deciders={"minds": print})

    def test_an_invalid_or_late_answer_is_a_failure_of_the_question(self) -> None:
        @folkmoot.decider(retries=0)
        def nonsense(question: folkmoot.Question) -> Any:
            return {"do": "nothing of the kind"}

        @folkmoot.decider(retries=0, timeout_ms=200)
        def asleep(question: folkmoot.Question) -> str:
            time.sleep(2)
            return "approve"

        for one, reason in [(nonsense, "wrong"), (asleep, "timeout")]:
            run = folkmoot.run(town(length={"blocks": 1}), deciders={"minds": one})
            failures = run.result["deciders"]["failures"]
            self.assertEqual(set(failures), {reason})

    def test_the_socket_admits_only_the_relay(self) -> None:
        import socket

        with decide.DeciderServer({"minds": strict}) as server:
            port, token = server.env["FOLKMOOT_DECIDERS"].split()
            question = json.dumps(QUESTION).encode() + b"\n"
            greetings = {b"x minds\n": False, f"{token} other\n".encode(): False,
                         b"\xff" * 2000: False, f"{token} minds\n".encode(): True}
            for greeting, admitted in greetings.items():
                with socket.create_connection(("127.0.0.1", int(port))) as connection:
                    connection.sendall(greeting + question)
                    connection.shutdown(socket.SHUT_WR)
                    try:
                        given = connection.makefile("rb").read()
                    except ConnectionResetError:
                        given = b""
                    self.assertEqual(b"approve" in given, admitted)
        self.assertEqual(decide.DeciderServer({}).env, {})


class OverStdio(Case):
    def scenario(self, body: str, **strategy: Any) -> dict[str, Any]:
        program = self.folder / "mind.py"
        head = f"import sys; sys.path[:0] = [{str(ROOT / 'python' / 'src')!r}]\nimport folkmoot\n"
        program.write_text(head + textwrap.dedent(body))
        command = [sys.executable, str(program)]
        agents = [{"group": "town", "producers": 2},
                  {"group": "minds", "count": 4,
                   "strategy": {"kind": "exec", "command": command, "retries": 0, **strategy}}]
        return town(agents=agents)

    def test_a_program_of_ten_lines_decides_and_may_print(self) -> None:
        scenario = self.scenario("""
            import os
            @folkmoot.decider(batch=3)
            def mind(questions):
                print("thinking about", questions)
                os.system("echo a child prints too")
                return [question.number % 2 == 0 for question in questions]
            mind.main()
        """, most_at_once=3)
        run = folkmoot.run(scenario, record=True)
        self.assertGreater(run.measures["decider_questions"], 0)
        self.assertEqual(run.measures["decider_failures"], 0)

    def test_an_exception_is_a_failure_that_names_the_question(self) -> None:
        scenario = self.scenario("""
            @folkmoot.decider
            def mind(question):
                raise RuntimeError("no idea")
            mind.main()
        """)
        run = folkmoot.run(scenario, record=True, out=self.folder / "run")
        self.assertEqual(set(run.result["deciders"]["failures"]), {"wrong"})


class OverHttp(Case):
    def test_a_server_answers_and_names_the_question_of_an_exception(self) -> None:
        @folkmoot.decider
        def mind(question: folkmoot.Question) -> str:
            if question.number > 0:
                raise RuntimeError("no idea")
            return "approve"

        with mind.serve() as server:
            agents = [{"group": "town", "producers": 2},
                      {"group": "minds", "count": 4,
                       "strategy": {"kind": "http", "url": server.url, "retries": 0}}]
            run = folkmoot.run(town(agents=agents), record=True)
            self.assertGreater(run.measures["decider_questions"], 4)
            self.assertEqual(set(run.result["deciders"]["failures"]), {"refused"})
            port = int(server.url.rsplit(":", 1)[1].rstrip("/"))
            results = []
            late = {**QUESTION, "number": 1}
            for body in [json.dumps(QUESTION), json.dumps(late), "{", "[]", ""]:
                connection = http.client.HTTPConnection("127.0.0.1", port)
                connection.request("POST", "/", body)
                response = connection.getresponse()
                results.append((response.status, response.read().decode()))
                connection.close()
        self.assertEqual([status for status, _ in results], [200, 500, 400, 400, 400])
        self.assertEqual(json.loads(results[0][1]),
                         {"commands": [{"do": "vote", "decision": "approve"}]})
        self.assertIn("question 3/vote/0 (agent lawful-3): RuntimeError: no idea", results[1][1])

    def test_concurrent_requests_make_batches(self) -> None:
        sizes: list[int] = []

        @folkmoot.decider(batch=8)
        def mind(questions: list[folkmoot.Question]) -> list[str]:
            sizes.append(len(questions))
            time.sleep(0.2)
            return ["approve"] * len(questions)

        with mind.serve() as server:
            port = int(server.url.rsplit(":", 1)[1].rstrip("/"))

            def ask() -> None:
                connection = http.client.HTTPConnection("127.0.0.1", port)
                connection.request("POST", "/", json.dumps(QUESTION))
                connection.getresponse().read()
                connection.close()

            threads = [threading.Thread(target=ask) for _ in range(8)]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
        self.assertEqual(sum(sizes), 8)
        self.assertLess(len(sizes), 8)


if __name__ == "__main__":
    unittest.main()
