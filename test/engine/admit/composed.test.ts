/**
 * Admission of composed requests gives the same result as admission of their bytes, for any values
 * in a script.
 */
import fc from 'fast-check';
import {
  composeAllianceLeave,
  composeAlliancePropose,
  composeAllianceRespond,
  composeDiscuss,
  composeMeme,
  composeProposal,
  composeRegister,
  composeStatus,
  composeVote,
  type SignedRequest,
} from 'folkmoot';
import { admit } from 'folkmoot/testing';
import { expect, test } from 'vitest';
import { agent, hash, key, meme, signature, timestamp } from './admission.js';

const by = { publicKey: key, sign: () => signature, unsigned: signature };

/** Texts around the limit of the fast encoder. */
const long = fc.integer({ min: 0, max: 2_100 }).map((length) => 'a'.repeat(length));
const many = fc.integer({ min: 0, max: 700 }).map((length) => Array<string>(length).fill(''));

/** Values that an untyped script can pass, half of them valid. */
const odd = fc.oneof(
  fc.constantFrom(hash, hash.toUpperCase(), agent, meme, 'approve', 'neutral', 'active', 'PT1H'),
  fc.constantFrom<unknown>(timestamp, '2025-02-30T00:00:00.000Z', true, false, undefined, null, 7),
  fc.constantFrom<unknown>('\ud800', '\u0000', '"\\\n', '🎉', 'a'.repeat(2_000), Number.NaN),
  fc.constantFrom<unknown>({ toJSON: () => 'hm' }, new String('hm'), new Date(0), ['\udc00']),
  fc.array(fc.oneof(fc.string(), fc.constantFrom<unknown>(agent, meme, 'validator', null, 7))),
  fc.string({ unit: 'binary' }),
  long,
  many,
  fc.json().map((text) => JSON.parse(text) as unknown),
);

const strange = ['more', '7', 'a"b', '__proto__', 'constructor'];

/** Generates members for a request kind: some valid, some odd, some unknown. */
const like = (good: Record<string, unknown>) =>
  fc
    .tuple(fc.array(fc.tuple(fc.constantFrom(...Object.keys(good), ...strange), odd)), fc.boolean())
    .map(([changes, any]) => ({ ...good, ...(any ? Object.fromEntries(changes) : {}) }) as never);

const text = fc.oneof(fc.constant(timestamp), fc.string());
const id = fc.oneof(fc.constantFrom(agent, `ally_${'0'.repeat(32)}`), fc.string());
const file = new TextEncoder().encode('gm');
const about = { block_hash: hash, meme_references: [meme] };
const fields = {
  register: like({ personality: 'lawful', name: 'Ada', capabilities: ['validator'] }),
  status: like({ status: 'inactive', reason: 'tired', expected_duration: 'PT1H' }),
  vote: like({ ...about, decision: 'approve', reason: 'sound' }),
  propose: like({ parent_hash: hash, transactions: [] }),
  meme: like({ caption: 'gm', tags: ['a'] }),
  discuss: like({ ...about, message: 'hm', sentiment: 'neutral' }),
  found: like({ target_ids: [agent], purpose: 'win', duration: 'PT1H' }),
};

const request: fc.Arbitrary<SignedRequest> = fc.oneof(
  fc.tuple(text, fields.register).map(([at, body]) => composeRegister(by, at, body)),
  fc.tuple(text, id, fields.status).map(([at, of, body]) => composeStatus(by, at, of, body)),
  fc.tuple(text, fields.vote).map(([at, body]) => composeVote(by, at, body)),
  fc.tuple(text, fields.propose).map(([at, body]) => composeProposal(by, at, body)),
  fc
    .tuple(text, fields.meme)
    .map(([at, { caption, tags }]) => composeMeme(by, at, { caption, tags, file })),
  fc.tuple(text, fields.discuss).map(([at, body]) => composeDiscuss(by, at, body)),
  fc.tuple(text, fields.found).map(([at, body]) => composeAlliancePropose(by, at, body)),
  fc
    .tuple(text, id, fc.oneof(fc.boolean(), odd))
    .map(([at, of, said]) => composeAllianceRespond(by, at, of, said as boolean)),
  fc.tuple(text, id).map(([at, of]) => composeAllianceLeave(by, at, of)),
);

/** Formats the admission result as text, which shows the order of members. */
function said(one: SignedRequest): string {
  const admission = admit(one, 'demo');
  if ('refusal' in admission) return JSON.stringify(admission);
  const { command, raw, signedAt, signature: signed } = admission;
  return JSON.stringify([command, raw, signedAt, signed, admission.inputSha256()]);
}

test('admission: treats a composed request like a copy parsed from its bytes', () => {
  const property = fc.property(request, (one) => {
    expect(said(one)).toBe(said({ ...one, body: Uint8Array.from(one.body) }));
    const text = Buffer.from(one.body).toString();
    expect(text).toBe(JSON.stringify(JSON.parse(text)));
  });
  fc.assert(property, { numRuns: 3_000 });
});

test('admission: ignores later changes of composed values and parses a replaced body', () => {
  const meme_references = [meme];
  const vote = { block_hash: hash, decision: 'approve', meme_references } as const;
  const one = composeVote(by, timestamp, vote);
  const before = said(one);
  meme_references.push('no meme');
  expect(said(one)).toBe(before);
  const other = composeVote(by, timestamp, { ...vote, meme_references: [], decision: 'reject' });
  const expected = said(other);
  one.body = other.body;
  expect(said(one)).toBe(expected);
});
