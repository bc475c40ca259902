/** Sends raw requests. Reports the status and reason in the first response, or the close. */
import { readFileSync } from 'node:fs';
import { Line } from '../../support/service/line.js';
import type { RawCase } from './raw-case.js';

/** Waits for two event-loop turns on the server, so that all earlier bytes have been read. */
async function turned(url: string): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await (await fetch(`${url}/healthz`)).text();
}

/** Returns an outcome such as `400 SCHEMA`, `431 -` without an envelope, `closed` or `silent`. */
async function outcome(url: string, { bytes, later }: RawCase, patienceMs: number) {
  const line = await Line.open(url);
  line.send(bytes);
  if (later) {
    await turned(url);
    line.send(later);
  }
  const head = bytes.subarray(0, 5).toString() === 'HEAD ';
  let came = await line.answer(patienceMs, head);
  // Skip an interim response.
  if (typeof came !== 'string' && came.status === 100) came = await line.answer(patienceMs, head);
  line.cut();
  if (typeof came === 'string') return came;
  const told = /"reason":"([A-Z_]+)"/.exec(came.body.toString())?.[1];
  return `${came.status} ${told ?? (came.status < 300 ? '' : '-')}`.trim();
}

/**
 * Returns the outcomes in order. Runs cases of two segments first, one by one, because a server
 * waits a limited time for the end of a head. Runs the others concurrently.
 */
export async function outcomes(
  url: string,
  cases: readonly RawCase[],
  patienceMs: (name: string) => number,
): Promise<string[]> {
  const found = new Map<RawCase, string>();
  const work = async (queue: RawCase[]) => {
    for (let one = queue.shift(); one; one = queue.shift()) {
      found.set(one, await outcome(url, one, patienceMs(one.name)));
    }
  };
  await work(cases.filter(({ later }) => later));
  const others = cases.filter(({ later }) => !later);
  await Promise.all(Array.from({ length: 64 }, () => work(others)));
  return cases.map((one) => found.get(one)!);
}

export interface Row {
  what: string;
  uws: string;
  node: string;
  cause: string;
}

/** Returns the rows in the document's table of transports. */
export function documented(protocol: string): Row[] {
  const section = protocol.split('### Requests that the transport refuses')[1]!.split('\n## ')[0]!;
  const cells = section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, line.lastIndexOf('|')).split(' | '));
  return cells.slice(2).map(([what = '', uws = '', node = '', cause = '']) => ({
    ...{ what: what.trim(), uws: uws.trim(), node: node.trim(), cause: cause.trim() },
  }));
}

/** The older releases that cells name behind a semicolon, and whether this process uses them. */
const older: readonly (readonly [words: string, used: boolean])[] = [
  ['with `uws-pack`, ', packed()],
  ['on Node.js 20, ', process.version.startsWith('v20.')],
];

/** Returns true if the installed uWebSockets.js is `uws-pack`. */
function packed(): boolean {
  const manifest = readFileSync('node_modules/uWebSockets.js/package.json', 'utf8');
  return JSON.parse(manifest).name === 'uws-pack';
}

/** Returns the part of a cell that describes this process. */
function relevant(cell: string): string {
  const [newest = '', old = ''] = cell.split('; ');
  const found = older.find(([words, used]) => used && old.startsWith(words));
  return found ? old.slice(found[0].length) : newest;
}

/** Returns true if a cell describes the outcome. */
export function says(whole: string, seen: string): boolean {
  const cell = relevant(whole);
  // A silent connection will be closed later. The document states when.
  if (seen === 'silent') return /^closed without an answer after/.test(cell);
  if (seen === 'closed') return /^closed/.test(cell);
  const [status = '', reason] = seen.split(' ');
  const bare = reason === '-';
  if (/^accepted/.test(cell) && !(bare && Number(status) === 400)) return true;
  const form = bare ? /HTML|without a body/ : /envelope/;
  return cell.includes(status) && form.test(cell);
}
