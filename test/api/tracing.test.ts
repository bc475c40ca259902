/** Traces: spans of a request and its steps, W3C trace context, sampling, a missing collector. */
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { temporaryFolder } from '../support/fixture.js';
import { oneTransport, world } from '../support/service/server.js';
import * as signer from '../support/service/signer.js';

/** Registers an SDK until the end of the test. */
function register(processor: SpanProcessor): void {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [processor] }));
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  onTestFinished(() => {
    trace.disable();
    propagation.disable();
    context.disable();
  });
}

function inMemory(): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  register(new SimpleSpanProcessor(exporter));
  return exporter;
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const parentOf = ({ parentSpanContext }: ReadableSpan) => parentSpanContext?.spanId;
const milliseconds = ([seconds, nanoseconds]: [number, number]) =>
  seconds * 1_000 + nanoseconds / 1e6;

test.each(oneTransport)('traces over %s: a vote has a span per step', async (transport) => {
  const exporter = inMemory();
  const there = await world({ transport, path: temporaryFolder(), server: { traces: true } });
  const [ada] = await there.joinAll('Ada', 'Bob', 'Cyd');
  const block_hash = await there.propose(ada!);
  exporter.reset();
  const vote = signer.vote(ada!, { block_hash });
  const headers = { ...vote.headers, traceparent: `00-${TRACE}-${PARENT}-01` };
  const answer = await there.send({ ...vote, headers });
  expect(answer.status).toBe(201);
  const spans = exporter.getFinishedSpans();
  const server = spans.find(({ kind }) => kind === SpanKind.SERVER)!;
  expect([server.name, server.spanContext().traceId, parentOf(server)]).toEqual([
    ...['POST /api/v1/consensus/vote', TRACE, PARENT],
  ]);
  expect(server.attributes).toEqual({
    ...{ 'http.request.method': 'POST', 'http.route': '/api/v1/consensus/vote' },
    ...{ 'url.path': '/api/v1/consensus/vote', 'http.response.status_code': 201 },
    'folkmoot.network_id': 'testnet',
    'folkmoot.request_id': answer.headers.get('x-request-id'),
  });
  const steps = spans.filter((span) => span !== server);
  expect(steps.map(({ name }) => name)).toEqual([
    ...['parse', 'admit', 'authenticate', 'verify', 'charge', 'apply', 'commit'],
  ]);
  const starts = steps.map(({ startTime }) => milliseconds(startTime));
  expect(starts).toEqual([...starts].sort((a, b) => a - b));
  expect(steps.every(({ duration }) => milliseconds(duration) > 0)).toBe(true);
  const { spanId } = server.spanContext();
  for (const step of steps) {
    expect([step.spanContext().traceId, parentOf(step)]).toEqual([TRACE, spanId]);
    const start = milliseconds(step.startTime);
    expect(start).toBeGreaterThanOrEqual(milliseconds(server.startTime) - 1);
    expect(milliseconds(step.endTime)).toBeLessThanOrEqual(milliseconds(server.endTime) + 1);
  }
});

test('traces: a refusal has its reason, and ends the steps', async () => {
  const exporter = inMemory();
  const there = await world({ server: { traces: true } });
  const ada = await there.join('Ada');
  exporter.reset();
  const { status, error } = await there.send(signer.vote(ada, { block_hash: 'ab'.repeat(32) }));
  const server = exporter.getFinishedSpans().at(-1)!;
  expect(server.attributes).toMatchObject({
    'http.response.status_code': status,
    'folkmoot.refusal': error.details.reason,
  });
  expect(server.status.code).toBe(SpanStatusCode.UNSET);
  expect(parentOf(server)).toBeUndefined();
});

test('traces: reads have one span; unknown paths share a name; probes have none', async () => {
  const exporter = inMemory();
  const there = await world({ server: { traces: true } });
  await there.get('/api/v1/network/state?unknown=1', { traceparent: 'not-a-trace-context' });
  await there.get('/nowhere/at/all');
  for (const path of ['/metrics', '/healthz', '/readyz']) await there.get(path);
  const spans = exporter.getFinishedSpans();
  expect(spans.map(({ name }) => name)).toEqual(['GET /api/v1/network/state', 'unknown']);
  expect(spans.map(parentOf)).toEqual([undefined, undefined]);
  expect(spans[0]!.attributes['url.path']).toBe('/api/v1/network/state');
});

test('traces: a request that the client does not sample has no span', async () => {
  const exporter = inMemory();
  const there = await world({ server: { traces: true } });
  await there.get('/api/v1/network/state', { traceparent: `00-${TRACE}-${PARENT}-00` });
  expect(exporter.getFinishedSpans()).toEqual([]);
});

test('traces: are off by default', async () => {
  const exporter = inMemory();
  const there = await world();
  await there.join('Ada');
  expect(exporter.getFinishedSpans()).toEqual([]);
});

test('traces: a collector that never responds delays no request', async () => {
  let exports = 0;
  const silent = {
    export() {
      exports += 1;
    },
    shutdown: async () => {},
  };
  // A small queue: the SDK drops the spans that do not fit.
  register(
    new BatchSpanProcessor(silent, {
      ...{ maxQueueSize: 64, maxExportBatchSize: 16, scheduledDelayMillis: 1 },
    }),
  );
  const there = await world({ server: { traces: true } });
  const [ada] = await there.joinAll('Ada');
  for (let index = 0; index < 100; index += 1) {
    await there.read(`/api/v1/agents/${ada!.agentId}`);
  }
  expect(exports).toBeGreaterThan(0);
});
