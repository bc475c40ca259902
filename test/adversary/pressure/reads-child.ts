/** Repeatedly reads some paths from a server, and reports the response times. */
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Reads {
  times: number;
  /** Number of missing responses and responses other than 200. */
  failed: number;
  p50Ms: number;
  p99Ms: number;
  mostMs: number;
}

const EVERY_MS = 20;
const agent = new Agent({ keepAlive: true });
const tookMs: number[] = [];
let failed = 0;

function read(url: string): Promise<number | null> {
  return new Promise((resolve) => {
    const request = get(url, { agent }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode!));
      response.on('error', () => resolve(null));
    });
    request.on('error', () => resolve(null));
  });
}

async function readOn(url: string): Promise<never> {
  for (;;) {
    const from = performance.now();
    const status = await read(url);
    tookMs.push(performance.now() - from);
    if (status !== 200) failed += 1;
    await sleep(EVERY_MS);
  }
}

function report(): Reads {
  const sorted = tookMs.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
  return { times: sorted.length, failed, p50Ms: at(0.5), p99Ms: at(0.99), mostMs: at(1) };
}

process.on('message', (message: { url: string; paths: readonly string[] } | 'report') => {
  if (message === 'report') process.send!(report());
  else for (const path of message.paths) void readOn(`${message.url}${path}`);
});
