/** /metrics, in the Prometheus text format. */
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
  /**
   * Responses by route and status. Counted here because prom-client takes a microsecond per
   * increment.
   */
  readonly #requests = new Map<Route | null, Map<number, Answered>>();

  constructor(
    network: ServedNetwork,
    connections: Connections,
    fronts: (() => FrontsFigures) | null,
  ) {
    const registers = [this.#registry];
    // Event loop lag, memory and handles of this process.
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
    gauge('ws_watchers', 'Watching connections', () => connections.watchers?.size ?? 0);
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

  /** Counts a response. `route` is null for a request without a route. */
  answered(route: Route | null, status: number): void {
    let byStatus = this.#requests.get(route);
    if (!byStatus) {
      byStatus = new Map();
      this.#requests.set(route, byStatus);
    }
    let answered = byStatus.get(status);
    if (!answered) {
      // Path and method come from the table, never from the client, so label values stay few.
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

  /** Adds metrics for the front processes, which the process metrics do not cover. */
  #fronts(figures: () => FrontsFigures): void {
    const of = (name: keyof FrontsFigures) => () => figures()[name];
    this.#gauge('fronts', 'Running front processes', of('running'));
    this.#gauge(
      'fronts_resident_memory_bytes',
      'Resident memory of the front processes',
      of('residentBytes'),
    );
    this.#counter(
      'fronts_cpu_seconds',
      'CPU time of the front processes, in whole seconds',
      of('cpuSeconds'),
    );
    this.#counter('fronts_restarts', 'Restarts of front processes', of('restarts'));
  }

  #counts(network: ServedNetwork, connections: Connections): void {
    const counter = this.#counter;
    const stats = () => network.stats;
    counter('verified', 'Signatures found valid', () => stats().verified);
    counter('rejected', 'Signatures found invalid', () => stats().rejected);
    counter('verify_batches', 'Batches that a verifier ran', () => stats().batches);
    counter('commits', 'Durable commits', () => stats().commits);
    counter('committed_entries', 'Entries made durable', () => stats().entries);
    counter('commit_seconds', 'Time spent in commits', () => stats().commitMs / 1000);
    counter(
      'ws_dropped',
      'Subscribers disconnected for being slow',
      () => connections.feed.dropped,
    );
    const { watchers } = connections;
    counter('ws_frames', 'Frames made for watchers', () => watchers?.frames ?? 0);
    counter('ws_skipped', 'Times that a watcher skipped entries', () => watchers?.skipped ?? 0);
    counter('ws_resumed', 'Subscriptions that resumed', () => connections.resumed);
  }

  #sizes(network: ServedNetwork): void {
    const sizes = (name: string, help: string, counts: () => readonly number[]) =>
      new Counter({
        name: `folkmoot_${name}`,
        help: `${help}, by size; the label is the lower bound, a power of two`,
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
      help: 'Closed blocks, by outcome',
      labelNames: ['status'],
      registers: [this.#registry],
    });
    feed.onBlock = (status) => blocks.inc({ status });
  }
}
