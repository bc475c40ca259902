/** The conformance suite: its contents, and its use by other implementations. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Ajv, type AnySchema } from 'ajv';
import { reasons } from 'folkmoot';
import {
  caseNames,
  checkResults,
  type ExpectedLine,
  type InputLine,
  type SuiteFile,
  shippedScenarios,
} from 'folkmoot/sim';
import { ajvOptions } from '../../../dist/engine/protocol/bundled/options.js';
import { refusalMessages } from '../../../dist/engine/protocol/refusals.js';
import { findProblem } from '../../../dist/engine/protocol/schema/validate.js';
import { folkmoot } from '../../support/cli.js';
import { full } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { root } from '../../tidy/sources.js';
import { audited } from './auditor-check.js';

const independent = fileURLToPath(new URL('./independent.mjs', import.meta.url));
const scenarios = shippedScenarios().map(({ name }) => name);
const vectors = caseNames().filter((name) => !scenarios.includes(name));

/** Reasons named in the sources of admission and engine, and that of an invalid signature. */
function possibleReasons(): string[] {
  const root = fileURLToPath(new URL('../../../engine/', import.meta.url));
  const texts = ['admit', 'core']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(root, folder, name),
      ),
    )
    // The refusals of a busy verifier reach no log.
    .filter((path) => path.endsWith('.ts') && !path.endsWith('verify.ts'))
    .map((path) => readFileSync(path, 'utf8'));
  const isUsed = (key: string) => texts.some((text) => text.includes(`'${key}'`));
  const used = Object.entries(refusalMessages).filter(([, rows]) => Object.keys(rows).some(isUsed));
  const named = new Set(used.map(([reason]) => reason));
  // Only a server compares a timestamp with a clock, so this refusal reaches no log either.
  const possible = Object.keys(reasons).filter((reason) => reason !== 'TIMESTAMP_SKEW');
  return possible.filter((why) => ['MISMATCH', 'BAD_JSON'].includes(why) || named.has(why));
}

const readLines = <T>(path: string): T[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);

interface Suite {
  folder: string;
  file: SuiteFile;
  input: (name: string) => InputLine[];
  expected: (name: string) => ExpectedLine[];
}

async function written(only: readonly string[], folder: string): Promise<Suite> {
  const args = ['conformance', '--out', folder, '--only', only.join(','), '--json'];
  const { code, stdout, stderr } = await folkmoot(args);
  expect([code, stderr.match(/folkmoot:.*/g)]).toEqual([0, null]);
  return {
    folder,
    file: JSON.parse(stdout) as SuiteFile,
    input: (name) => readLines(join(folder, 'vectors', `${name}.input.ndjson`)),
    expected: (name) => readLines(join(folder, 'vectors', `${name}.expected.ndjson`)),
  };
}

/** Results of an implementation that agrees with the suite. */
function agreeing({ folder, file, expected }: Suite): object[] {
  return file.cases.flatMap(({ name, kind }): object[] => {
    if (kind === 'vectors') return expected(name).map((line) => ({ case: name, ...line }));
    const log = readLines<{ seq: number; digest: string; log_digest: string }>(
      join(folder, 'logs', `${name}.ndjson`),
    );
    return log.map(({ seq, digest, log_digest }) => ({
      ...{ case: name, line: seq, digest, log_digest },
    }));
  });
}

async function compared(suite: Suite, results: readonly object[], partial = false) {
  const text = results.map((line) => JSON.stringify(line)).join('\n');
  return checkResults(suite.folder, Readable.from([Buffer.from(text)]), { partial });
}

