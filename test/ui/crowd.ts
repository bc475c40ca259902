/**
 * A network that was never there: as many agents and events as a test of the page wants, served as
 * a server serves them. For speed and looks only; what is true is tested on real networks.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { pageFile } from '../../dist/api/documents/page.js';
import { cutSpan } from '../../dist/api/view/cut.js';
import { applySpan, emptyPicture } from '../../dist/api/view/fold.js';
import { type Picture, rowKinds, type Span } from '../../dist/api/view/model.js';
import { encodeSpan, newRows } from '../../dist/api/view/span.js';

const kind = (name: (typeof rowKinds)[number]) => rowKinds.indexOf(name);
const personalities = ['chaotic', 'dramatic', 'emotional', 'lawful', 'memetic', 'rational'];
const START_MS = Date.parse('2026-01-01T00:00:00Z');
/** Of entries before anybody looks. */
const ROWS_A_SPAN = 2_000;

export interface CrowdOptions {
  agents: number;
  /** Votes before anybody looks. */
  votes: number;
  /** Events a second from then on; 0 for a run that is over. */
  eventsPerSecond: number;
  /** In place of made-up names and remarks. */
  name?: (number: number) => string;
  remark?: (number: number) => string;
  policy?: string;
  /** How often it says that it still reads its log. */
  making?: number;
}

export interface Crowd {
  url: string;
  /** Of all that happened so far. */
  picture: Picture;
  close(): Promise<void>;
  /** Goes, and comes back at the same address. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Entries one after the other: registrations, then votes on block after block. */
class Story {
  readonly #options: CrowdOptions;
  readonly picture: Picture;
  #seed = 1;
  #entry = 0;
  #event = 0;
  #at = START_MS;
  #voters: number[] = [];
  #block = -1;

  constructor(options: CrowdOptions) {
    this.#options = options;
    const { policy = 'bft' } = options;
    const of = { network_id: 'crowd', epoch: 'one', policy, weights: 'equal' };
    this.picture = emptyPicture({ ...of, participation_bps: 5_000 });
  }

