/**
 * Certificates with recomputed digests and arbitrary values. The check refuses and never throws.
 */

import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { canonical, checkCertificate } from 'folkmoot';
import { certificateJsonSchema } from '../../../dist/engine/certificate/format.js';
import { counts, heavy } from '../../support/counts.js';
import { bases, forgedText, forgeries, otherWeight, valid } from './forgeries.js';
import { changedByte, changedText, textsOf } from './hostile.js';
import { type Forged, forged, linksOf } from './town.js';

const three = async () => {
  const { text, vetoed, apart } = await bases();
  return [text, vetoed, apart];
};

const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
/** Unexpected values, as JSON. */
const odd = [
  ...['null', 'true', '-1', '0.5', '1e308', '9007199254740992', '""', '"x"', '[]', '{}', '[null]'],
  ...['{"toString":1,"valueOf":1}', '{"__proto__":1}', '{"length":3}', '[[0,0],[0,0]]', deep],
];

const values = (text: string) =>
  Array.from(
    text.matchAll(/(?<=[:,[])(?:"[^"\\]{0,80}"|-?\d+|true|false|null|\{\}|\[\])(?=[,\]}])/g),
  );

test('checkCertificate: does not throw for any value inside any string member', async () => {
  const { text, vetoed } = await bases();
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
  ...['blocks', 'electorates', 'votes', 'agents'],
])('checkCertificate: does not throw for an invalid record of %s', async (table) => {
  const { text, vetoed } = await bases();
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
  const { text } = await bases();
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
  const texts = await three();
  const seed = Date.now() % 1e9;
  for (let index = 0; index < counts.forgedBytes; index += 1) {
    const checked = checkCertificate(changedByte(texts[index % texts.length]!, seed + index));
    if (checked.holds) throw new Error(`seed ${seed + index}: a changed byte is not noticed`);
  }
});

test('checkCertificate: an accepted changed character does not change the proof', async () => {
  const texts = await three();
  const wholes = texts.map((text) => checkCertificate(text));
  const seed = Date.now() % 1e9;
  let harmless = 0;
  for (let index = 0; index < counts.forgedBytes; index += 1) {
    const checked = checkCertificate(changedText(texts[index % texts.length]!, seed + index));
    if (!checked.holds) continue;
    harmless += 1;
    const whole = wholes[index % texts.length]!;
    if (!whole.holds) throw new Error(whole.problem);
    const { votes, claim, proves, genesis, proposal } = whole;
    expect(checked, `seed ${seed + index}`).toMatchObject({ claim, proves, proposal });
    // Only a trusted digest binds weights and data that the decision does not need.
    expect(checked.votes.map((v) => v.public_key)).toEqual(votes.map((v) => v.public_key));
    expect(checked.genesis).toMatchObject({ policy: genesis.policy, weights: genesis.weights });
  }
  expect(harmless).toBeLessThan(counts.forgedBytes);
});

// ---- Changed certificates: any bit changed, any member changed, and wrong encodings.

function problemOf(certificate: string | Uint8Array): string {
  const checked = checkCertificate(certificate);
  return checked.holds ? 'holds' : checked.code;
}

/** Yields all members, with their containers. */
function* places(value: unknown): Iterable<{ of: Record<string, unknown>; name: string }> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    yield { of: value as Record<string, unknown>, name };
    yield* places(member);
  }
}

test('checkCertificate: refuses any removed, duplicated or changed member', async () => {
  const texts = await three();
  const changes: ((of: Record<string, unknown>, name: string) => void)[] = [
    (of, name) => {
      if (Array.isArray(of)) of.splice(Number(name), 1);
      else delete of[name];
    },
    (of, name) => {
      if (Array.isArray(of)) of.splice(Number(name), 0, of[Number(name)]);
      else of[`${name}x`] = of[name];
    },
    (of, name) => {
      of[name] = typeof of[name] === 'number' ? Number(of[name]) + 1 : `${String(of[name])} `;
    },
    (of, name) => {
      of[name] = null;
    },
  ];
  fc.assert(
    fc.property(fc.nat(2), fc.nat(), fc.nat(3), (which, place, how) => {
      const certificate = JSON.parse(texts[which]!) as Forged;
      const all = [...places(certificate)];
      const { of, name } = all[place % all.length]!;
      changes[how]!(of, name);
      const found = problemOf(`${canonical(certificate)}\n`);
      if (found === 'holds') throw new Error(`${how} of ${name} changes nothing`);
    }),
    { numRuns: counts.forgedMembers },
  );
});

