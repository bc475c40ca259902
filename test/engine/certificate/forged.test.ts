/** Certificates that were changed: any bit, any member, and what is refused at the door. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { canonical, checkCertificate } from 'folkmoot';
import { expect, test } from 'vitest';
import { certificateJsonSchema } from '../../../dist/engine/certificate/format.js';
import { counts } from '../../support/counts.js';
import { type Forged, forged } from './chain.js';
import { three } from './town.js';

/** What is wrong with it. */
function problemOf(certificate: string | Uint8Array): string {
  const checked = checkCertificate(certificate);
  return checked.holds ? 'holds' : checked.problem;
}

test('certificates: of the tests below, all hold', async () => {
  // Made anew without a change, it is the same.
  for (const one of Object.values(await three())) {
    expect(problemOf(one)).toBe('holds');
    expect(forged(one, () => {})).toBe(one);
  }
});

test('forged: any bit of any byte', async () => {
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

/** Every value inside, with what it is in. */
function* places(value: unknown): Iterable<{ of: Record<string, unknown>; name: string }> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    yield { of: value as Record<string, unknown>, name };
    yield* places(member);
  }
}

test('forged: any member taken away, doubled or made another', async () => {
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

test('forged: a problem names the link that has it', async () => {
  const { text } = await three();
  const certificate = JSON.parse(text) as Forged;
  const { links } = certificate.spans[0]!;
  const place = links.findLastIndex(({ entry }) => entry);
  links[place]!.log_digest = '0'.repeat(64);
  const where = `/spans/0/links/${place}/log_digest`;
  expect(checkCertificate(`${canonical(certificate)}\n`)).toMatchObject({ holds: false, where });
});

test('refused at the door: too large, not UTF-8, other ways to write it', async () => {
  const { text } = await three();
  expect(checkCertificate(text, { mostBytes: 100 })).toMatchObject({
    problem: expect.stringContaining('at most 100 are read'),
  });
  expect(checkCertificate(text, { mostBytes: Buffer.byteLength(text) }).holds).toBe(true);
  expect(problemOf(Buffer.from([0x22, 0xff, 0x22]))).toContain('UTF-8');
  for (const other of [text.trimEnd(), ` ${text}`, text.replace('"format"', '"\\u0066ormat"')]) {
    expect(problemOf(other)).toContain('canonical JSON');
  }
  expect(problemOf('')).toContain('not JSON');
  expect(problemOf('[]\n')).toContain('expected an object');
  expect(problemOf(`${'['.repeat(50_000)}\n`)).toMatch(/JSON/);
});

test('schema: ajv refuses the members that the checker refuses by their shape', async () => {
  const { apart, ...rest } = await three();
  const isValid = new Ajv2020({ strict: true }).compile(certificateJsonSchema());
  for (const one of [apart, ...Object.values(rest)]) expect(isValid(JSON.parse(one))).toBe(true);
  const byShape = /^(expected|has no member|is a member that|does not match)/;
  fc.assert(
    fc.property(fc.nat(), fc.constantFrom(null, -1, 1.5, '', 'x', [], {}), (place, other) => {
      const certificate = JSON.parse(apart) as Forged;
      const all = [...places(certificate)];
      const { of, name } = all[place % all.length]!;
      of[name] = other;
      const isRefused = byShape.test(problemOf(`${canonical(certificate)}\n`));
      if (isRefused === isValid(certificate)) throw new Error(`${name} = ${JSON.stringify(other)}`);
    }),
    { numRuns: counts.forgedMembers },
  );
});
