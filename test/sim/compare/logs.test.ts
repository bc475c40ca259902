/** First difference between two logs: the entry, its actor and the field. */
import { composeRegister, composeVote, type Entry, type LogLine } from 'folkmoot';
import { firstDivergence, firstEventDivergence, jsonDifference } from 'folkmoot/sim';
import { signatoryOf } from '../../support/fixture.js';

const WHEN = '2025-01-01T00:00:00.000Z';
const voter = signatoryOf(1);
const block = 'ab'.repeat(32);

const nothing = { public_key: '', target: '', timestamp: '', signature: '' };
const genesis = { kind: 'genesis', ...nothing, body: Buffer.from('{"network_id":"n"}') } as const;
const tick = { kind: 'tick', ...nothing, body: new Uint8Array() } as const;
const register = composeRegister(voter, WHEN, {
  ...{ name: 'Vera', personality: 'lawful', capabilities: ['validator'] },
});
const vote = (decision: 'approve' | 'reject') =>
  composeVote(voter, WHEN, { block_hash: block, decision });

/** Builds a log: numbered entries, one second apart, with digests derived from the position. */
function linesOf(requests: readonly Omit<Entry, 'seq' | 'at'>[]): LogLine[] {
  return requests.map((request, seq) => {
    const entry: Entry = { ...request, seq, at: 1_000 * seq };
    return { entry, logDigest: `log ${seq}`, digest: `state ${seq}`, file: undefined };
  });
}

const log = linesOf([genesis, register, vote('approve'), tick]);

test('logs: finds no difference between equal logs', () => {
  expect(firstDivergence(log, linesOf([genesis, register, vote('approve'), tick]))).toBe(null);
});

test('logs: names the voter and block of a flipped vote', () => {
  const other = linesOf([genesis, register, vote('reject'), tick]);
  expect(firstDivergence(log, other)).toEqual({
    ...{ seq: 2, kind: 'vote', actor: `Vera (key ${voter.publicKey}) on block ${block}` },
    ...{ path: 'body.decision', a: '"approve"', b: '"reject"' },
  });
});

test('logs: finds a different kind and a different time', () => {
  const ticked = firstDivergence(log, linesOf([genesis, register, tick]));
  expect(ticked).toMatchObject({ seq: 2, path: 'kind', a: '"vote"', b: '"tick"' });
  const late = log.map((line) => ({ ...line, entry: { ...line.entry } }));
  late[3]!.entry.at += 1;
  expect(firstDivergence(log, late)).toMatchObject({
    ...{ seq: 3, kind: 'tick', actor: 'a deadline', path: 'at', a: '3000', b: '3001' },
  });
});

test('logs: finds equal JSON with different bytes', () => {
  const spaced = log.map((line) => ({ ...line, entry: { ...line.entry } }));
  spaced[0]!.entry.body = Buffer.from('{"network_id": "n"}');
  expect(firstDivergence(log, spaced)).toMatchObject({ seq: 0, actor: 'genesis', path: 'text' });
});

test('logs: finds a longer log', () => {
  const shorter = log.slice(0, 3);
  const more = { seq: 3, kind: 'tick', actor: 'a deadline', path: '' };
  expect(firstDivergence(shorter, log)).toEqual({ ...more, a: 'nothing', b: 'entry tick' });
  expect(firstDivergence(log, shorter)).toEqual({ ...more, a: 'entry tick', b: 'nothing' });
});

test('logs: finds different effects of the same entry', () => {
  const other = log.map((line) => ({ ...line }));
  other[2]!.digest = 'another state';
  const found = firstDivergence(log, other);
  expect(found).toMatchObject({ seq: 2, kind: 'vote', path: 'digest', b: '"another state"' });
});

const events = ['voting', 'finalized'].map((status, index) => {
  const event = { seq: index + 1, type: 'block_status', data: { status } };
  return { seq: event.seq, json: JSON.stringify(event) };
});

test('events: finds no difference between equal events', () => {
  expect(firstEventDivergence(events, [...events])).toBe(null);
});

test('events: names the different member', () => {
  const other = events.with(1, { seq: 2, json: events[1]!.json.replace('finalized', 'expired') });
  expect(firstEventDivergence(events, other)).toEqual({
    ...{ seq: 2, type: 'block_status', path: 'data.status', a: '"finalized"', b: '"expired"' },
  });
});

test('events: finds additional events', () => {
  const shorter = events.slice(0, 1);
  expect(firstEventDivergence(shorter, events)).toMatchObject({ seq: 2, a: 'nothing' });
  expect(firstEventDivergence(events, shorter)).toMatchObject({ seq: 2, b: 'nothing' });
});

test.each([
  [{ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }, { path: 'a.1.b', a: '2', b: '3' }],
  [{ a: 1 }, { a: 1, b: null }, { path: 'b', a: 'nothing', b: 'null' }],
  [[1], [1, 2], { path: '1', a: 'nothing', b: '2' }],
  [{}, [], { path: '', a: '{}', b: '[]' }],
  [{ a: { b: [] } }, { a: { b: [] } }, null],
])('json: finds the first difference between %j and %j', (a, b, expected) => {
  expect(jsonDifference(a, b)).toEqual(expected);
});
