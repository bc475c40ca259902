/** Nodes as processes of `folkmoot serve --cluster`, over a real etcd, and agents that ask them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { freePort } from '../fixture.js';
import { main } from '../paths.js';
import type { Request } from '../service/signer.js';

export interface NodeProcess {
  name: string;
  url: string;
  folder: string;
  signal(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again, over what it has; resolves when it listens. */
  restart(): Promise<void>;
  /** What it wrote to standard error so far. */
  stderr(): string;
  /** Resolves with its exit code; null for a signal. */
  ended(): Promise<number | null>;
}

export interface NodeSetup {
  cluster: string;
  name: string;
  folder: string;
  args?: readonly string[];
}

/** Starts a node and waits until it listens; ended when the test ends. */
export async function nodeProcess(setup: NodeSetup): Promise<NodeProcess> {
  const { cluster, name, folder, args = [] } = setup;
  const port = await freePort();
  const given = [
    ...['serve', '--cluster', cluster, '--node', name, '--network-id', 'town', '--data', folder],
    ...['--port', String(port), '--limits', 'off', ...args],
  ];
  let child: ChildProcess;
  let ended: Promise<number | null>;
  let stderr = '';
  const start = async () => {
    const own = spawn(process.execPath, [main, ...given], { stdio: ['ignore', 'pipe', 'pipe'] });
    child = own;
    ended = new Promise((resolve) => own.once('exit', resolve));
    own.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const listens = new Promise<void>((resolve) => own.stdout.once('data', () => resolve()));
    await Promise.race([
      listens,
      ended.then((code) => Promise.reject(new Error(`${name} ended with ${code}: ${stderr}`))),
    ]);
  };
  await start();
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    folder,
    async signal(signal) {
      child.kill(signal);
      if (signal === 'SIGKILL' || signal === 'SIGTERM') await ended;
    },
    restart: start,
    stderr: () => stderr,
    ended: () => ended,
  };
}

/** What an agent was told in the end, of one request. */
export interface Told {
  request: Request;
  status: number;
  /** How often it was sent. */
  sent: number;
}

/**
 * Sends the same bytes to one node after the other until one says what became of it: so does a
 * client that moves on by itself.
 */
export async function insist(nodes: readonly NodeProcess[], request: Request, first: number) {
  for (let sent = 1; ; sent += 1) {
    const { url } = nodes[(first + sent - 1) % nodes.length]!;
    const status = await statusOf(url, request);
    if (status !== null && status !== 503) return { request, status, sent };
    await sleep(100);
  }
}

/** Null where nobody answers in time. */
async function statusOf(url: string, { method, path, headers, body }: Request) {
  try {
    const signal = AbortSignal.timeout(8_000);
    const carried = body.length === 0 ? {} : { body: Buffer.from(body as Uint8Array) };
    const answer = await fetch(`${url}${path}`, { method, headers, signal, ...carried });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return null;
  }
}

interface Position {
  seq: number;
  event_seq: number;
  digest: string;
  log_digest: string;
  epoch: string;
}

/** Where a node is; null where it does not answer. */
export async function positionOf({ url }: NodeProcess): Promise<Position | null> {
  try {
    const answer = await fetch(`${url}/api/v1/meta`, { signal: AbortSignal.timeout(5_000) });
    const { data } = (await answer.json()) as { data: Position };
    const { seq, event_seq, digest, log_digest, epoch } = data;
    return { seq, event_seq, digest, log_digest, epoch };
  } catch {
    return null;
  }
}

/** Waits until all are at the same place. */
export async function expectTogether(nodes: readonly NodeProcess[]): Promise<Position> {
  let positions: (Position | null)[] = [];
  const together = async () => {
    positions = await Promise.all(nodes.map(positionOf));
    const [first] = positions;
    return first !== null && positions.every((one) => one?.seq === first?.seq);
  };
  await expect.poll(together, { timeout: 120_000, interval: 200 }).toBe(true);
  for (const position of positions) expect(position).toEqual(positions[0]);
  return positions[0]!;
}

/** The text that names a request in a log: what its signature is. */
export const signatureOf = ({ headers, body }: Request): string =>
  headers['X-Agent-Signature'] ?? (JSON.parse(String(body)) as { signature: string }).signature;
