/** `folkmoot serve` in a separate process that stops at the end of the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { temporaryFolder } from './fixture.js';
import { main } from './paths.js';

export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Host {
  pid: number;
  url: string;
  wsUrl: string;
  /** Address for a browser, with the token if there is one. */
  pageUrl: string;
  /** Standard output so far. The first line is an object. */
  stdout(): string;
  ended: Promise<Ending>;
  /** Standard error so far. */
  stderr(): string;
  /** Resolves when standard error contains a text. */
  said(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<Ending>;
  /** Sends questions, one at a time, to a module imported into the process. */
  ask(question: string): Promise<unknown>;
}

/** A server that ended before listening. */
export interface Unstarted {
  ending: Ending;
  stderr: string;
}

export interface HostOptions {
  /** Data folder (default: a temporary folder). */
  data?: string;
  args?: readonly string[];
  env?: Record<string, string>;
  /** Path to a different Node binary. */
  node?: string;
  /** Arguments for Node. */
  nodeArgs?: readonly string[];
}

/** Starts a server and waits until the server is listening. The limits are off by default. */
export async function host(options: HostOptions = {}): Promise<Host> {
  const started = await startHost(options);
  if ('ending' in started) {
    throw new Error(`the server did not start: ${started.stderr}`);
  }
  return started;
}

/** Returns a listening server, or the ending of a server that did not start to listen. */
export async function startHost({
  data = temporaryFolder(),
  args = [],
  env = {},
  node = process.execPath,
  nodeArgs = [],
}: HostOptions): Promise<Host | Unstarted> {
  const serve = ['serve', '--port', '0', '--limits', 'off', '--data', data, ...args];
  const child = spawn(node, [...nodeArgs, main, ...serve], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ending>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  const line = await Promise.race([firstLine(child), ended.then(() => null)]);
  if (line === null) return { ending: await ended, stderr };
  const first = JSON.parse(line) as { url: string; ws_url: string; page_url: string };
  const { url, ws_url: wsUrl, page_url: pageUrl } = first;
  return {
    pid: child.pid!,
    url,
    wsUrl,
    pageUrl,
    stdout: () => stdout,
    ended,
    stderr: () => stderr,
    async said(text) {
      while (!stderr.includes(text)) await once(child.stderr!, 'data');
    },
    kill(signal) {
      child.kill(signal);
      return ended;
    },
    async ask(question) {
      child.send(question);
      const [answer] = (await once(child, 'message')) as [unknown];
      return answer;
    },
  };
}

/** Stops a server with SIGTERM. */
export async function stop(server: Host): Promise<void> {
  expect(await server.kill('SIGTERM'), server.stderr()).toEqual({ code: 0, signal: null });
}

/** Resolves with the first line. Later output is dropped. */
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    createInterface({ input: child.stdout! }).on('line', resolve);
  });
}

/** Returns a process's number of open file descriptors. */
export const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** Returns a process's private memory in bytes, without mapped store pages. */
export function privateBytes({ pid }: Host): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
}

/** Returns the bytes that a process with probe.mjs holds after a garbage collection. */
export async function heldBytes({ ask }: Host): Promise<number> {
  const { heapUsed, external } = (await ask('held')) as Record<string, number>;
  return heapUsed! + external!;
}
