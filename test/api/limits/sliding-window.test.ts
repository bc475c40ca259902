/** The sliding window, compared at random edges with a model that keeps every use. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SlidingWindow } from '../../../api/limits/sliding-window.js';

type Step =
  | { do: 'use'; amount: number }
  | { do: 'wait'; ms: number }
  | { do: 'giveBack'; which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('use' as const), amount: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: -3, max: 40 }) }),
  fc.record({ do: fc.constant('giveBack' as const), which: fc.nat(20) }),
);

/** Model by definition: all uses within the window. */
class Model {
  uses: { at: number; amount: number }[] = [];
  constructor(readonly windowMs: number) {}
  live = (now: number) => this.uses.filter(({ at }) => at > now - this.windowMs);
  total = (now: number) => this.live(now).reduce((sum, { amount }) => sum + amount, 0);
}

test.each([1, 7])('sliding window: equals its definition with slots of %i ms', (slotMs) => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 200 }),
      fc.integer({ min: 1, max: 60 }),
      (steps, ms) => {
        const window = new SlidingWindow(ms, slotMs);
        const model = new Model(ms);
        let now = 1_000_000;
        let last = 0;
        for (const one of steps) {
          window.forget(now);
          model.uses = model.live(now);
          if (one.do === 'wait') now += one.ms;
          if (one.do === 'use') {
            // A use counts at the end of its slot. Time that goes back counts as the latest time.
            last = Math.max(model.uses.at(-1)?.at ?? 0, Math.ceil(now / slotMs) * slotMs);
            expect(window.use(now, one.amount)).toBe(last);
            model.uses.push({ at: last, amount: one.amount });
          }
          const given = model.uses[one.do === 'giveBack' ? one.which : -1];
          if (given) {
            window.refund(given.at, given.amount);
            model.uses.splice(model.uses.indexOf(given), 1);
          }
          window.forget(now);
          expect(window.total).toBe(model.total(now));
          expect(window.oldest).toBe(model.live(now)[0]?.at ?? null);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('sliding window: predicts exactly when enough is free', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 1, max: 5 })), {
        maxLength: 40,
      }),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 20 }),
      (uses, windowMs, quota) => {
        const window = new SlidingWindow(windowMs);
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
            const copy = new SlidingWindow(windowMs);
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
    ),
    { numRuns: 200 },
  );
});
