/** The page's tape: whatever comes of a run, in whatever pieces and order, is there once. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applySpan, cutSpan, emptyPicture, type Span } from '../../../dist/api/view/index.js';
import { Tape } from '../../../ui/player/past/tape.js';
import { counts } from '../../support/counts.js';
import { lives } from '../../support/lives.js';

const rules = { policy: 'bft', weights: 'equal', participation_bps: 5_000 };
const of = { network_id: 'n', epoch: 'e', ...rules };
/** What a fold of the first entries leads to. */
const folded = (spans: Iterable<Span>, to: number) => {
  const picture = emptyPicture(of);
  for (const span of spans) applySpan(picture, span, Math.min(to, span.to));
  const { digest, log_digest, at, ...rest } = picture;
  return rest;
};
const entriesOf = ({ from, rows }: Span) => new Set([...rows.entry].map((entry) => from + entry));

test('tape: pieces that overlap come out as the whole', () => {
  const pieces = fc.array(fc.tuple(fc.nat(500), fc.nat(500)), { maxLength: 30 });
  const property = fc.property(lives, pieces, (whole, cuts) => {
    const tape = new Tape();
    const { to } = whole;
    for (const [one, other] of [...cuts, [0, to] as const]) {
      const [a, b] = [one % (to + 1), other % (to + 1)];
      tape.add(cutSpan(whole, Math.min(a, b), Math.max(a, b)), 0);
    }
    expect(tape.reach(0)).toBe(to);
    expect(folded(tape.between(0, to), to)).toEqual(folded([whole], to));
    expect(tape.rows).toBe(whole.rows.entry.length);
    const entries = [...entriesOf(whole)];
    for (const from of [0, Math.floor(to / 2), to]) {
      expect(tape.next(from)).toBe(entries.find((entry) => entry > from) ?? null);
      expect(tape.previous(from)).toBe(entries.findLast((entry) => entry < from) ?? null);
    }
  });
  fc.assert(property, { numRuns: counts.spans });
});

test('tape: what is not here is not skipped', () => {
  const property = fc.property(lives, fc.nat(500), fc.nat(500), (whole, one, other) => {
    const { to } = whole;
    const [a, b] = [one % (to + 1), other % (to + 1)].sort((x, y) => x - y) as [number, number];
    if (b - a < 2) return;
    const tape = new Tape();
    if (a > 0) tape.add(cutSpan(whole, 0, a - 1), 0);
    tape.add(cutSpan(whole, b, to), 0);
    expect(tape.reach(0)).toBe(a - 1);
    const next = tape.next(0);
    expect(next === null || next < a).toBe(true);
    const previous = tape.previous(to);
    expect(previous === null || previous >= b).toBe(true);
  });
  fc.assert(property, { numRuns: counts.spans });
});
