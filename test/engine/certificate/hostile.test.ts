/**
 * Certificates with recomputed digests and arbitrary values. The check refuses and never throws.
 */
import fc from 'fast-check';
import { checkCertificate } from 'folkmoot';
import { expect, test } from 'vitest';
import { counts, heavy } from '../../support/counts.js';
import { forged, linksOf } from './chain.js';
import { changedByte, changedText, textsOf } from './hostile.js';
import { three } from './town.js';

const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
/** Unexpected values, as JSON. */
const odd = [
  ...['null', 'true', '-1', '0.5', '1e308', '9007199254740992', '""', '"x"', '[]', '{}', '[null]'],
  ...['{"toString":1,"valueOf":1}', '{"__proto__":1}', '{"length":3}', '[[0,0],[0,0]]', deep],
];

/** Finds values in a JSON text. */
const values = (text: string) =>
  Array.from(
    text.matchAll(/(?<=[:,[])(?:"[^"\\]{0,80}"|-?\d+|true|false|null|\{\}|\[\])(?=[,\]}])/g),
  );

test('checkCertificate: does not throw for any value inside any string member', async () => {
  const { text, vetoed } = await three();
  const wholes = [text, vetoed];
  const pick = fc.nat();
  await fc.assert(
    fc.property(fc.nat(1), pick, pick, fc.constantFrom(...odd), (one, where, which, value) => {
      let changed = false;
      const other = forged(wholes[one]!, (certificate) => {
        const texts = textsOf(certificate);
        const [of, name] = texts[where % texts.length]!;
        const before = String(of[name]);
        const found = values(before);
        if (found.length === 0) return;
        const { 0: old, index } = found[which % found.length]!;
        of[name] = before.slice(0, index) + value + before.slice(index + old.length);
        changed = true;
      });
      fc.pre(changed);
      const checked = checkCertificate(other);
      if (!checked.holds) expect(checked.problem.length).toBeGreaterThan(5);
    }),
    { numRuns: counts.forgedMembers / 4 },
  );
});

test.each([
  'blocks',
  'electorates',
  'votes',
  'agents',
])('checkCertificate: does not throw for an invalid record of %s', async (table) => {
  const { text, vetoed } = await three();
  for (const one of [text, vetoed]) {
    for (const value of odd) {
      const other = forged(one, (certificate) => {
        for (const link of linksOf(certificate)) {
          link.results = link.results.map((result) => {
            const [, key] = new RegExp(`^\\["${table}",(\\[[^\\]]*\\]|[^,]*),`).exec(result) ?? [];
            return key === undefined ? result : `["${table}",${key},${value}]`;
          });
        }
      });
      const checked = checkCertificate(other);
      if (!checked.holds) expect(checked.problem.length).toBeGreaterThan(5);
      if (table !== 'agents') expect([value, checked.holds]).toEqual([value, false]);
    }
  }
});

test('checkCertificate: handles many entries, and many results of one entry', heavy, async () => {
  const { text } = await three();
  const log_digest = 'ab'.repeat(32);
  const many = forged(text, ({ spans: [span] }) => {
    for (let more = 0; more < 130_000; more += 1) span!.links.push({ log_digest, results: [] });
  });
  const idle = forged(text, ({ spans: [span] }) => {
    span!.links.at(-1)!.results.push(...Array.from({ length: 100_000 }, () => ''));
    for (let more = 0; more < 200_000; more += 1) span!.links.at(-1)!.results.push('');
  });
  expect(() => checkCertificate(idle)).not.toThrow();
  expect(checkCertificate(many, { mostBytes: 64 * 1_048_576 })).toMatchObject({ holds: true });
  for (const one of [many, idle]) {
    expect(checkCertificate(one, { mostBytes: 1_000 })).toMatchObject({ holds: false });
  }
});

test('checkCertificate: refuses any changed byte', async () => {
  const texts = Object.values(await three());
  const seed = Date.now() % 1e9;
  for (let index = 0; index < counts.forgedBytes; index += 1) {
    const checked = checkCertificate(changedByte(texts[index % texts.length]!, seed + index));
    if (checked.holds) throw new Error(`seed ${seed + index}: a changed byte is not noticed`);
  }
});

test('checkCertificate: an accepted changed character does not change the proof', async () => {
  const texts = Object.values(await three());
  const wholes = texts.map((text) => checkCertificate(text));
  const seed = Date.now() % 1e9;
  let harmless = 0;
  for (let index = 0; index < counts.forgedBytes; index += 1) {
    const text = texts[index % texts.length]!;
    const checked = checkCertificate(changedText(text, seed + index));
    if (!checked.holds) continue;
    harmless += 1;
    const whole = wholes[index % texts.length]!;
    if (!whole.holds) throw new Error(whole.problem);
    const { votes, claim, proves, genesis, proposal } = whole;
    expect(checked, `seed ${seed + index}`).toMatchObject({ claim, proves, proposal });
    // Only a trusted digest binds weights and data that the decision does not need.
    expect(checked.votes.map(({ public_key }) => public_key)).toEqual(
      votes.map(({ public_key }) => public_key),
    );
    expect(checked.genesis).toMatchObject({ policy: genesis.policy, weights: genesis.weights });
  }
  expect(harmless).toBeLessThan(counts.forgedBytes);
});
