/** Failures of MCP tools, each with its reason. */
import type { Raw } from '../../fixture.js';
import type { Before, Tool } from './server.js';

export const vote = { do: 'vote', decision: 'approve' };

export const structured =
  (structuredContent: Raw): Tool =>
  () => ({ content: [{ type: 'text', text: 'no JSON at all' }], structuredContent });

const text =
  (given: string): Tool =>
  () => ({ content: [{ type: 'text', text: given }] });
export const onCall =
  (answer: (...of: Parameters<Before>) => void): Before =>
  (request, response, message) => {
    if (message.method !== 'tools/call') return false;
    answer(request, response, message);
    return true;
  };
export const events = (of: string): Before =>
  onCall((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(of);
  });
const page = (of: string): Before =>
  onCall((_, response, { id }) => {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(of.replace('ID', String(id)));
  });

type Bad = [name: string, reason: string, detail: RegExp, of: { tool?: Tool; before?: Before }];
const row = (...of: Bad): Bad => of;

export const bad: Bad[] = [
  row('a failure', 'refused', /: I am tired$/, {
    tool: () => ({ isError: true, content: [{ type: 'text', text: 'I am\ntired' }] }),
  }),
  row('a protocol error', 'refused', /MCP error .*of mine/, {
    tool: () => {
      throw new Error('of mine');
    },
  }),
  row('an empty result', 'wrong', /structured content/, {
    tool: () => ({ content: [] }),
  }),
  ['prose', 'no_json', /not JSON/, { tool: text('I approve of it.') }],
  ['300 kB', 'too_long', /262144 bytes/, { tool: text(`"${'x'.repeat(300_000)}"`) }],
  row('two megabytes', 'too_long', /1048576 bytes/, {
    tool: text(`"${'x'.repeat(2_097_152)}"`),
  }),
  row('extreme nesting', 'no_json', /./, {
    before: page(
      `{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"a":${
        '['.repeat(100_000) + ']'.repeat(100_000)
      }}}}`,
    ),
  }),
  row('an error status', 'refused', /503/, {
    before: onCall((_, response) => response.writeHead(503, { 'retry-after': '0' }).end('no')),
  }),
  row('a redirect', 'refused', /307/, {
    before: onCall((_, response) =>
      response.writeHead(307, { location: 'http://127.0.0.1:1/mcp' }).end(),
    ),
  }),
  row('an HTML page', 'refused', /content type: text\/html/, {
    before: onCall((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>busy</p>'),
    ),
  }),
  ['garbage', 'no_json', /MCP message/, { before: page('busy') }],
  ['unrelated JSON', 'no_json', /MCP message/, { before: page('{"a":1}') }],
  ['garbage as an event', 'no_json', /MCP message/, { before: events('data: busy\n\n') }],
  row('an invalid result', 'no_json', /MCP message/, {
    before: page('{"jsonrpc":"2.0","id":ID,"result":{"content":7}}'),
  }),
  row('a broken connection', 'unreachable', /./, {
    before: onCall((_, response) => response.destroy()),
  }),
  row('a truncated answer', 'unreachable', /./, {
    before: onCall((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"jsonrpc"', () => response.destroy());
    }),
  }),
];
