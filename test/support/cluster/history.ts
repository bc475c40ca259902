/** Load on the nodes of a network, and what must be true of their logs when it is over. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { folkmoot, logText } from '../cli.js';
import { linesOf } from '../runs.js';
import { type Agent, type Request, signed, stamp } from '../service/signer.js';
import { insist, type NodeProcess, signatureOf, type Told } from './processes.js';

/** A request that is done each time, and can be told from all others. */
export function update(by: Agent): Request {
  const at = stamp();
  const path = `/api/v1/agents/${by.agentId}/status`;
  return signed(by, 'PUT', path, { status: 'active', reason: `at ${at}` }, at);
}

/** Every agent asks one thing after the other, of whichever node answers, until told to stop. */
export function load(nodes: readonly NodeProcess[], agents: readonly Agent[]) {
  const told: Told[] = [];
  let going = true;
  const run = async (by: Agent, index: number) => {
    for (let turn = 0; going; turn += 1) told.push(await insist(nodes, update(by), index + turn));
  };
  const done = Promise.all(agents.map(run));
  return {
    told,
    /** Resolves when so many more were told. */
    async more(count: number) {
      const enough = told.length + count;
      while (told.length < enough) await sleep(20);
    },
    async stop() {
      going = false;
      await done;
      return told;
    },
  };
}

/** What is wrong with a log: what was acknowledged and is not there, or anything twice. */
export function wrongIn(told: readonly Told[], log: string): string[] {
  const counts = new Map<string, number>();
  for (const line of linesOf(log)) {
    const { kind, signature, body } = JSON.parse(line);
    if (kind === 'tick' || kind === 'genesis') continue;
    const name = signature || JSON.parse(body).signature;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const twice = [...counts].filter(([, count]) => count > 1).map(([name]) => `${name} is twice`);
  const lost = told
    .filter(({ status, request }) => status < 300 && !counts.has(signatureOf(request)))
    .map(({ request }) => `${request.method} ${request.path} was acknowledged, and is lost`);
  return [...twice, ...lost];
}

/** Ends all in good order; their logs are the same, hold what was acknowledged, and replay. */
export async function expectKept(nodes: readonly NodeProcess[], told: readonly Told[]) {
  for (const node of nodes) await node.signal('SIGTERM');
  const logs: string[] = [];
  for (const { folder } of nodes) logs.push(await logText(folder));
  for (const log of logs) expect(log).toBe(logs[0]);
  expect(told.filter(({ status }) => status < 300).length).toBeGreaterThan(0);
  expect(wrongIn(told, logs[0]!)).toEqual([]);
  for (const { folder } of nodes) {
    const replayed = await folkmoot(['replay', folder, '--signatures', '--json']);
    expect([replayed.code, JSON.parse(replayed.stdout)]).toMatchObject([0, { match: true }]);
  }
}
