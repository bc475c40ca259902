/**
 * Streams of a run's figures, each second: NDJSON in a file, Prometheus remote write (version 1.0),
 * or OTLP metrics over HTTP. A sink has a limited queue and one request in flight, so a slow or
 * dead one loses samples and never delays the load.
 */

import { once } from 'node:events';
import { constants, createWriteStream, openSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { describeSystemError } from '../../engine/protocol/messages.js';
import { loadError } from './messages.js';
import type { Second } from './result.js';
import type { LoadProgress } from './run.js';

const counters = ['intended', 'sent', 'accepted', 'failed', 'finalized_transactions'] as const;
const times = ['response_p50', 'response_p95', 'response_p99', 'lag_max'] as const;

/** Figures of a second, with their names in all streams. */
const figures: readonly [name: string, member: keyof Second][] = [
  ...counters.map((one) => [`folkmoot_load_${one}`, one] as [string, keyof Second]),
  ...times.map((one) => [`folkmoot_load_${one}_ms`, one] as [string, keyof Second]),
];

interface Sample {
  name: string;
  value: number;
  timeMs: number;
  labels: Readonly<Record<string, string>>;
}

/** Samples that wait for a sink. Older ones are dropped beyond it. */
const MOST_WAITING = 10_000;
const MOST_AT_ONCE = 1_000;
const TIMEOUT_MS = 2_000;

interface Format {
  type: string;
  headers?: Record<string, string>;
  encode(samples: readonly Sample[]): Uint8Array;
}

const formats: Record<'remote-write' | 'otlp', Format> = {
  'remote-write': {
    type: 'application/x-protobuf',
    headers: { 'content-encoding': 'snappy', 'x-prometheus-remote-write-version': '0.1.0' },
    encode: (samples) => snappy(encodeWriteRequest(samples)),
  },
  otlp: { type: 'application/json', encode: (samples) => Buffer.from(encodeOtlp(samples)) },
};

/** A file, or a format and a URL, such as `otlp+http://127.0.0.1:4318/v1/metrics`. */
export const sinkPattern = /^(?:(remote-write|otlp)\+(https?:\/\/\S+)|(?!\w[\w+.-]*:\/\/)\S.*)$/;

interface Sink {
  push(samples: readonly Sample[]): void;
  /** Writes what waits, for two seconds at most. Returns the number of lost samples. */
  end(): Promise<number>;
}

function openSink(text: string): Sink {
  const [, format, url] = sinkPattern.exec(text) ?? [];
  return url === undefined
    ? new FileSink(text)
    : new HttpSink(url, formats[format as keyof typeof formats]);
}

/**
 * Opens a file, or a named pipe without blocking, because a pipe without a reader would hold a
 * thread. @throws {Failure} `STREAM_UNREAD`
 */
function openFile(path: string): Writable {
  if (!statSync(path, { throwIfNoEntry: false })?.isFIFO()) {
    return createWriteStream(path, { flags: 'a' });
  }
  try {
    const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    return new Socket({ fd, readable: false, writable: true });
  } catch (error) {
    throw loadError('STREAM_UNREAD', { path, reason: describeSystemError(error) });
  }
}

class FileSink implements Sink {
  readonly #stream: Writable;
  #waiting = 0;
  #lost = 0;

  constructor(path: string) {
    this.#stream = openFile(path);
    this.#stream.on('error', () => {});
  }

  push(samples: readonly Sample[]): void {
    if (this.#waiting + samples.length > MOST_WAITING || this.#stream.errored) {
      this.#lost += samples.length;
      return;
    }
    const lines = samples.map(({ timeMs, ...rest }) => {
      return `${JSON.stringify({ time: new Date(timeMs).toISOString(), ...rest })}\n`;
    });
    this.#waiting += samples.length;
    this.#stream.write(lines.join(''), (error) => {
      this.#waiting -= samples.length;
      if (error) this.#lost += samples.length;
    });
  }

  async end(): Promise<number> {
    if (!this.#stream.errored) {
      this.#stream.end();
      const over = AbortSignal.timeout(TIMEOUT_MS);
      await once(this.#stream, 'close', { signal: over }).catch(() => {});
      this.#stream.destroy();
    }
    return this.#lost + this.#waiting;
  }
}

class HttpSink implements Sink {
  readonly #url: string;
  readonly #format: Format;
  #queue: Sample[] = [];
  #lost = 0;
  #sending: Promise<void> | null = null;

  constructor(url: string, format: Format) {
    this.#url = url;
    this.#format = format;
  }