test('checkCertificate: gives a pointer to the invalid link', async () => {
  const { text } = await bases();
  const certificate = JSON.parse(text) as Forged;
  const { links } = certificate.spans[0]!;
  const place = links.findLastIndex(({ entry }) => entry);
  links[place]!.log_digest = '0'.repeat(64);
  const where = `/spans/0/links/${place}/log_digest`;
  expect(checkCertificate(`${canonical(certificate)}\n`)).toMatchObject({ holds: false, where });
});

test('checkCertificate: refuses too many bytes, invalid UTF-8 and other encodings', async () => {
  const { text } = await bases();
  expect(checkCertificate(text, { mostBytes: 100 })).toMatchObject({ code: 'TOO_LARGE' });
  expect(checkCertificate(text, { mostBytes: Buffer.byteLength(text) }).holds).toBe(true);
  expect(problemOf(Buffer.from([0x22, 0xff, 0x22]))).toBe('BAD_JSON');
  for (const other of [text.trimEnd(), ` ${text}`, text.replace('"format"', '"\\u0066ormat"')]) {
    expect(problemOf(other)).toBe('NOT_CANONICAL_LINE');
  }
  expect([problemOf(''), problemOf('[]\n')]).toEqual(['BAD_JSON', 'NOT_AN_OBJECT']);
  expect(problemOf(`${'['.repeat(50_000)}\n`)).toBe('BAD_JSON');
});

test('certificate schema: agrees with checkCertificate about the shape of members', async () => {
  const { apart, ...rest } = await bases();
  const isValid = new Ajv2020({ strict: true }).compile(certificateJsonSchema());
  for (const one of [apart, ...Object.values(rest)]) expect(isValid(JSON.parse(one))).toBe(true);
  const shapeCodes = [
    ...['NOT_AN_INTEGER', 'NOT_AN_OBJECT', 'NOT_AN_ARRAY', 'NOT_A_STRING', 'NOT_ONE_OF'],
    ...['NO_MATCH', 'ITEM_COUNT', 'MEMBER_MISSING', 'MEMBER_UNKNOWN'],
  ];
  fc.assert(
    fc.property(fc.nat(), fc.constantFrom(null, -1, 1.5, '', 'x', [], {}), (place, other) => {
      const certificate = JSON.parse(apart) as Forged;
      const all = [...places(certificate)];
      const { of, name } = all[place % all.length]!;
      of[name] = other;
      const isRefused = shapeCodes.includes(problemOf(`${canonical(certificate)}\n`));
      if (isRefused === isValid(certificate)) throw new Error(`${name} = ${JSON.stringify(other)}`);
    }),
    { numRuns: counts.forgedMembers },
  );
});

// ---- Forged certificates with recomputed digests. Each is refused because of its change.

function resultOf(certificate: string): string {
  const checked = checkCertificate(certificate);
  return checked.holds ? 'holds' : checked.code;
}

test('checkCertificate: accepts every valid certificate of the shared set', async () => {
  for (const text of await valid()) expect(resultOf(text)).toBe('holds');
});

test.each(forgeries)('checkCertificate: refuses %s', async (...forgery) => {
  const [, , code] = forgery;
  expect(resultOf(await forgedText(forgery))).toBe(code);
});

test('checkCertificate: detects another electorate only with a trusted digest', async () => {
  const { text } = await bases();
  const checked = checkCertificate(text);
  if (!checked.holds) throw new Error(checked.problem);
  const other = forged(text, otherWeight);
  expect(resultOf(other)).toBe('holds');
  const { last: seq, digest } = checked.spans.at(-1)!;
  const trusted = [{ seq, digest }];
  expect(checkCertificate(text, { trusted }).holds).toBe(true);
  expect(checkCertificate(other, { trusted }).holds).toBe(false);
});
