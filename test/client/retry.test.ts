/** Reconnection of event streams, tested with scripted sockets in virtual time. */
import { closeCodes } from 'folkmoot/api';
import { type EventStream, type SocketLike, StreamError } from 'folkmoot/client';
import { clientOf, failureOf } from './helpers.js';

type Listener = Parameters<SocketLike['addEventListener']>[1];

/** Socket that the test controls. */
class Scripted implements SocketLike {
  static all: Scripted[] = [];
  readonly sent: { type: string; [member: string]: unknown }[] = [];
  readonly openedAt = Date.now();
  closed = false;
  readonly #listeners = new Map<string, Listener>();

  constructor(readonly url: string) {
    Scripted.all.push(this);
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, listener);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.closed = true;
  }

  say(type: string, data: object = {}): void {
    this.#listeners.get('message')?.({ type: 'message', data: JSON.stringify({ type, ...data }) });
  }

  drop(code: number): void {
    this.#listeners.get('close')?.({ type: 'close', code });
  }

  /** Completes the handshake up to `subscribed`. */
  accept(): void {
    const position = { epoch: 'e', last_seq: 5 };
    this.#listeners.get('open')?.({ type: 'open' });
    this.say('auth_ok', { data: { ...position, heartbeat_ms: 30_000 } });
    this.say('subscribed', { data: { ...position, gap: false } });
  }
}

const last = () => Scripted.all.at(-1)!;

/** Runs resolved promises. */
const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  Scripted.all = [];
  vi.useFakeTimers();
  // Use the longest wait that the jitter allows.
  vi.spyOn(Math, 'random').mockReturnValue(1);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function streamOf(): Promise<EventStream> {
  const stream = clientOf('http://localhost:1', 1, { WebSocket: Scripted }).events(['blocks']);
  await settle();
  return stream;
}

const row = ({ code, retry }: { code: number; retry: string }): [number, string] => [code, retry];

test.each(Object.values(closeCodes).map(row))('close %d: retries: %s', async (code, retry) => {
  const stream = await streamOf();
  last().accept();
  last().drop(code);
  await settle();
  if (retry === 'no') {
    const error = await failureOf(stream.next());
    expect(error).toBeInstanceOf(StreamError);
    expect(error).toMatchObject({ closeCode: code });
    await vi.advanceTimersByTimeAsync(600_000);
    expect(Scripted.all.length).toBe(1);
    return;
  }
  const patience = retry === 'after 60 s' ? 60_000 : 250;
  await vi.advanceTimersByTimeAsync(patience - 1);
  expect(Scripted.all.length).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(Scripted.all.length).toBe(2);
  if (retry === 'once') {
    last().drop(code);
    expect(await failureOf(stream.next())).toMatchObject({ closeCode: code });
  }
  await stream.return();
});

test('backoff: doubles up to 30 s, and resets after a steady connection', async () => {
  const stream = await streamOf();
  const waits: number[] = [];
  for (let index = 1; index <= 10; index += 1) {
    const dropped = Date.now();
    last().drop(1006);
    while (Scripted.all.length === index) await vi.advanceTimersByTimeAsync(250);
    waits.push(last().openedAt - dropped);
  }
  expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  last().accept();
  await vi.advanceTimersByTimeAsync(5_000);
  last().drop(1001);
  await vi.advanceTimersByTimeAsync(250);
  expect(Scripted.all.length).toBe(12);
  await stream.return();
});

test('resume: continues after the last event, and drops duplicates', async () => {
  const stream = await streamOf();
  last().accept();
  const event = (seq: number) => ({ seq, data: {} });
  last().say('block_status', event(7));
  last().say('block_status', event(9));
  last().drop(1006);
  await vi.advanceTimersByTimeAsync(250);
  last().accept();
  const subscribe = last().sent.find(({ type }) => type === 'subscribe');
  expect(subscribe).toEqual({
    ...{ type: 'subscribe', topics: ['blocks'], since: { epoch: 'e', seq: 9 } },
  });
  last().say('block_status', event(9));
  last().say('block_status', event(12));
  const seqs = [await stream.next(), await stream.next(), await stream.next()];
  expect(seqs.map(({ value }) => value?.seq)).toEqual([7, 9, 12]);
  await stream.return();
});

test('silence: pings a silent connection, then drops it', async () => {
  const stream = await streamOf();
  const first = last();
  first.accept();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(first.sent.filter(({ type }) => type === 'ping').length).toBe(2);
  first.say('pong', { data: { id: 2 } });
  await vi.advanceTimersByTimeAsync(74_999);
  expect(first.closed).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(first.closed).toBe(true);
  await vi.advanceTimersByTimeAsync(250);
  expect(Scripted.all.length).toBe(2);
  await stream.return();
});

test('silence: drops a server that never responds after 15 s', async () => {
  const stream = await streamOf();
  await vi.advanceTimersByTimeAsync(15_000);
  expect(last().closed).toBe(true);
  await vi.advanceTimersByTimeAsync(250);
  expect(Scripted.all.length).toBe(2);
  // A slow failure is still a failure.
  await vi.advanceTimersByTimeAsync(15_000 + 499);
  expect(Scripted.all.length).toBe(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(Scripted.all.length).toBe(3);
  await stream.return();
  expect([last().closed, vi.getTimerCount()]).toEqual([true, 0]);
});