  push(samples: readonly Sample[]): void {
    this.#queue.push(...samples);
    const excess = this.#queue.length - MOST_WAITING;
    if (excess > 0) {
      this.#queue.splice(0, excess);
      this.#lost += excess;
    }
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null;
    });
  }

  async end(): Promise<number> {
    await this.#sending;
    if (this.#queue.length > 0) await this.#send();
    return this.#lost + this.#queue.length;
  }

  async #send(): Promise<void> {
    const samples = this.#queue.splice(0, MOST_AT_ONCE);
    const { type, headers = {}, encode } = this.#format;
    try {
      const { ok, body } = await fetch(this.#url, {
        ...{ method: 'POST', headers: { 'content-type': type, ...headers } },
        ...{ body: encode(samples), signal: AbortSignal.timeout(TIMEOUT_MS) },
      });
      await body?.cancel();
      if (!ok) this.#lost += samples.length;
    } catch {
      this.#lost += samples.length;
    }
  }
}

export class Streams {
  readonly #sinks: readonly (Sink & { name: string })[];
  readonly #labels: Readonly<Record<string, string>>;
  #last = -1;

  constructor(names: readonly string[], labels: Readonly<Record<string, string>>) {
    this.#sinks = names.map((name) => Object.assign(openSink(name), { name }));
    this.#labels = labels;
  }

  readonly onSecond = ({ second }: LoadProgress): void => {
    if (!second || second.second <= this.#last) return;
    this.#last = second.second;
    const timeMs = Date.now();
    const samples = figures.flatMap(([name, member]): Sample[] => {
      const value = second[member] ?? null;
      return value === null ? [] : [{ name, value, timeMs, labels: this.#labels }];
    });
    for (const sink of this.#sinks) sink.push(samples);
  };

  /** Returns the sinks that lost samples, with their number. */
  async end(): Promise<{ name: string; lost: number }[]> {
    const all = this.#sinks.map(async (sink) => ({ name: sink.name, lost: await sink.end() }));
    return (await Promise.all(all)).filter(({ lost }) => lost > 0);
  }
}

function encodeOtlp(samples: readonly Sample[]): string {
  const attribute = ([key, value]: [string, string]) => ({ key, value: { stringValue: value } });
  const metrics = samples.map(({ name, value, timeMs, labels }) => ({
    name,
    gauge: {
      dataPoints: [
        {
          timeUnixNano: `${BigInt(Math.round(timeMs)) * 1_000_000n}`,
          asDouble: value,
          attributes: Object.entries(labels).map(attribute),
        },
      ],
    },
  }));
  const resource = { attributes: [attribute(['service.name', 'folkmoot load'])] };
  const scopeMetrics = [{ scope: { name: 'folkmoot' }, metrics }];
  return JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics }] });
}

/*
 * Remote write: WriteRequest { 1: TimeSeries { 1: Label { 1: name, 2: value }, 2: Sample {
 * 1: value, 2: timestamp } } } in Protocol Buffers, as one block of Snappy without compression.
 */

function varint(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return [...bytes, left];
}

const field = (number: number, bytes: Uint8Array): Uint8Array =>
  Buffer.concat([Uint8Array.from([(number << 3) | 2, ...varint(bytes.length)]), bytes]);

function encodeWriteRequest(samples: readonly Sample[]): Uint8Array {
  const series = samples.map(({ name, value, timeMs, labels }) => {
    const sorted = Object.entries({ ...labels, __name__: name }).sort(([a], [b]) =>
      a < b ? -1 : 1,
    );
    const pairs = sorted.map((pair) =>
      field(1, Buffer.concat(pair.map((text, at) => field(at + 1, Buffer.from(text))))),
    );
    const number = Buffer.alloc(8);
    number.writeDoubleLE(value);
    const time = Uint8Array.from([(2 << 3) | 0, ...varint(Math.round(timeMs))]);
    const sample = Buffer.concat([Uint8Array.from([(1 << 3) | 1]), number, time]);
    return field(1, Buffer.concat([...pairs, field(2, sample)]));
  });
  return Buffer.concat(series);
}

/** Largest literal of Snappy whose length takes two bytes. */
const LITERAL_BYTES = 65_536;

function snappy(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [Uint8Array.from(varint(bytes.length))];
  for (let at = 0; at < bytes.length; at += LITERAL_BYTES) {
    const literal = bytes.subarray(at, at + LITERAL_BYTES);
    const length = literal.length - 1;
    parts.push(Uint8Array.from([61 << 2, length & 255, length >> 8]), literal);
  }
  return Buffer.concat(parts);
}
