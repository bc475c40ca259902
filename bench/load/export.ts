/**
 * Requests for other tools, signed ahead. Votes and proposals, which need responses, are left out.
 */
import { loadError } from './messages.js';
import { type LoadOptions, scenariosOf, sharesOf } from './options.js';
import type { Call, RunContext } from './workload.js';
import { Workload } from './workloads/mix.js';

interface Exported extends Pick<Call, 'method' | 'headers'> {
  url: string;
  path: string;
  body: string;
}

/** Kinds that need no response of an earlier request. */
const independent = new Set(['read', 'state', 'agents', 'reputation', 'status', 'meme']);

/** Registers agents and signs requests. @throws {Failure} `NOT_EXPORTED` if one needs responses. */
export async function exportRequests(options: LoadOptions, count: number): Promise<Exported[]> {
  const [scenario] = scenariosOf(options);
  const other = sharesOf(scenario!.mix).find(({ kind }) => !independent.has(kind));
  if (other) throw loadError('NOT_EXPORTED', { kind: other.kind });
  const workload = new Workload(options);
  try {
    await workload.prepare(contextOf(options), () => {});
    const made: Exported[] = [];
    for (let waits = 0; made.length < count && waits < MOST_WAITS; ) {
      const call = workload.next(0, performance.now());
      if (call) made.push(toExported(call, options.url));
      else {
        waits += 1;
        await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      }
    }
    return made;
  } finally {
    await workload.close();
  }
}

const WAIT_MS = 10;
const MOST_WAITS = 1_000;

/** The context of a run that sends nothing. The agents stay active for the other tool. */
function contextOf(options: LoadOptions): RunContext {
  const nothing = () => {};
  return {
    options: { ...options, keepAgents: true },
    nodes: null as never,
    now: () => performance.now(),
    send: (call) => call.completed({ kind: 'unfinished' }),
    ...{ recorder: null as never, wake: nothing, block: nothing },
    fail: (reason) => {
      throw loadError('NOTHING_MEASURED', { reason });
    },
  };
}

function toExported(call: Call, url: string): Exported {
  const { method, target: path, headers, body } = call;
  // The agent may send its next request.
  call.completed({ kind: 'unfinished' });
  return { method, url: `${url}${path}`, path, headers, body: body === null ? '' : String(body) };
}

const lua = (text: string): string => `"${text.replace(/[\\"\r\n\0]/g, toDecimal)}"`;
const toDecimal = (one: string) => `\\${String(one.charCodeAt(0)).padStart(3, '0')}`;

export const forms: Record<string, (all: readonly Exported[]) => string> = {
  vegeta: (all) =>
    all
      .map(({ method, url, headers, body }) => {
        const header = Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, [v]]));
        const content = body === '' ? {} : { body: Buffer.from(body).toString('base64') };
        return `${JSON.stringify({ method, url, header, ...content })}\n`;
      })
      .join(''),
  k6: (all) => {
    const modules = ["exec from 'k6/execution'", "http from 'k6/http'"];
    const requests = JSON.stringify(all.map(({ path: _, ...rest }) => rest));
    return `${modules.map((one) => `import ${one};\n`).join('')}
const requests = ${requests};

export default function () {
  const { method, url, headers, body } = requests[exec.scenario.iterationInTest % requests.length];
  http.request(method, url, body, { headers });
}
`;
  },
  wrk: (all) => {
    const rows = all.map(({ method, path, headers, body }) => {
      const pairs = Object.entries(headers).map(([name, value]) => `[${lua(name)}]=${lua(value)}`);
      return `  {${lua(method)}, ${lua(path)}, {${pairs.join(', ')}}, ${lua(body)}},`;
    });
    return `local requests = {\n${rows.join('\n')}\n}
local at = 0

request = function()
  at = at % #requests + 1
  return wrk.format(unpack(requests[at]))
end
`;
  },
  har: (all) => {
    const entries = all.map(({ method, url, headers, body }) => ({
      request: {
        ...{ method, url, httpVersion: 'HTTP/1.1' },
        headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
        ...(body === '' ? {} : { postData: { mimeType: headers['content-type'], text: body } }),
      },
    }));
    const log = { version: '1.2', creator: { name: 'folkmoot', version: '1' }, entries };
    return `${JSON.stringify({ log }, null, 1)}\n`;
  },
};
