/** Nodes as `folkmoot serve --cluster` processes that use a real etcd, with agents. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../fixture.js';
import { main } from '../paths.js';
import type { Request } from '../service/signer.js';

export interface NodeProcess {
  name: string;
  url: string;
  folder: string;
  /** Id of the current process. */
  pid(): number;
  signal(signal: NodeJS.Signals): Promise<void>;
  /** Restarts the node with its data, and resolves when the node is listening. */
  restart(): Promise<void>;
  /** Standard error so far. */
  stderr(): string;
  /** Resolves with the exit code, or null for a signal. */
  ended(): Promise<number | null>;
}

export interface NodeSetup {
  cluster: string;
  name: string;
  folder: string;
  args?: readonly string[];
  /** Additional environment variables. */
  env?: Readonly<Record<string, string>>;
  /** True to return before the node listens. */
  early?: boolean;
}

/** Starts a node and waits until it listens. The node ends with the test. */
export async function nodeProcess(setup: NodeSetup): Promise<NodeProcess> {
  const { cluster, name, folder, args: more = [], env = {}, early = false } = setup;
  const port = await freePort();
  const args = [
    ...[main, 'serve', '--cluster', cluster, '--node', name, '--network-id', 'town'],
    ...['--data', folder, '--host', '127.0.0.1', '--port', String(port), '--limits', 'off'],
    ...more,
  ];
  let child: ChildProcess;
  let ended: Promise<number | null>;
  let stderr = '';
  const start = async () => {
    const own = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    child = own;
    ended = new Promise((resolve) => own.once('exit', resolve));
    own.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    if (early) return void own.stdout.resume();
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
    pid: () => child.pid!,
    async signal(signal) {
      child.kill(signal);
      if (signal === 'SIGKILL' || signal === 'SIGTERM') await ended;
    },
    restart: start,
    stderr: () => stderr,
    ended: () => ended,
  };
}

/** Final outcome of a request. */
export interface Told {
  request: Request;
  /** HTTP status; null without a response. */
  status: number | null;
  /** Refusal reason, or empty. */
  reason: string;
  /** Number of attempts. */
  sent: number;
}

/**
 * Sends the same bytes to one node after another until a node returns the outcome, as a client
 * does.
 */
export async function insist(
  nodes: readonly NodeProcess[],
  request: Request,
  first: number,
): Promise<Told & { status: number }> {
  for (let sent = 1; ; sent += 1) {
    const { status, ...told } = await askOnce(nodes, request, first + sent - 1);
    if (status !== null && status !== 503) return { ...told, status, sent };
    await sleep(100);
  }
}

/** Response timeout for a node that may be partitioned or stopped. */
const PATIENCE_MS = 8_000;

/** Sends a request once to one node. */
export async function askOnce(
  nodes: readonly NodeProcess[],
  request: Request,
  at: number,
  patienceMs = PATIENCE_MS,
): Promise<Told> {
  const { method, path, headers, body } = request;
  const carried = body.length === 0 ? {} : { body: Buffer.from(body as Uint8Array) };
  const init = { method, headers, ...carried };
  const answer = await answerOf(nodes[at % nodes.length]!, path, init, patienceMs);
  const reason = answer?.error?.details.reason ?? '';
  return { request, status: answer?.status ?? null, reason, sent: 1 };
}

/** Reads from the first responding node. */
export async function readFrom(nodes: readonly NodeProcess[], first: number, path: string) {
  for (let at = first; ; at += 1) {
    const answer = await answerOf(nodes[at % nodes.length]!, path);
    // Partitioned nodes continue to serve their last state.
    if (answer) expect(answer).toMatchObject({ status: 200 });
    if (answer) return answer.data;
    await sleep(100);
  }
}

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: callers check the members that they read
  data?: any;
  error?: { details: { reason?: string } };
}

/** Returns null at the timeout. */
async function answerOf(
  { url }: NodeProcess,
  path: string,
  init: RequestInit = {},
  patienceMs = PATIENCE_MS,
): Promise<Answer | null> {
  try {
    const signal = AbortSignal.timeout(patienceMs);
    const answer = await fetch(`${url}${path}`, { ...init, signal });
    return { status: answer.status, ...((await answer.json()) as object) };
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

/** Returns a node's position, or null if there is no response. */
export async function positionOf(node: NodeProcess): Promise<Position | null> {
  const answer = await answerOf(node, '/api/v1/meta');
  if (!answer) return null;
  const { seq, event_seq, digest, log_digest, epoch } = answer.data as Position;
  return { seq, event_seq, digest, log_digest, epoch };
}

/** Waits until all nodes are at the same position. */
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

/** Returns a request's signature, which identifies the request in a log. */
export function signatureOf({ headers, body }: Request): string {
  const inHead = headers['X-Agent-Signature'];
  if (inHead !== undefined) return inHead;
  if (typeof body === 'string') return (JSON.parse(body) as { signature: string }).signature;
  return /name="signature"\r\n\r\n([0-9a-f]+)/.exec(Buffer.from(body).toString('latin1'))![1]!;
}
