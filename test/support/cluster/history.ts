/** Checks the logs on all nodes against the responses that agents received. */
import { folkmoot } from '../cli.js';
import { logText } from '../command.js';
import { linesOf } from '../runs.js';
import { isDone } from './load.js';
import { expectTogether, type NodeProcess, signatureOf, type Told } from './processes.js';

/** Refusal reasons that guarantee that the request had no effect. */
const undone = new Set(['NO_QUORUM', 'DISK_FULL', 'QUEUE_FULL', 'CLOCK']);

/** Finds lost acknowledged requests, unexpected requests and duplicates in a log. */
function wrongIn(told: readonly Told[], log: string): string[] {
  const counts = new Map<string, number>();
  for (const line of linesOf(log)) {
    const { kind, signature, body } = JSON.parse(line);
    if (kind === 'tick' || kind === 'genesis') continue;
    const name = signature || JSON.parse(body).signature;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const twice = [...counts].filter(([, count]) => count > 1).map(([name]) => `${name} is twice`);
  const isThere = ({ request }: Told) => counts.has(signatureOf(request));
  const named = (all: readonly Told[], what: string) =>
    all.map(({ request: { method, path } }) => `${method} ${path} ${what}`);
  const lost = told.filter((one) => isDone(one) && !isThere(one));
  const sent = new Map<string, number>();
  for (const one of told) {
    const name = signatureOf(one.request);
    sent.set(name, (sent.get(name) ?? 0) + one.sent);
  }
  const once = (one: Told) => sent.get(signatureOf(one.request)) === 1;
  const denied = told.filter((one) => undone.has(one.reason) && once(one) && isThere(one));
  return [
    ...twice,
    ...named(lost, 'was acknowledged, and is lost'),
    ...named(denied, 'was said to be not done, and is there'),
  ];
}

/**
 * Waits until all nodes are in the same state, then stops them one by one. Expects equal logs
 * (except for later time entries) that contain all acknowledged requests, and a matching replay.
 */
export async function expectKept(nodes: readonly NodeProcess[], told: readonly Told[]) {
  await expectTogether(nodes);
  for (const node of nodes) await node.signal('SIGTERM');
  const logs: string[] = [];
  for (const { folder } of nodes) logs.push(await logText(folder));
  logs.sort((a, b) => a.length - b.length);
  for (const log of logs) {
    expect(log.slice(0, logs[0]!.length)).toBe(logs[0]);
    const more = linesOf(log.slice(logs[0]!.length)).map((line) => JSON.parse(line).kind);
    expect(more.filter((kind) => kind !== 'tick')).toEqual([]);
  }
  expect(told.filter(isDone).length).toBeGreaterThan(0);
  expect(wrongIn(told, logs[0]!)).toEqual([]);
  for (const { folder } of nodes) {
    const replayed = await folkmoot(['replay', folder, '--signatures', '--json']);
    expect([replayed.code, JSON.parse(replayed.stdout)]).toMatchObject([0, { match: true }]);
  }
}
