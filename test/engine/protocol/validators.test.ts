/** Generated validators behave like ajv with the same schemas. */
import { readFileSync } from 'node:fs';
import { Ajv, type AnySchema } from 'ajv';
import { ajvOptions } from '../../../dist/engine/protocol/bundled/options.js';
import { Genesis, genesisDefaults } from '../../../dist/engine/protocol/schema/genesis.js';
import { unsigned } from '../../../dist/engine/protocol/schema/request.js';
import {
  findBodyProblem,
  findGenesisShapeProblem,
  findProblem,
} from '../../../dist/engine/protocol/schema/validate.js';
import { fc, forAll } from '../../support/property.js';

const hash = 'ab'.repeat(32);
const id = (prefix: string) => `${prefix}_${'0'.repeat(32)}`;
const timestamp = '2026-01-01T00:00:00Z';

/** A valid value for each kind, from which random values are derived. */
const good = {
  register: { public_key: hash, personality: 'lawful', name: 'Ada', capabilities: ['validator'] },
  status: { status: 'active', reason: 'back', expected_duration: 'PT1H' },
  vote: { block_hash: hash, decision: 'approve', meme_references: [id('meme')], timestamp },
  propose: {
    ...{ parent_hash: hash, transactions: [{ hash, data: 'one', sender: hash }] },
    state_diff: { additions: { town: { mood: 1 } }, deletions: { old: null } },
    ...{ meme_content: { type: 'text', content: 'so', tags: ['ünder', 'a_b'] }, timestamp },
  },
  meme: { caption: 'so', content_sha256: hash, tags: ['x', 'ß'] },
  discuss: { block_hash: hash, message: 'no', sentiment: 'negative' },
  alliance_propose: { target_ids: [id('agent')], purpose: 'peace', duration: 'PT5M' },
  alliance_respond: { accepted: true },
  alliance_leave: {},
  genesis: { ...genesisDefaults, network_id: 'town' },
} as const;

type Kind = keyof typeof good;
const kinds = Object.keys(good) as Kind[];

const atBuild = (kind: Kind, value: unknown) =>
  kind === 'genesis' ? findGenesisShapeProblem(value) : findBodyProblem(kind, value);
const ajv = new Ajv(ajvOptions);
const atRun = Object.fromEntries(
  kinds.map((kind) => {
    const schema = kind === 'genesis' ? Genesis : unsigned[kind];
    const validate = ajv.compile(schema as AnySchema);
    return [kind, (value: unknown) => findProblem(validate, schema, value)];
  }),
);

const odd = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1e308, '', 'x', 'é'.repeat(40), '🜁', 'a b', [], {}, hash),
  fc.constantFrom(hash.toUpperCase(), id('agent'), id('meme'), ['validator', 'validator']),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Changes a value at one position, chosen by random numbers modulo the number of members. */
function changed(value: unknown, path: readonly number[], to: unknown, remove: boolean): unknown {
  const [step, ...rest] = path;
  if (typeof value !== 'object' || value === null || step === undefined) return to;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  const names = [...Object.keys(copy), Array.isArray(value) ? `${value.length}` : 'extra'];
  const name = names[step % names.length]!;
  if (remove && rest.length === 0) delete copy[name];
  else copy[name] = changed(copy[name], rest, to, remove);
  return copy;
}

test.each(kinds)('validators: %s: the generated validator and ajv accept a valid value', (kind) => {
  expect([atBuild(kind, good[kind]), atRun[kind]!(good[kind])]).toEqual([null, null]);
});

const places = fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 4 });

test.each(kinds)('validators: %s: reports the problem of ajv', (kind) => {
  const seen = new Set<string>();
  forAll([places, odd, fc.boolean()], { numRuns: 300 }, (path, to, remove) => {
    const value = changed(good[kind], path, to, remove);
    const problem = atBuild(kind, value);
    seen.add(problem?.message ?? 'none');
    expect(problem).toEqual(atRun[kind]!(value));
  });
  // A body that allows any members has only one possible problem.
  expect(seen.size).toBeGreaterThanOrEqual(kind === 'alliance_leave' ? 1 : 3);
});

test('validators: contain no code that compiles at runtime', () => {
  const path = new URL('../../../dist/engine/protocol/bundled/validators.js', import.meta.url);
  expect(readFileSync(path, 'utf8')).not.toMatch(/new Function|\beval\(/);
});