  /** The next entries, a row or two each. */
  next(rows: number, stepMs: number): Span {
    const from = this.#entry;
    const columns = newRows(rows);
    const introduced: Span['introduced'] = { agents: [], blocks: [], memes: [], alliances: [] };
    const said: Span['said'] = [];
    const put = (
      row: number,
      name: (typeof rowKinds)[number],
      who: number,
      what = 0,
      value = 0,
    ) => {
      columns.entry[row] = this.#entry - from;
      columns.at[row] = Math.floor(this.#at);
      columns.kind[row] = kind(name);
      columns.who[row] = who;
      columns.what[row] = what;
      columns.value[row] = value;
      if (name !== 'registered') this.#event += 1;
    };
    for (let row = 0; row < rows; row += 1) {
      this.#at += stepMs;
      const registered = this.picture.agents.length + introduced.agents.length;
      if (this.#options.agents === 0) put(row, 'network_metrics', 0);
      else if (registered < this.#options.agents) {
        introduced.agents.push(this.#agent(registered));
        put(row, 'registered', registered);
      } else if (this.#voters.length === 0 && this.#block >= 0 && !this.#closed) {
        this.#closed = true;
        put(row, 'block_status', 0, this.#block, this.#outcome());
      } else if (this.#closed) {
        this.#open(introduced);
        put(row, 'block_proposal', introduced.blocks.at(-1)!.producer, this.#block);
      } else if (this.#chance() < 0.03) {
        const who = Math.floor(this.#chance() * this.#options.agents);
        const text = this.#options.remark?.(this.#entry) ?? 'This state diff looks sound to me.';
        put(row, 'consensus_discussion', who, this.#block, 0);
        const at = Math.floor(this.#at);
        said.push({ entry: this.#entry, at, who, kind: 'remark', what: this.#block, text });
      } else if (this.#chance() < 0.02) {
        const who = Math.floor(this.#chance() * this.#options.agents);
        put(row, 'reputation_update', who, 0, Math.floor(this.#chance() * 1_000_000));
      } else {
        const who = this.#voters.pop()!;
        const reject = this.#chance() < 0.12 + 0.3 * ((this.#block * 7) % 5 === 0 ? 1 : 0) ? 1 : 0;
        this.#tally[reject]! += 1;
        put(row, 'block_validation', who, this.#block, 2 + reject);
      }
      this.#entry += 1;
    }
    const span: Span = {
      from,
      to: this.#entry - 1,
      event_seq: this.#event,
      at: Math.floor(this.#at),
      digest: '',
      log_digest: '',
      rows: columns,
      introduced,
      said: said.slice(-50),
      omitted: Math.max(0, said.length - 50),
    };
    applySpan(this.picture, span);
    return span;
  }

  #closed = true;
  #tally: [number, number] = [0, 0];

  #outcome(): number {
    const [, reject] = this.#tally;
    return 3 * reject >= this.#options.agents ? 2 : this.#chance() < 0.1 ? 3 : 1;
  }

  #open({ blocks }: Span['introduced']): void {
    this.#closed = false;
    this.#block += 1;
    this.#tally = [0, 0];
    const { agents } = this.#options;
    this.#voters = Array.from({ length: agents }, (_, number) => number)
      .map((number) => ({ number, key: this.#chance() }))
      .sort((one, other) => one.key - other.key)
      .map(({ number }) => number);
    blocks.push({
      number: this.#block,
      hash: String(this.#block).padStart(64, '0'),
      parent: String(this.#block - 1).padStart(64, '0'),
      height: this.#block + 1,
      producer: Math.floor(this.#chance() * agents),
      transactions: 3,
      total: agents,
      electors: agents,
      needed: Math.floor((2 * agents) / 3) + 1,
      proposed_at: Math.floor(this.#at),
      deadline: Math.floor(this.#at) + 30_000,
      entry: this.#entry,
    });
  }

  #agent(number: number) {
    const personality = personalities[number % personalities.length]!;
    return {
      number,
      id: `agent_${String(number).padStart(64, '0')}`,
      public_key: String(number).padStart(64, '0'),
      name: this.#options.name?.(number) ?? `${personality}-${number}`,
      personality,
      validator: number % 50 !== 7,
      producer: number % 20 === 0,
    };
  }

  /** The same numbers in every run. */
  #chance(): number {
    this.#seed = (this.#seed * 48_271) % 2_147_483_647;
    return this.#seed / 2_147_483_647;
  }
}

export async function crowd(options: CrowdOptions): Promise<Crowd> {
  const story = new Story(options);
  const spans: Span[] = [];
  // One at the least: a log that has an end.
  const before = Math.max(1, options.agents + options.votes);
  for (let rows = 0; rows < before; rows += ROWS_A_SPAN) {
    spans.push(story.next(Math.min(ROWS_A_SPAN, before - rows), 4));
  }
  let { making = 0 } = options;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://crowd');
    const number = (name: string) => Number(url.searchParams.get(name));
    const send = (type: string, body: string | Uint8Array, status = 200) => {
      response.writeHead(status, { 'Content-Type': type });
      response.end(body);
    };
    const json = (data: unknown) => send('application/json', JSON.stringify({ data }));
    if (url.pathname === '/api/v1/view') {
      if (making > 0) {
        making -= 1;
        const details = { reason: 'BEING_MADE', entry: 1_500, to: 6_000 };
        return send('application/json', JSON.stringify({ error: { message: '', details } }), 503);
      }
      const at = url.searchParams.get('at');
      return json(at === null ? story.picture : pictureAt(story.picture, spans, Number(at)));
    }
    if (url.pathname === '/api/v1/columns') {
      const from = number('from');
      const span = spans.find((one) => one.from <= from && from <= one.to);
      const empty = { ...spans.at(-1)!, from, to: from - 1, rows: newRows(0), said: [] };
      const none = { ...empty, introduced: { agents: [], blocks: [], memes: [], alliances: [] } };
      const bytes = encodeSpan(span ? cutSpan(span, from, number('to')) : none);
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
          const bytes = encodeSpan(span);
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
  return { url, picture: story.picture, close, stop, start };

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

function pictureAt(of: Picture, spans: readonly Span[], entry: number): Picture {
  const picture = emptyPicture(of);
  for (const span of spans) if (span.from <= entry) applySpan(picture, span, entry);
  return picture;
}

function overviewOf(spans: readonly Span[]) {
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
