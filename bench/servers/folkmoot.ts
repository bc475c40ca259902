/** `folkmoot serve --limits off` as users run it, in a temporary folder. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Signatory, SignedRequest } from '../../engine/internal.js';
import { registration } from '../fixtures/chain.js';
import { headOf } from '../fixtures/http.js';
import { withFolder } from '../fixtures/network.js';
import { folkmootArguments } from './cli.js';
import type { MeasuredServer } from './server.js';

export interface FolkmootServer extends MeasuredServer {
  /** Sends a signed request; throws unless it is accepted. */
  send(request: SignedRequest): Promise<unknown>;
  /** What /metrics says, each line by its name and labels. */
  metrics(): Promise<Map<string, number>>;
}

/** A server for the work of a case, gone afterwards; `more` are options of `serve`. */
export function withFolkmoot<T>(
  work: (server: FolkmootServer) => Promise<T>,
  more: readonly string[] = [],
): Promise<T> {
  return withFolder(async (data) => {
    const server = await start(data, more);
    try {
      return await work(server);
    } finally {
      await server.stop();
    }
  });
}

async function start(data: string, more: readonly string[]): Promise<FolkmootServer> {
  const flags = ['--port', '0', '--limits', 'off', '--log-level', 'error', '--data', data, ...more];
  const child = spawn(process.execPath, [...folkmootArguments, 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([once(lines, 'line'), ended.then(() => null)]);
  if (!line) throw new Error('folkmoot serve ended before it listened');
  const { url } = JSON.parse(String(line[0])) as { url: string };
  const metrics = async () => parseMetrics(await (await fetch(`${url}/metrics`)).text());
  const metric = async (name: string) => (await metrics()).get(`folkmoot_${name}`) ?? 0;
  return {
    url,
    pid: child.pid!,
    metrics,
    cpuSeconds: async () =>
      (await metric('process_cpu_seconds_total')) + (await metric('fronts_cpu_seconds_total')),
    residentBytes: async () =>
      (await metric('process_resident_memory_bytes')) +
      (await metric('fronts_resident_memory_bytes')),
    send: (request) => send(url, request),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function send(url: string, request: SignedRequest): Promise<unknown> {
  const { method, path, headers } = headOf(request);
  const response = await fetch(url + path, { method, headers, body: request.body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${request.kind} was answered ${response.status}: ${text}`);
  return (JSON.parse(text) as { data: unknown }).data;
}

/** Registers agents, some at a time. */
export async function registerAt(server: FolkmootServer, by: readonly Signatory[]): Promise<void> {
  const timestamp = new Date().toISOString();
  for (let from = 0; from < by.length; from += 32) {
    const some = by.slice(from, from + 32);
    await Promise.all(some.map((one, at) => server.send(registration(one, from + at, timestamp))));
  }
}

/** Prometheus' text format, as far as it is numbers. */
function parseMetrics(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}
