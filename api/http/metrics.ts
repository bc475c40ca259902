/** /metrics: what an operator watches, in Prometheus' format. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Network } from '../../engine/internal.js';
import { match, type Route } from '../contract/routes.js';
import type { Connections } from '../socket/connections.js';
import type { HttpRequest } from '../transport/transport.js';

interface Answered {
  labels: { route: string; method: string; status: string };
  count: number;
}

export class Metrics {
  readonly #registry = new Registry();
  /** By route, and by status. Counted here: the library's way costs a microsecond each. */
  readonly #requests = new Map<Route | null, Map<number, Answered>>();

  constructor(network: Network, connections: Connections) {
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
    const gauge = (name: string, help: string, value: () => number) =>
      new Gauge({
        name: `folkmoot_${name}`,
        help,
        registers,
        collect() {
          this.set(value());
        },
      });
    const stats = () => network.stats;
    gauge('verified_total', 'Signatures found valid', () => stats().verified);
    gauge('rejected_total', 'Signatures found invalid', () => stats().rejected);
    gauge('verify_batches_total', 'Batches that a verifier ran', () => stats().batches);
    gauge('commits_total', 'Durable commits', () => stats().commits);
    gauge('committed_entries_total', 'Entries made durable', () => stats().entries);
    gauge('commit_seconds_total', 'Time spent in commits', () => stats().commitMs / 1000);
    gauge('commit_backlog', 'Entries applied but not durable yet', () => network.backlog);
    gauge('ws_connections', 'Open WebSocket connections', () => connections.openCount);
    gauge('ws_subscribers', 'Connections with a subscription', () => connections.feed.subscribers);
    gauge('ws_dropped_total', 'Subscribers cut for being slow', () => connections.feed.dropped);
    gauge('ws_resumed_total', 'Subscriptions that resumed', () => connections.resumed);
    this.#sizes(network);
    this.#blocks(connections);
  }

  get type(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  answered({ method, path }: HttpRequest, status: number): void {
    const route = match(method, path)?.route ?? null;
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

  #sizes(network: Network): void {
    const sizes = (name: string, help: string, counts: () => readonly number[]) =>
      new Gauge({
        name: `folkmoot_${name}`,
        help: `${help}, by size: from this power of two to below the next`,
        labelNames: ['from'],
        registers: [this.#registry],
        collect() {
          for (const [slot, count] of counts().entries()) this.set({ from: 2 ** slot }, count);
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