function bytesOf({ folder, file }: Suite): Map<string, string> {
  const files = file.cases.flatMap(({ name, kind }) =>
    kind === 'log'
      ? [`logs/${name}.ndjson`]
      : [`vectors/${name}.input.ndjson`, `vectors/${name}.expected.ndjson`],
  );
  const all = [...files, 'suite.json', 'README.md'];
  return new Map(all.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

/** Vectors and logs, written once for the tests that only read them. */
let whole: Suite;
const folder = mkdtempSync(join(tmpdir(), 'folkmoot-test-'));
beforeAll(async () => {
  whole = await written([...vectors, ...(full ? scenarios : ['alliances'])], join(folder, 'suite'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('suite: contains every reason of the engine, in lines that match the schemas', () => {
  const suite = whole;
  const ajv = new Ajv(ajvOptions);
  const schema = (name: string) => {
    const path = join(suite.folder, 'schemas', `${name}.schema.json`);
    const parsed = JSON.parse(readFileSync(path, 'utf8'));
    const validate = ajv.compile(parsed as AnySchema);
    return (line: unknown) => findProblem(validate, parsed, line);
  };
  const problems = { input: schema('input'), expected: schema('expected') };
  const seen = new Set<string>();
  for (const name of vectors) {
    const [input, expected] = [suite.input(name), suite.expected(name)];
    expect(input.map(({ line }) => line)).toEqual(expected.map(({ line }) => line));
    for (const line of input) expect(problems.input(line), `${name} ${line.line}`).toBe(null);
    for (const line of expected) {
      expect(problems.expected(line), `${name} ${line.line}`).toBe(null);
      seen.add(line.outcome?.reason ?? line.outcome?.result ?? '');
    }
  }
  const possible = possibleReasons();
  expect([...seen].sort()).toEqual(['', 'accepted', 'duplicate', ...possible].sort());
});

/** Patterns of the pointers that the protocol document lists, by reason. */
function documentedPointers(): Map<string, RegExp[]> {
  const document = readFileSync(join(root, 'docs/protocol.md'), 'utf8');
  const table = /\*\*Pointers\.\*\*[\s\S]*?\n\n([\s\S]*?)\n\n/.exec(document)![1]!;
  const allowed = new Map<string, RegExp[]>();
  for (const row of table.split('\n').slice(2)) {
    const [, named, where] = row.split('|') as [string, string, string];
    const pointers = [...where.matchAll(/`(\/[^`:]*)`/g)].map(([, pointer]) =>
      pointer!.replaceAll('{index}', '\\d+').replaceAll('{key}', '[^/]+'),
    );
    const any = /value|belongs/.test(where) ? [/^(\/[^/]*)*$/] : [];
    const patterns = [...any, ...pointers.map((pointer) => new RegExp(`^${pointer}$`))];
    const reasons = named.split(':')[0]!.matchAll(/`([A-Z_]+)`/g);
    for (const [, reason] of reasons) {
      allowed.set(reason!, [...(allowed.get(reason!) ?? []), ...patterns]);
    }
  }
  return allowed;
}

test('suite: refusals have the pointers of the protocol document, and cover all of them', () => {
  const allowed = documentedPointers();
  const seen = new Set<string>();
  for (const name of vectors) {
    for (const { line, outcome } of whole.expected(name)) {
      if (outcome?.result !== 'refused') continue;
      const { reason, pointer } = outcome as { reason: string; pointer?: string };
      if (pointer === undefined) continue;
      const fits = (allowed.get(reason) ?? []).some((pattern) => pattern.test(pointer));
      expect(fits, `${name} ${line}: ${reason} at ${pointer}`).toBe(true);
      seen.add(reason);
    }
  }
  expect([...seen].sort()).toEqual([...allowed.keys()].sort());
});

test('suite: has the same bytes each time', async () => {
  const some = full ? caseNames() : ['life', 'refusals', 'veto-equal', 'alliances'];
  const again = await written(some, join(temporaryFolder(), 'suite'));
  const first = bytesOf(whole);
  for (const [path, bytes] of bytesOf(again)) {
    if (path !== 'suite.json') expect(first.get(path) === bytes, path).toBe(true);
  }
  const rows = whole.file.cases.filter(({ name }) => some.includes(name));
  expect(again.file.cases).toEqual(rows);
});

test('suite: agrees with a second implementation and with the auditor', async () => {
  const suite = whole;
  const printed = execFileSync(process.execPath, [independent, suite.folder], {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  const results = printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  const lines = suite.file.cases.reduce((all, one) => all + one.lines, 0);
  expect(await compared(suite, results, true)).toEqual({
    ...{ match: true, lines, cases: suite.file.cases.length, difference: null },
  });
  for (const name of vectors) {
    expect(await audited(suite.input(name), suite.expected(name)), name).toBe(null);
  }
});

test('suite: names different and missing results', async () => {
  const suite = await written(['life', 'veto-equal'], join(temporaryFolder(), 'suite'));
  const good = agreeing(suite) as ({ case: string } & ExpectedLine)[];
  expect(await compared(suite, good)).toMatchObject({ match: true, cases: 2 });
  const at = good.findIndex(({ entries }) => entries.some(({ kind }) => kind === 'propose'));
  const of = { case: 'life', line: good[at]!.line };
  const wrong = async (change: (line: ExpectedLine) => void, partial = false) => {
    const copy = structuredClone(good);
    change(copy[at]!);
    return compared(suite, copy, partial);
  };
  const digest = '0'.repeat(64);
  const where = (pointer: string) => ({ match: false, difference: { ...of, where: pointer } });
  expect(await wrong(({ entries }) => (entries[0]!.digest = digest))).toMatchObject({
    ...where('/entries/0/digest'),
    difference: { found: `"${digest}"` },
  });
  expect(await wrong(({ outcome }) => (outcome!.result = 'duplicate'))).toMatchObject(
    where('/outcome/result'),
  );
  expect(await wrong((e) => e.entries[0]!.events.pop())).toMatchObject(where('/entries/0/events'));
  expect(
    await wrong(({ entries }) => ((entries[0]!.records[0] as unknown[])[2] = {})),
  ).toMatchObject(where('/entries/0/records/0'));
  expect(await wrong(({ outcome }) => (outcome!.data = {}))).toMatchObject(where('/outcome/data'));
  expect(await wrong((line) => delete line.outcome)).toMatchObject(where('/outcome'));
  expect(await wrong((line) => delete line.outcome, true)).toMatchObject({ match: true });
  const shorter = good.filter((_, index) => index !== at);
  expect(await compared(suite, shorter)).toMatchObject({ ...where(''), lines: good.length - 1 });
  expect(await compared(suite, shorter, true)).toMatchObject({ match: true });
});

test('conformance: exits with 0 for equal results, else with 12 and the difference', async () => {
  const file = join(temporaryFolder(), 'results.ndjson');
  const args = ['conformance', '--check', file, '--against', whole.folder];
  const results = agreeing(whole).map((line) => JSON.stringify(line));
  writeFileSync(file, results.join('\n'));
  expect(await folkmoot(args)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^match: /),
  });
  writeFileSync(file, results.join('\n').replace('"accepted"', '"duplicate"'));
  const { code, stdout } = await folkmoot(args);
  expect([code, stdout.split('\n').slice(1)]).toEqual([
    12,
    ['life line 1: /outcome/result', '  expected "accepted"', '  found    "duplicate"', ''],
  ]);
});

test('suite: gives the line of invalid results', async () => {
  const suite = whole;
  for (const [text, message] of [
    ['{"case":"letter-case","line":1', 'results line 1: not JSON'],
    ['\n{"case":"letter-case","line":-1}', 'results line 2: /line'],
    ['{"case":"other","line":1}', 'results line 1: other'],
    ['{"line":1}', 'results line 1: /case'],
  ] as const) {
    const results = Readable.from([Buffer.from(text)]);
    await expect(checkResults(suite.folder, results)).rejects.toThrow(message);
  }
});
