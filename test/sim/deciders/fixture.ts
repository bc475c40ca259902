/** Small worlds with an HTTP decider in the test process. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { completeScenario, type Scenario, type SimOptions, simulate } from 'folkmoot/sim';
import { nearby, quiet, type Raw } from '../fixture.js';

export interface Posted {
  id: string;
  agent: number;
  kind: string;
  number: number;
  view: Raw & { block: { soundness: number; producer: number }; memory: Raw; now_ms: number };
}

/** Returns the JSON answer to a question, or responds directly. */
export type Rule = (question: Posted, response: ServerResponse, headers: Raw) => unknown;

export interface DeciderServer {
  url: string;
  asked: Posted[];
  rule: Rule;
  /** Largest number of questions in flight. */
  most: number;
  close(): Promise<void>;
}

export const bySoundness: Rule = ({ view }) => ({
  do: 'vote',
  decision: view.block.soundness >= 80 ? 'approve' : 'reject',
});

/** Starts a decider; closes it at the end of the test. */
export async function deciderServer(rule: Rule = bySoundness): Promise<DeciderServer> {
  let underWay = 0;
  const server = createServer((request, response) => {
    underWay += 1;
    decider.most = Math.max(decider.most, underWay);
    response.once('close', () => {
      underWay -= 1;
    });
    answer(request, response).catch(() => response.destroy());
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const question = JSON.parse(await textOf(request)) as Posted;
    decider.asked.push(question);
    const given = await decider.rule(question, response, request.headers);
    if (response.writableEnded || response.destroyed || given === own) return;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(given));
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/decide`;
  const decider: DeciderServer = { url, asked: [], rule, most: 0, close };
  onTestFinished(close);
  return decider;
}

/** Returned by a rule that responds directly, or never. */
export const own = Symbol('own');

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

const honest = { group: 'honest', count: 4, producers: 2, strategy: { kind: 'honest' } };

/** Honest producers, and minds with a decider. */
export function town(strategy: Raw, sections: Raw = {}, folder?: string): Scenario {
  return completeScenario(
    {
      title: 'a town of minds',
      signatures: 'none',
      agents: [
        honest,
        { group: 'minds', count: 4, producers: 1, strategy: { kind: 'http', ...strategy } },
      ],
      social: quiet,
      links: nearby,
      consensus: { policy: 'majority', participation: 0, dormant_after: 0 },
      length: { blocks: 3 },
      ...sections,
    },
    folder,
  );
}

export const atOnce = { backoff_ms: 0 };

export const runIn = (scenario: Scenario, out: string | undefined, options: SimOptions = {}) =>
  simulate(scenario, { ...(out === undefined ? { store: 'memory' } : { out }), ...options });

export async function failing(work: Promise<unknown>): Promise<Error & { code?: string }> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Error);
  return error as Error;
}
