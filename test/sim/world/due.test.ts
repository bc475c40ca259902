/** Due events are returned in order, for any order of insertion and removal. */
import fc from 'fast-check';
import { DueQueue } from '../../../dist/sim/world/due-queue.js';

interface Due {
  at: number;
  from: number;
  number: number;
}

/** Most times are whole milliseconds, and most ordinals below the limit of a sort key. */
const items = fc.array(
  fc.record({
    at: fc.oneof(
      { arbitrary: fc.nat(400), weight: 200 },
      { arbitrary: fc.nat(1_600).map((at) => at / 4), weight: 1 },
    ),
    from: fc.oneof(
      { arbitrary: fc.nat(3), weight: 200 },
      { arbitrary: fc.constant(2 ** 20), weight: 1 },
    ),
  }),
  { maxLength: 200 },
);

/** Takes the next item before `end`, and checks that the queue copied all of its members. */
function takeBefore(queue: DueQueue<Due>, end: number): Due | undefined {
  if (!queue.takeBefore(end)) return undefined;
  const { at, from, number, since, item } = queue;
  expect({ at, from, number, since }).toEqual({ ...item, since: -item!.number });
  return item!;
}

test('due: orders by instant, agent and number, with interleaved insertion and removal', () => {
  const property = fc.property(items, fc.array(fc.nat(400)), (wanted, ends) => {
    const queue = new DueQueue<Due>();
    const left: Due[] = [];
    const order = (a: Due, b: Due) => a.at - b.at || a.from - b.from || a.number - b.number;
    for (const [number, { at, from }] of wanted.entries()) {
      const item = { at, from, number };
      queue.push(at, from, number, -number, item);
      left.push(item);
      const end = ends[number] ?? 0;
      left.sort(order);
      expect(queue.nextAt).toBe(left[0]!.at);
      const expected = left[0]!.at < end ? left.shift() : undefined;
      expect(takeBefore(queue, end)).toBe(expected);
    }
    expect(left.map(() => takeBefore(queue, Number.POSITIVE_INFINITY))).toEqual(left);
    expect(queue.nextAt).toBe(Number.POSITIVE_INFINITY);
  });
  fc.assert(property);
});

test('due: grows beyond its initial capacity', () => {
  const queue = new DueQueue<number>();
  for (let number = 5_000; number > 0; number -= 1) queue.push(number % 970, 0, number, 0, number);
  let last = -1;
  for (let taken = 0; taken < 5_000; taken += 1) {
    expect(queue.takeBefore(1_000)).toBe(true);
    expect(queue.at >= last).toBe(true);
    last = queue.at;
  }
  expect(queue.takeBefore(1_000)).toBe(false);
});
