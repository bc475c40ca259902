/**
 * Serves a synthetic network of any size over the page's API, for tests of speed and display. Other
 * tests check correctness on real networks.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { pageFile } from '../../dist/api/documents/documents.js';
import { type RowBatch, rowKinds, type Snapshot } from '../../dist/api/view/model.js';
import { applyRowBatch, createEmptySnapshot } from '../../dist/api/view/reducer.js';
import { encodeRowBatch, newRows, sliceRowBatch } from '../../dist/api/view/row-batch.js';
import { kind, Story, type StoryOptions } from './story.js';

/** Rows per batch in the history. */
const ROWS_A_SPAN = 2_000;

export interface CrowdOptions extends StoryOptions {
  /** Number of votes in the history. */
  votes: number;
  /** Live events per second; 0 for a finished run. */
  eventsPerSecond: number;
  /** True to report that the log is still being read, until `made` is called. */
  making?: boolean;
}

export interface Crowd {
  url: string;
  /** Snapshot at the newest entry. */
  picture: Snapshot;
  /** Stops reporting that the log is still being read. */
  made(): void;
  close(): Promise<void>;
  /** Stops the server, then starts it again at the same address. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function crowd(options: CrowdOptions): Promise<Crowd> {
  const story = new Story(options);
  const spans: RowBatch[] = [];
  // At least one entry, so that the log has an end.
  const before = Math.max(1, options.agents + options.votes);
  for (let rows = 0; rows < before; rows += ROWS_A_SPAN) {
    spans.push(story.next(Math.min(ROWS_A_SPAN, before - rows), 4));
  }
  let { making = false } = options;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://crowd');
    const number = (name: string) => Number(url.searchParams.get(name));
    const send = (type: string, body: string | Uint8Array, status = 200) => {
      response.writeHead(status, { 'Content-Type': type });
      response.end(body);
    };
    const json = (data: unknown) => send('application/json', JSON.stringify({ data }));
    if (url.pathname === '/api/v1/view/progress') {
      return json({ made: !making, entry: 1_500, to: 6_000 });
    }
    if (url.pathname === '/api/v1/view') {
      const at = url.searchParams.get('at');
      return json(at === null ? story.picture : pictureAt(story.picture, spans, Number(at)));
    }
    if (url.pathname === '/api/v1/columns') {
      const from = number('from');
      const span = spans.find((one) => one.from <= from && from <= one.to);
      const empty = { ...spans.at(-1)!, from, to: from - 1, rows: newRows(0), said: [] };
      const none = { ...empty, introduced: { agents: [], blocks: [], memes: [], alliances: [] } };
      const bytes = encodeRowBatch(span ? sliceRowBatch(span, from, number('to')) : none);
      return send('application/octet-stream', bytes);
    }
    if (url.pathname === '/api/v1/overview') return json(overviewOf(spans));
    if (url.pathname === '/api/v1/control') {
      const kind = options.eventsPerSecond > 0 ? 'live' : 'folder';
      return json({ kind, clock: { holds: 'nothing', paused: false, speed: null }, can: [] });
    }
    if (!url.pathname.startsWith('/ui')) return send('text/plain', 'nothing', 404);
    const name = url.pathname.startsWith('/ui/assets/') ? url.pathname.slice(11) : 'index.html';
    const file = pageFile(name);
    if (!file) return send('text/plain', 'nothing', 404);
    if (file.policy) response.setHeader('Content-Security-Policy', file.policy);
    send(file.type, file.bytes('identity'));
  });
  const sockets = new WebSocketServer({ server, path: '/ws/v1' });
  const every = 100;
  const timer =
    options.eventsPerSecond > 0
      ? setInterval(() => {
          const rows = Math.round((options.eventsPerSecond * every) / 1_000);
          const span = story.next(rows, every / rows);
          spans.push(span);
          const bytes = encodeRowBatch(span);
          for (const socket of sockets.clients) socket.send(bytes);
        }, every)
      : null;
  sockets.on('connection', (socket) => {
    socket.on('message', () => {
      const { entry, epoch } = story.picture;
      socket.send(JSON.stringify({ type: 'watching', entry, epoch }));
    });
  });
  const url = await listening(server, 0);
  const start = async () => void (await listening(server, Number(new URL(url).port)));
  const made = () => {
    making = false;
  };
  return { url, picture: story.picture, made, close, stop, start };

  async function close(): Promise<void> {
    if (timer) clearInterval(timer);
    await stop();
  }

  async function stop(): Promise<void> {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

async function listening(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function pictureAt(of: Snapshot, spans: readonly RowBatch[], entry: number): Snapshot {
  const snapshot = createEmptySnapshot(of);
  for (const span of spans) if (span.from <= entry) applyRowBatch(snapshot, span, entry);
  return snapshot;
}

function overviewOf(spans: readonly RowBatch[]) {
  const last = spans.at(-1)!;
  const closings = spans.flatMap(({ from, rows }) =>
    [...rows.kind].flatMap((code, row) =>
      code === kind('block_status')
        ? [
            {
              entry: from + rows.entry[row]!,
              at: rows.at[row]!,
              block: rows.what[row]!,
              height: rows.what[row]! + 1,
              status: ['voting', 'finalized', 'rejected', 'expired'][rows.value[row]!]!,
            },
          ]
        : [],
    ),
  );
  const buckets = spans.map(({ from, to, rows }) => {
    const events = new Array<number>(rowKinds.length).fill(0);
    for (const code of rows.kind) events[code]! += 1;
    return { from, entries: to - from + 1, at: rows.at[0] ?? 0, events };
  });
  return { epoch: 'one', entry: last.to, at: last.at, buckets, closings };
}
