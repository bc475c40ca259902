/** A load run's board detects readers, and costs nothing without readers. */
import { Board } from '../../../dist/api/load-server.js';
import { toLoadState } from '../../../dist/bench/load/model.js';
import { loadResult } from '../../bench/load/fixture.js';

const shown = toLoadState(loadResult());
const here = new AbortController().signal;
const versionIn = (text: string | null) => JSON.parse(text!).data.version as number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('board: counts a reader as gone after five seconds, until it returns', () => {
  const told: boolean[] = [];
  const board = new Board(shown, (watched) => told.push(watched));
  for (let second = 0; second < 60; second += 1) {
    vi.advanceTimersByTime(1_000);
    board.post(shown);
  }
  expect(told).toEqual([]);
  board.read(null, here);
  for (let second = 0; second < 60; second += 1) {
    vi.advanceTimersByTime(1_000);
    board.post(shown);
  }
  expect(told).toEqual([true, false]);
  board.read(null, here);
  expect(told).toEqual([true, false, true]);
});

test('board: keeps a waiting reader, however rare updates are', async () => {
  const told: boolean[] = [];
  const board = new Board(shown, (watched) => told.push(watched));
  let version = versionIn((await board.read(null, here)) as string);
  for (let turn = 0; turn < 10; turn += 1) {
    const next = board.read(version, here);
    vi.advanceTimersByTime(15_000);
    board.post(shown);
    version = versionIn(await next);
  }
  expect([version, told]).toEqual([11, [true]]);
});

test('board: repeats the same version after twenty seconds without an update', async () => {
  const next = new Board(shown).read(1, here) as Promise<string>;
  vi.advanceTimersByTime(20_000);
  expect(versionIn(await next)).toBe(1);
});

test('board: waits for readers of the last version only for a bounded time', async () => {
  vi.useRealTimers();
  const unread = new Board(shown);
  unread.post(shown, true);
  await unread.seen();
  const board = new Board(shown);
  expect(versionIn((await board.read(null, here)) as string)).toBe(1);
  board.post(shown, true);
  const seen = board.seen();
  // The reader returns for the version posted meanwhile, which is the last version.
  expect(versionIn((await board.read(1, here)) as string)).toBe(2);
  await seen;
  const gone = new Board(shown);
  gone.read(null, here);
  gone.post(shown, true);
  await gone.seen();
});
