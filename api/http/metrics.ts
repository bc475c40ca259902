/** /metrics: what an operator watches, in Prometheus' format. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import type { Route } from '../contract/routes.js';
import type { Connections } from '../socket/connections.js';
import type { FrontsFigures } from '../transport/transport.js';

interface Answered {
  labels: { route: string; method: string; status: string };
  count: number;
}

export class Metrics {
  readonly #registry = new Registry();
  /** By route, and by status. Counted here: the library's way costs a microsecond each. */
  readonly #requests = new Map<Route | null, Map<number, Answered>>();

  constructor(
    network: ServedNetwork,
    connections: Connections,
    fronts: (() => FrontsFigures) | null,
  ) {
    const registers = [this.#registry];
    // Event loop lag, memory, handles: of the process.
    collectDefaultMetrics({ register: this.#registry, prefix: 'folkmoot_' });
    const requests = this.#requests;
    new Counter({
      name: 'folkmoot_http_requests_total',
      help: 'Requests answered, by route, method and status',
      labelNames: ['route', 'method', 'status'],
      registers,
      collect() {
        this.reset();
        for (const byStatus of requests.values()) {
          for (const { labels, count } of byStatus.values()) this.inc({ ...labels }, count);
        }
      },
    });
    const gauge = this.#gauge;
    gauge('commit_backlog', 'Entries applied but not durable yet', () => network.backlog);
    gauge('ws_connections', 'Open WebSocket connections', () => connections.openCount);
    gauge('ws_watchers', 'Connections that watch', () => connections.watchers?.size ?? 0);
    gauge('ws_subscribers', 'Connections with a subscription', () => connections.feed.subscribers);
    this.#counts(network, connections);
    this.#sizes(network);
    if (fronts) this.#fronts(fronts);
    this.#blocks(connections);
  }

  get type(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** An answer of a route, or of none. */
  answered(route: Route | null, status: number): void {
    let byStatus = this.#requests.get(route);
    if (!byStatus) {
      byStatus = new Map();
      this.#requests.set(route, byStatus);
    }
    let answered = byStatus.get(status);
    if (!answered) {
      // The table's path and method, never the client's: label values stay few.
      const { path: name, method: known } = route ?? { path: 'unknown', method: 'other' };
      answered = { labels: { route: name, method: known, status: String(status) }, count: 0 };
      byStatus.set(status, answered);
    }
    answered.count += 1;
  }

  #gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name: `folkmoot_${name}`,
      help,
      registers: [this.#registry],
      collect() {
        this.set(value());
      },
    });

  #counter = (name: string, help: string, value: () => number) =>
    new Counter({
      name: `folkmoot_${name}_total`,
      help,
      registers: [this.#registry],
      collect() {
        this.reset();
        this.inc(value());
      },
    });

  /** Processes that have the connections: what they need is not in the figures of this one. */
  #fronts(figures: () => FrontsFigures): void {
    const of = (name: keyof FrontsFigures) => () => figures()[name];
    this.#gauge('fronts', 'Processes that have the connections', of('running'));
    this.#gauge('fronts_resident_memory_bytes', 'Their memory', of('residentBytes'));
    this.#counter('fronts_cpu_seconds', 'Their CPU time, to the second', of('cpuSeconds'));
    this.#counter('fronts_restarts', 'How often one was started again', of('restarts'));
  }

  /** What only grows, counted where it happens. */
  #counts(network: ServedNetwork, connections: Connections): void {
    const counter = this.#counter;
    const stats = () => network.stats;
    counter('verified', 'Signatures found valid', () => stats().verified);
    counter('rejected', 'Signatures found invalid', () => stats().rejected);
    counter('verify_batches', 'Batches that a verifier ran', () => stats().batches);
    counter('commits', 'Durable commits', () => stats().commits);
    counter('committed_entries', 'Entries made durable', () => stats().entries);
    counter('commit_seconds', 'Time spent in commits', () => stats().commitMs / 1000);
    counter('ws_dropped', 'Subscribers cut for being slow', () => connections.feed.dropped);
    const { watchers } = connections;
    counter('ws_frames', 'Frames made for watchers', () => watchers?.frames ?? 0);
    counter('ws_skipped', 'Times a watcher was skipped ahead', () => watchers?.skipped ?? 0);
    counter('ws_resumed', 'Subscriptions that resumed', () => connections.resumed);
  }

  #sizes(network: ServedNetwork): void {
    const sizes = (name: string, help: string, counts: () => readonly number[]) =>
      new Counter({
        name: `folkmoot_${name}`,
        help: `${help}, by size: from this power of two to below the next`,
        labelNames: ['from'],
        registers: [this.#registry],
        collect() {
          this.reset();
          for (const [slot, count] of counts().entries()) this.inc({ from: 2 ** slot }, count);
        },
      });
    sizes('verify_batch_sizes', 'Batches that a verifier ran', () => network.stats.batchSizes);
    sizes('commit_sizes', 'Durable commits', () => network.stats.commitSizes);
  }

  #blocks({ feed }: Connections): void {
    const blocks = new Counter({
      name: 'folkmoot_blocks_total',
      help: 'Blocks that left voting, by outcome',
      labelNames: ['status'],
      registers: [this.#registry],
    });
    feed.onBlock = (status) => blocks.inc({ status });
  }
}
