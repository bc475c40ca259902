/** Changed certificates: any bit changed, any member changed, and wrong encodings. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { canonical, checkCertificate } from 'folkmoot';
import { expect, test } from 'vitest';
import { certificateJsonSchema } from '../../../dist/engine/certificate/format.js';
import { counts } from '../../support/counts.js';
import { type Forged, forged } from './chain.js';
import { three } from './town.js';

function problemOf(certificate: string | Uint8Array): string {
  const checked = checkCertificate(certificate);
  return checked.holds ? 'holds' : checked.code;
}

test('checkCertificate: accepts the base certificates of these tests', async () => {
  // Re-encoding without a change yields the same text.
  for (const one of Object.values(await three())) {
    expect(problemOf(one)).toBe('holds');
    expect(forged(one, () => {})).toBe(one);
  }
});

test('checkCertificate: refuses any flipped bit', async () => {
  const bytes = Object.values(await three()).map((one) => Buffer.from(one));
  fc.assert(
    fc.property(fc.nat(2), fc.nat(), fc.nat(7), (which, place, bit) => {
      const changed = Buffer.from(bytes[which]!);
      const at = place % changed.length;
      changed[at]! ^= 1 << bit;
      if (problemOf(changed) === 'holds')
        throw new Error(`bit ${bit} of byte ${at} changes nothing`);
    }),
    { numRuns: counts.forgedBytes },
  );
});

/** Yields all members, with their containers. */
function* places(value: unknown): Iterable<{ of: Record<string, unknown>; name: string }> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    yield { of: value as Record<string, unknown>, name };
    yield* places(member);
  }
}

test('checkCertificate: refuses any removed, duplicated or changed member', async () => {
  const texts = Object.values(await three());
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
  const { text } = await three();
  const certificate = JSON.parse(text) as Forged;
  const { links } = certificate.spans[0]!;
  const place = links.findLastIndex(({ entry }) => entry);
  links[place]!.log_digest = '0'.repeat(64);
  const where = `/spans/0/links/${place}/log_digest`;
  expect(checkCertificate(`${canonical(certificate)}\n`)).toMatchObject({ holds: false, where });
});

test('checkCertificate: refuses too many bytes, invalid UTF-8 and other encodings', async () => {
  const { text } = await three();
  expect(checkCertificate(text, { mostBytes: 100 })).toMatchObject({ code: 'TOO_LARGE' });
  expect(checkCertificate(text, { mostBytes: Buffer.byteLength(text) }).holds).toBe(true);
  expect(problemOf(Buffer.from([0x22, 0xff, 0x22]))).toBe('BAD_JSON');
  for (const other of [text.trimEnd(), ` ${text}`, text.replace('"format"', '"\\u0066ormat"')]) {
    expect(problemOf(other)).toBe('NOT_CANONICAL_LINE');
  }
  expect(problemOf('')).toBe('BAD_JSON');
  expect(problemOf('[]\n')).toBe('NOT_AN_OBJECT');
  expect(problemOf(`${'['.repeat(50_000)}\n`)).toBe('BAD_JSON');
});

test('certificate schema: agrees with checkCertificate about the shape of members', async () => {
  const { apart, ...rest } = await three();
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
