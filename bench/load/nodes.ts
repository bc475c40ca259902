/**
 * The servers under load and their outages. Agents are spread over them round robin. With
 * --keep-going, a server is down if it refuses connections, or answers nothing for a whole timeout.
 * Its agents move to the next one until a probe succeeds. A run has an outage while all are down.
 */
import { sha256Hex } from '../../engine/protocol/signing.js';
import type { LoadResult } from './result.js';
import { ServerClient } from './server.js';

/** Delays between retries. The longest one is the largest error of the end of an outage. */
const RETRY_MS = { first: 50, most: 200 };
const PROBE_MS = 1_000;
/** Time without a connection after which the server counts as gone. A restart takes less time. */
const GONE_MS = 2_000;

interface Span {
  /** First failure after the last response. */
  startMs: number;
  /** First successful response afterwards; null until then. */
  endMs: number | null;
}

export interface Outage extends Span {
  failed: Map<string, number>;
}

interface Node {
  url: string;
  counts: { sent: number; accepted: number; failed: number };
  answeredMs: number;
  /** First failure after the last response. */
  failingSinceMs: number | null;
  /** Start of the refused connections; null if the last attempt was not refused. */
  awaySinceMs: number | null;
  downs: Span[];
}

interface NodesOptions {
  urls: readonly string[];
  seed: string;
  keepGoing: boolean;
  now(): number;
  /** Called when a server responds again. */
  onReturned(): void;
  /** Called when a server has been unreachable for `forMs`, unless the run keeps going. */
  onGone(forMs: number): void;
}

export class Nodes {
  readonly outages: Outage[] = [];
  readonly keepGoing: boolean;
  readonly #options: NodesOptions;
  readonly #nodes: readonly Node[];
  #turn = 0;
  #retries = 0;
  #closed = false;
  /** First failure after the last response of any server, and the failed requests since then. */
  #failingSinceMs: number | null = null;
  #suspects = new Map<string, number>();
  /** Ends the pauses that are under way. */
  readonly #pauses = new Set<() => void>();

  constructor(options: NodesOptions) {
    this.#options = options;
    this.keepGoing = options.keepGoing;
    this.#nodes = options.urls.map((url) => ({
      ...{ url, counts: { sent: 0, accepted: 0, failed: 0 }, downs: [] },
      ...{ answeredMs: options.now(), failingSinceMs: null, awaySinceMs: null },
    }));
  }

  get urls(): readonly string[] {
    return this.#options.urls;
  }

  /** True while no server is reachable. */
  get isDown(): boolean {
    return this.outages.at(-1)?.endMs === null;
  }

  get returnedMs(): number {
    return this.outages.at(-1)?.endMs ?? Number.NEGATIVE_INFINITY;
  }

  /** Returns the server of an agent, or the next one that is up. Other requests take turns. */
  choose(agent?: number): number {
    const home = agent ?? this.#turn++;
    const order = this.#nodes.map((_, offset) => (home + offset) % this.#nodes.length);
    return order.find((index) => !isDown(this.#nodes[index]!)) ?? order[0]!;
  }

  answered(index: number): void {
    this.#markUp(this.#nodes[index]!);
  }

  /** Records a connection that was refused, or lost before the response. */
  failed(index: number, isRefused: boolean): void {
    const node = this.#nodes[index]!;
    const nowMs = this.#options.now();
    this.#suspect(node, nowMs);
    node.awaySinceMs = isRefused ? (node.awaySinceMs ?? nowMs) : null;
    if (!isRefused) return;
    if (this.keepGoing) this.#markDown(node);
    else if (nowMs - node.awaySinceMs! > GONE_MS) this.#options.onGone(nowMs - node.awaySinceMs!);
  }

  /** Records a request without a response. A server that answered nothing meanwhile is down. */
  timedOut(index: number, sentMs: number): void {
    const node = this.#nodes[index]!;
    if (!this.keepGoing || node.answeredMs >= sentMs) return;
    this.#suspect(node, sentMs);
    this.#markDown(node);
  }

  /** Counts a measured request. @param index server of the request; null if it was not sent */
  count(index: number | null, operation: string, kind: string): void {
    if (index !== null) {
      const { counts } = this.#nodes[index]!;
      counts.sent += 1;
      if (kind === 'accepted') counts.accepted += 1;
      else if (kind !== 'unfinished') counts.failed += 1;
    }
    if (kind !== 'broken' && kind !== 'timed_out') return;
    const failed = this.isDown ? this.outages.at(-1)!.failed : this.#suspects;
    failed.set(operation, (failed.get(operation) ?? 0) + 1);
  }

  hadOutage(fromMs: number, toMs: number): boolean {
    return overlapMs(this.outages, fromMs, toMs) > 0;
  }

  /** Resolves after the delay of this attempt, with jitter, or when a server responds again. */
  async pause(attempt: number): Promise<void> {
    const delayMs = Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** Math.min(attempt, 16));
    const draw = sha256Hex(`folkmoot-load-retry\n${this.#options.seed}\n${this.#retries++}`);
    const jitter = Number.parseInt(draw.slice(0, 8), 16) / 2 ** 32;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => end(), delayMs * (0.5 + jitter / 2));
      const end = () => {
        clearTimeout(timer);
        this.#pauses.delete(end);
        resolve();
      };
      this.#pauses.add(end);
    });
  }

  result(fromMs: number, toMs: number): NonNullable<LoadResult['nodes']> {
    return this.#nodes.map(({ url, counts, downs }) => {
      return { url, ...counts, down_ms: Math.round(overlapMs(downs, fromMs, toMs)) };
    });
  }

  close(): void {
    this.#closed = true;
    for (const end of this.#pauses) end();
  }

  #suspect(node: Node, sinceMs: number): void {
    this.#failingSinceMs ??= sinceMs;
    node.failingSinceMs ??= sinceMs;
  }

  #markUp(node: Node): void {
    const nowMs = this.#options.now();
    Object.assign(node, { answeredMs: nowMs, failingSinceMs: null, awaySinceMs: null });
    this.#failingSinceMs = null;
    this.#suspects.clear();
    if (!isDown(node)) return;
    node.downs.at(-1)!.endMs = nowMs;
    if (this.isDown) this.outages.at(-1)!.endMs = nowMs;
    for (const end of this.#pauses) end();
    this.#options.onReturned();
  }

  #markDown(node: Node): void {
    if (isDown(node)) return;
    node.downs.push({ startMs: node.failingSinceMs!, endMs: null });
    void this.#probe(node);
    if (!this.#nodes.every(isDown)) return;
    this.outages.push({ startMs: this.#failingSinceMs!, endMs: null, failed: this.#suspects });
    this.#suspects = new Map();
  }

  async #probe(node: Node): Promise<void> {
    const client = new ServerClient(node.url, 1);
    const request = { method: 'GET', target: '/api/v1/network/state' } as const;
    for (let attempt = 0; isDown(node) && !this.#closed; attempt += 1) {
      await this.pause(attempt);
      if (this.#closed) break;
      const answer = await client.ask(request, AbortSignal.timeout(PROBE_MS)).catch(() => null);
      if (answer?.data !== undefined) this.#markUp(node);
    }
    await client.close();
  }
}

const isDown = ({ downs }: Node): boolean => downs.at(-1)?.endMs === null;

/** Returns how long these spans last within a time, in milliseconds. */
function overlapMs(spans: readonly Span[], fromMs: number, toMs: number): number {
  return spans.reduce((sum, { startMs, endMs }) => {
    return sum + Math.max(0, Math.min(endMs ?? toMs, toMs) - Math.max(startMs, fromMs));
  }, 0);
}
