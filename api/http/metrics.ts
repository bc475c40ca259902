/** /metrics, in the Prometheus text format. docs/monitoring.md lists the metrics. */
import { statfsSync } from 'node:fs';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { Durations, durationBoundsMs } from '../../engine/protocol/limits.js';
import type { EventData } from '../../engine/protocol/schema/event.js';
import type { Route } from '../contract/routes.js';
import type { Limits } from '../limits/limits.js';
import type { Connections } from '../socket/connections.js';
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  Registry,
} from './bundled/prom-client.js';

interface Answered {
  labels: { route: string; method: string };
  byStatus: Map<number, number>;
  /** From the complete request to its response. */
  times: Durations;
}

/** Buckets of the time from a block's proposal to its close, in seconds. */
const FINALITY_BUCKETS = [
  0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3_600, 14_400, 86_400,
];

export class Metrics {
  readonly #registry = new Registry();
  /** Responses by route. Counted here because prom-client takes a microsecond per increment. */
  readonly #requests = new Map<Route | null, Answered>();

  constructor(network: ServedNetwork, connections: Connections, limits: Limits) {
    const registers = [this.#registry];
    // Event loop lag, memory and handles of this process.
    collectDefaultMetrics({ register: this.#registry, prefix: 'folkmoot_' });
    // Sums of other metrics, and gauges whose names promtool reserves for counters.
    for (const what of ['handles', 'requests', 'resources']) {
      this.#registry.removeSingleMetric(`folkmoot_nodejs_active_${what}_total`);
    }
    const requests = this.#requests;
    new Counter({
      name: 'folkmoot_http_requests_total',
      help: 'Requests answered, by route, method and status',
      labelNames: ['route', 'method', 'status'],
      registers,
      collect() {
        this.reset();
        for (const { labels, byStatus } of requests.values()) {
          for (const [status, count] of byStatus) this.inc({ ...labels, status }, count);
        }
      },
    });
    const gauge = this.#gauge;
    gauge('commit_backlog', 'Entries applied but not durable yet', () => network.backlog);
    gauge('log_entries', 'Durable entries of the log', () => network.read.position.seq);
    gauge('cut_off_seconds', 'Time without contact with the cluster', () =>
      network.cutOffMs ? network.cutOffMs() / 1_000 : 0,
    );
    const { folder } = network;
    if (folder !== null) {
      gauge('disk_free_bytes', 'Free space for the data folder', () => freeBytes(folder));
    }
    gauge('limit_subjects', 'Addresses and agents with usage of limits', () => limits.subjects);
    const threads = () => network.stats.threads;
    gauge('verify_threads', 'Threads of the verifier', () => threads().running);
    gauge('verify_threads_limit', 'Most threads of the verifier', () => threads().limit);
    gauge('verify_threads_busy', 'Threads that have signatures', () => threads().busy);
    gauge('ws_connections', 'Open WebSocket connections', () => connections.openCount);
    gauge('ws_watchers', 'Watching connections', () => connections.watchers?.size ?? 0);
    gauge('ws_subscribers', 'Connections with a subscription', () => connections.feed.subscribers);
    this.#counts(network, connections);
    this.#times(network);
    this.#sizes(network);
    this.#blocks(network, connections);
  }

  get type(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Counts a response. `route` is null without one, `ms` if the request was never complete. */
  answered(route: Route | null, status: number, ms: number | null): void {
    let answered = this.#requests.get(route);
    if (!answered) {
      // Path and method come from the table, never from the client, so label values stay few.
      const { path: name, method: known } = route ?? { path: 'unknown', method: 'other' };
      const labels = { route: name, method: known };
      answered = { labels, byStatus: new Map(), times: new Durations() };
      this.#requests.set(route, answered);
    }
    answered.byStatus.set(status, (answered.byStatus.get(status) ?? 0) + 1);
    if (ms !== null) answered.times.add(ms);
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

  #counts(network: ServedNetwork, connections: Connections): void {
    const counter = this.#counter;
    const stats = () => network.stats;
    counter('verified', 'Signatures found valid', () => stats().verified);
    counter('rejected', 'Signatures found invalid', () => stats().rejected);
    counter('verify_batches', 'Batches processed by a verifier', () => stats().batches);
    counter('commits', 'Durable commits', () => stats().commits);
    counter('committed_entries', 'Entries made durable', () => stats().entries);
    counter('commit_seconds', 'Time spent in commits', () => stats().commitMs / 1000);
    counter(
      'ws_dropped',
      'Subscribers disconnected because they were slow',
      () => connections.feed.dropped,
    );
    const { watchers } = connections;
    counter('ws_frames', 'Frames built for watchers', () => watchers?.frames ?? 0);
    counter(
      'ws_skipped',
      'Number of times that a watcher skipped entries',
      () => watchers?.skipped ?? 0,
    );
    counter('ws_resumed', 'Subscriptions that resumed', () => connections.resumed);
  }

  #times(network: ServedNetwork): void {
    const histogram = (name: string, help: string, series: () => Iterable<Series>) =>
      this.#registry.registerMetric(textHistogram(`folkmoot_${name}`, help, series));
    histogram('http_request_duration_seconds', 'Time from a complete request to its response', () =>
      this.#requests.values(),
    );
    histogram('verify_wait_seconds', 'Time of signatures in the queue of the verifier', () => [
      { labels: {}, times: network.stats.waits },
    ]);
    histogram('commit_duration_seconds', 'Duration of durable commits', () => [
      { labels: {}, times: network.stats.commitTimes },
    ]);
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
    sizes(
      'verify_batch_sizes_total',
      'Batches processed by a verifier',
      () => network.stats.batchSizes,
    );
    sizes('commit_sizes_total', 'Durable commits', () => network.stats.commitSizes);
  }

  #blocks({ read }: ServedNetwork, { feed }: Connections): void {
    const registers = [this.#registry];
    const labelNames = ['status'] as const;
    const blocks = new Counter({
      name: 'folkmoot_blocks_total',
      help: 'Closed blocks, by outcome',
      labelNames,
      registers,
    });
    const finality = new Histogram({
      name: 'folkmoot_finality_seconds',
      help: 'Time from the proposal of a block to its final status',
      buckets: FINALITY_BUCKETS,
      labelNames,
      registers,
    });
    feed.onBlock = ({ status, event, json }) => {
      blocks.inc({ status: status! });
      const { data } = (event ?? JSON.parse(json)) as { data: EventData['block_status'] };
      const block = read.record('blocks', data.block_hash)?.context;
      if (!block) return;
      finality.observe({ status: status! }, (block.closed_at - block.proposed_at) / 1_000);
    };
  }
}

/** Returns NaN, which Prometheus stores as "unknown", if the folder is gone. */
function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.NaN;
  }
}

interface Series {
  labels: Record<string, string>;
  times: Durations;
}

/**
 * Creates a histogram whose buckets are counted outside prom-client. The registry only reads a
 * metric's name and the result of `get`.
 */
function textHistogram(name: string, help: string, series: () => Iterable<Series>): Histogram {
  const get = async () => ({
    ...{ name, help, type: 'histogram' },
    values: [...series()].flatMap((one) => samplesOf(name, one)),
  });
  return { name, get } as unknown as Histogram;
}

function samplesOf(metricName: string, { labels, times }: Series) {
  let count = 0;
  const buckets = times.counts.map((here, bucket) => {
    count += here;
    const bound = durationBoundsMs[bucket];
    const le = bound === undefined ? '+Inf' : bound / 1_000;
    return { metricName: `${metricName}_bucket`, labels: { ...labels, le }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${metricName}_sum`, labels, value: times.sumMs / 1_000 },
    { metricName: `${metricName}_count`, labels, value: count },
  ];
}
