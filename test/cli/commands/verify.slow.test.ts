/** `folkmoot verify`: published vectors, with one verdict per line, equal across all verifiers. */
import { readVectors } from '../../engine/crypto/verifiers.js';
import { folkmoot } from '../../support/cli.js';
import { linesOf } from '../../support/runs.js';

interface Job {
  public_key: string;
  message: string;
  signature: string;
}
interface Checked {
  valid: boolean;
  error?: string;
}
type Rfc8032 = { pub: string; msg: string; sig: string }[];
interface Wycheproof {
  testGroups: {
    publicKey: { pk: string };
    tests: { msg: string; sig: string; result: string }[];
  }[];
}

const kinds = ['pool', 'inline', 'reference'] as const;
/** Lines with their expected verdicts: vectors, then malformed lines. */
let lines: string[];
let expected: (boolean | 'error')[];
let good: Job;

async function verify(input: string, kind: string): Promise<Checked[]> {
  const { code, stdout, stderr } = await folkmoot(['verify', '--verifier', kind], { input });
  expect([code, stderr]).toEqual([0, '']);
  return linesOf(stdout).map((line) => JSON.parse(line) as Checked);
}

beforeAll(async () => {
  const rfc = await readVectors<Rfc8032>('rfc8032_ed25519.json');
  const { testGroups } = await readVectors<Wycheproof>('wycheproof_ed25519_test.json');
  const valid = rfc.map(({ pub, msg, sig }) => ({ job: jobOf(pub, msg, sig), valid: true }));
  const others = testGroups.flatMap(({ publicKey, tests }) =>
    tests.map(({ msg, sig, result }) => ({
      job: jobOf(publicKey.pk, msg, sig),
      valid: sig.length === 128 ? result === 'valid' : ('error' as const),
    })),
  );
  good = valid[0]!.job;
  const malformed = [
    ...['', ' ', 'x', 'null', '5', '"text"', '[]', '{}', '{"public_key":'],
    JSON.stringify({ ...good, public_key: good.public_key.slice(2) }),
    JSON.stringify({ ...good, public_key: 5 }),
    JSON.stringify({ ...good, message: '0' }),
    JSON.stringify({ ...good, message: undefined }),
    JSON.stringify({ ...good, signature: `0x${good.signature.slice(2)}` }),
    JSON.stringify({ ...good, signature: `${good.signature}00` }),
  ];
  const all = [
    ...[...valid, ...others].map((one) => ({ ...one, line: JSON.stringify(one.job) })),
    ...malformed.map((line) => ({ line, valid: 'error' as const })),
    { line: JSON.stringify(good), valid: true },
  ];
  lines = all.map(({ line }) => line);
  expected = all.map((one) => one.valid);
});

function jobOf(public_key: string, message: string, signature: string): Job {
  return { public_key, message, signature };
}

describe.each(kinds)('verify --verifier %s', (kind) => {
  test('verify: prints a verdict for every vector and malformed line, in order', async () => {
    const verdicts = await verify(`${lines.join('\n')}\n`, kind);
    expect(verdicts).toHaveLength(lines.length);
    for (const [index, verdict] of verdicts.entries()) {
      const wanted = expected[index]!;
      const error = { valid: false, error: expect.stringMatching(/.{5,}/) };
      expect(verdict, lines[index]!).toEqual(wanted === 'error' ? error : { valid: wanted });
    }
  });

  test('verify: keeps order and number of many lines', async () => {
    // The lines fill more than one batch, in a pattern that no shift maps onto itself.
    const count = kind === 'reference' ? 300 : 9_000;
    const isGood = (index: number) => ((index * index) % 7) + (index % 3) !== 2;
    const bad = { ...good, message: 'ff' };
    const many = Array.from({ length: count }, (_, index) => (isGood(index) ? good : bad));
    const verdicts = await verify(many.map((job) => JSON.stringify(job)).join('\n'), kind);
    expect(verdicts.map(({ valid }) => valid)).toEqual(many.map((_, index) => isGood(index)));
  });
});

test('verify: all verifiers print the same bytes', async () => {
  const input = lines.join('\n');
  const printed = await Promise.all(
    kinds.map(async (kind) => (await folkmoot(['verify', '--verifier', kind], { input })).stdout),
  );
  expect(new Set(printed).size).toBe(1);
});

test('verify: accepts upper-case hex, CRLF and unknown members', async () => {
  const upper = jobOf(good.public_key.toUpperCase(), good.message, good.signature.toUpperCase());
  const input = [upper, { ...good, note: 'a note' }].map((job) => JSON.stringify(job)).join('\r\n');
  expect(await verify(`${input}\r\n`, 'inline')).toEqual([{ valid: true }, { valid: true }]);
});

test('verify: splits lines at line feeds only', async () => {
  const texts = ['a\u2028b', 'a\u2029b', 'a\u0085b'];
  const input = texts.map((note) => `${JSON.stringify({ ...good, note })}\n`).join('');
  expect(await verify(input, 'inline')).toEqual(texts.map(() => ({ valid: true })));
});

test('verify: prints nothing for empty input', async () => {
  expect(await verify('', 'pool')).toEqual([]);
});
