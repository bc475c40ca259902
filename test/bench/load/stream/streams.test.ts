/** Streams of figures: their forms, and sinks that are slow or dead. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { LoadProgress } from '../../../../dist/bench/load/run.js';
import { Streams, sinkPattern } from '../../../../dist/bench/load/streams.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { listen, loadResult } from '../fixture.js';

/** Starts a sink that answers after some milliseconds, or never. */
async function sink(delayMs: number | null = 0) {
  const bodies: { headers: IncomingMessage['headers']; body: Buffer }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push({ headers: request.headers, body: Buffer.concat(chunks) });
      if (delayMs !== null) setTimeout(() => response.writeHead(204).end(), delayMs);
    });
  });
  return { url: `${await listen(server)}/x`, bodies };
}

const seconds = loadResult({ seconds: 3 }).seconds;

async function streamed(names: readonly string[]) {
  const streams = new Streams(names, { workload: 'votes', seed: 'x' });
  const beginMs = performance.now();
  for (const second of seconds) streams.onSecond({ second } as LoadProgress);
  const ms = performance.now() - beginMs;
  return { ms, lost: await streams.end() };
}

test('stream: NDJSON has one line for each figure of a second', async () => {
  const path = join(temporaryFolder(), 'samples.ndjson');
  expect((await streamed([path])).lost).toEqual([]);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  const samples = lines.map((line) => JSON.parse(line) as { name: string; value: number });
  const values = samples.filter(({ name }) => name === 'folkmoot_load_accepted');
  expect(values.map(({ value }) => value)).toEqual(seconds.map(({ accepted }) => accepted));
  expect(lines).toHaveLength(27);
  expect(samples[0]).toMatchObject({ labels: { workload: 'votes', seed: 'x' } });
});

test('stream: OTLP metrics over HTTP', async () => {
  const { url, bodies } = await sink();
  expect((await streamed([`otlp+${url}`])).lost).toEqual([]);
  const metrics = bodies.flatMap(({ body }) => {
    const { resourceMetrics } = JSON.parse(body.toString());
    return resourceMetrics[0].scopeMetrics[0].metrics as {
      name: string;
      gauge: { dataPoints: { asDouble: number; timeUnixNano: string }[] };
    }[];
  });
  const sent = metrics.filter(({ name }) => name === 'folkmoot_load_sent');
  expect(sent.map(({ gauge }) => gauge.dataPoints[0]!.asDouble)).toEqual([1_000, 1_000, 1_000]);
  expect(sent[0]!.gauge.dataPoints[0]!.timeUnixNano).toMatch(/^\d{19}$/);
});

/** Reads the fields of a message in Protocol Buffers. */
function fieldsOf(bytes: Buffer): [number, Buffer | number][] {
  const fields: [number, Buffer | number][] = [];
  let at = 0;
  const varint = () => {
    let [value, scale] = [0, 1];
    for (; ; scale *= 128) {
      const byte = bytes[at]!;
      at += 1;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = varint();
    if ((key & 7) === 0) fields.push([key >> 3, varint()]);
    else if ((key & 7) === 1) {
      fields.push([key >> 3, bytes.readDoubleLE(at)]);
      at += 8;
    } else {
      const length = varint();
      fields.push([key >> 3, bytes.subarray(at, at + length)]);
      at += length;
    }
  }
  return fields;
}

/** Decodes Snappy blocks that consist of literals with a length of two bytes. */
function unsnappy(bytes: Buffer): Buffer {
  let at = bytes.findIndex((byte) => byte < 128) + 1;
  const parts: Buffer[] = [];
  while (at < bytes.length) {
    expect(bytes[at]).toBe(61 << 2);
    const length = bytes.readUInt16LE(at + 1) + 1;
    parts.push(bytes.subarray(at + 3, at + 3 + length));
    at += 3 + length;
  }
  return Buffer.concat(parts);
}

test('stream: Prometheus remote write, with sorted labels', async () => {
  const { url, bodies } = await sink();
  expect((await streamed([`remote-write+${url}`])).lost).toEqual([]);
  expect(bodies[0]!.headers).toMatchObject({
    ...{ 'content-encoding': 'snappy', 'content-type': 'application/x-protobuf' },
  });
  const series = bodies.flatMap(({ body }) =>
    fieldsOf(unsnappy(body)).map(([, one]) => {
      const fields = fieldsOf(one as Buffer);
      const labels = fields.flatMap(([number, label]) =>
        number === 1 ? [fieldsOf(label as Buffer).map(([, text]) => String(text))] : [],
      );
      const [, sample] = fields.find(([number]) => number === 2)!;
      return { labels, sample: fieldsOf(sample as Buffer).map(([, value]) => value as number) };
    }),
  );
  const accepted = series.filter(({ labels }) => labels[0]![1] === 'folkmoot_load_accepted');
  expect(accepted.map(({ sample }) => sample[0])).toEqual(seconds.map((one) => one.accepted));
  expect(accepted[0]!.labels.map(([name]) => name)).toEqual(['__name__', 'seed', 'workload']);
  expect(Math.abs(accepted[0]!.sample[1]! - Date.now())).toBeLessThan(60_000);
});

test('stream: a slow or dead sink loses samples, and takes no time of the load', async () => {
  const silent = await sink(null);
  const names = [`otlp+${silent.url}`, 'otlp+http://127.0.0.1:1/x', '/nowhere/samples.ndjson'];
  const { ms, lost } = await streamed(names);
  expect(ms).toBeLessThan(200);
  expect(lost.map(({ name }) => name)).toEqual(names);
  for (const one of lost) expect(one.lost).toBeGreaterThan(0);
});

test.each([
  ['samples.ndjson', true],
  ['otlp+http://127.0.0.1:4318/v1/metrics', true],
  ['remote-write+https://host/api/v1/write', true],
  ['http://127.0.0.1:9090', false],
  ['kafka+http://host', false],
])('stream: the sink %s is of a known form: %s', (text, expected) => {
  expect(sinkPattern.test(text)).toBe(expected);
});
