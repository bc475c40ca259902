/** Module for --traces: appends each span as a line of JSON to the file SPAN_FILE. */
import { appendFileSync } from 'node:fs';
import { propagation, SpanKind, trace } from '@opentelemetry/api';
import { hrTimeToMicroseconds, W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';

const file = process.env.SPAN_FILE;
const exporter = {
  export(spans, done) {
    for (const span of spans) {
      const { traceId, spanId } = span.spanContext();
      const { name, parentSpanContext, attributes } = span;
      const line = {
        name,
        kind: SpanKind[span.kind],
        trace: traceId,
        span: spanId,
        parent: parentSpanContext?.spanId ?? null,
        start_us: hrTimeToMicroseconds(span.startTime),
        us: Math.round(hrTimeToMicroseconds(span.duration)),
        attributes,
      };
      appendFileSync(file, `${JSON.stringify(line)}\n`);
    }
    done({ code: 0 });
  },
  shutdown: async () => {},
};
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
trace.setGlobalTracerProvider(provider);
propagation.setGlobalPropagator(new W3CTraceContextPropagator());

export async function shutdown() {
  await provider.shutdown();
  appendFileSync(file, '{"name":"shutdown"}\n');
}
