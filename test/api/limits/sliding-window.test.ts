/** Sliding windows of one pool, compared at random edges with a model that keeps every use. */
import { SlidingWindow, WindowPool } from '../../../api/limits/sliding-window.js';
import { fc, forAll } from '../../support/property.js';

/** `of`: which of the two windows. */
type Step = { of: number } & (
  | { do: 'use'; amount: number }
  | { do: 'wait'; ms: number }
  | { do: 'giveBack'; which: number }
  | { do: 'reopen' }
);

const of = fc.nat(1);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ of, do: fc.constant('use' as const), amount: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ of, do: fc.constant('wait' as const), ms: fc.integer({ min: -3, max: 40 }) }),
  fc.record({ of, do: fc.constant('giveBack' as const), which: fc.nat(20) }),
  fc.record({ of, do: fc.constant('reopen' as const) }),
);

/** Model by definition: all uses within the window. */
class Model {
  uses: { at: number; amount: number }[] = [];
  constructor(readonly windowMs: number) {}
  live = (now: number) => this.uses.filter(({ at }) => at > now - this.windowMs);
  total = (now: number) => this.live(now).reduce((sum, { amount }) => sum + amount, 0);
}

test.each([1, 7])('sliding window: equals its definition with slots of %i ms', (slotMs) => {
  forAll(
    [fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 60 })],
    { numRuns: 300 },
    (steps, ms) => {
      // A pool with room for two full windows, so that a slot that is not freed fails the test.
      const pool = new WindowPool(2, 2 * (ms + 1));
      const begin = () => ({ window: new SlidingWindow(pool, ms, slotMs), model: new Model(ms) });
      const both = [begin(), begin()];
      let now = 1_000_000;
      for (const one of steps) {
        if (one.do === 'wait') now += one.ms;
        if (one.do === 'reopen') {
          both[one.of]!.window.close();
          both[one.of] = begin();
        }
        const { window, model } = both[one.of]!;
        window.forget(now);
        model.uses = model.live(now);
        if (one.do === 'use') {
          // A use counts at the end of its slot. Time that goes back counts as the latest time.
          const at = Math.max(model.uses.at(-1)?.at ?? 0, Math.ceil(now / slotMs) * slotMs);
          expect(window.use(now, one.amount)).toBe(at);
          model.uses.push({ at, amount: one.amount });
        }
        const given = model.uses[one.do === 'giveBack' ? one.which : -1];
        if (given) {
          window.refund(given.at, given.amount);
          model.uses.splice(model.uses.indexOf(given), 1);
        }
        for (const each of both) {
          each.window.forget(now);
          each.model.uses = each.model.live(now);
          expect(each.window.total).toBe(each.model.total(now));
          expect(each.window.oldest).toBe(each.model.live(now)[0]?.at ?? null);
        }
      }
    },
  );
});

test('sliding window: predicts exactly when enough is free', () => {
  forAll(
    [
      fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 1, max: 5 })), {
        maxLength: 40,
      }),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 20 }),
    ],
    { numRuns: 200 },
    (uses, windowMs, quota) => {
      const window = new SlidingWindow(new WindowPool(1, 64), windowMs);
      let now = 0;
      for (const [wait, amount] of uses) {
        now += wait;
        window.forget(now);
        if (window.total + amount <= quota) window.use(now, amount);
      }
      window.forget(now);
      for (let amount = 1; amount <= quota; amount += 1) {
        const at = window.freeAt(amount, quota, now);
        // Replays the same history up to just before that time, and up to that time.
        const replay = (until: number) => {
          const copy = new SlidingWindow(new WindowPool(1, 64), windowMs);
          let then = 0;
          for (const [wait, used] of uses) {
            then += wait;
            copy.forget(then);
            if (copy.total + used <= quota) copy.use(then, used);
          }
          copy.forget(until);
          return copy.total + amount <= quota;
        };
        expect(replay(at)).toBe(true);
        if (at > now) expect(replay(at - 1)).toBe(false);
      }
    },
  );
});

test('sliding window: counts in steps of 1/64 beyond 64 uses, and never forgets early', () => {
  const windowMs = 60_000;
  forAll(
    [fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 1_500 })],
    { numRuns: 100 },
    (waits) => {
      // 64 exact slots, 64 coarse slots, and one at each end.
      const window = new SlidingWindow(new WindowPool(1, 130), windowMs);
      const [exact, late] = [new Model(windowMs), new Model(windowMs * (1 + 1 / 32))];
      let now = 1_000_000;
      for (const wait of waits) {
        now += wait;
        window.forget(now);
        window.use(now);
        for (const model of [exact, late]) model.uses.push({ at: now, amount: 1 });
      }
      window.forget(now);
      expect(window.total).toBeGreaterThanOrEqual(exact.total(now));
      expect(window.total).toBeLessThanOrEqual(late.total(now));
    },
  );
});
