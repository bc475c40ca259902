/** A disclosed benchmark: its recount from files and log, and edits, which are all refused. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Disclosure,
  disclosureInput,
  sha256File,
} from '../../../../dist/bench/load/disclosure.js';
import type { Recount } from '../../../../dist/bench/load/recount.js';
import type { LoadResult } from '../../../../dist/bench/load/result.js';
import { generateKeyPair, sign } from '../../../../dist/engine/crypto/keys.js';
import { runCommand } from '../../../support/command.js';
import { suiteFolder } from '../../../support/runs.js';
import { serve } from '../../../support/service/server.js';

const root = suiteFolder();
const [folder, data, other] = ['run', 'data', 'other'].map((name) => join(root, name));

const recounted = async (from: string, log: string) => {
  const { code, stdout } = await runCommand(['load', 'recount', from, log, '--json']);
  return { code, found: stdout === '' ? null : (JSON.parse(stdout) as Recount) };
};

beforeAll(async () => {
  const key = join(root, 'key.json');
  await runCommand(['keygen', '--out', key]);
  for (const [path, disclosed] of [
    [data!, true],
    [other!, false],
  ] as const) {
    const { url, close } = await serve({ path, limits: 'off' });
    // Long enough that the log shows the time of a round, also on a busy machine.
    const flags = ['--rate', '100', '--batch', '10', '--duration', '3s', '--warmup', '200ms'];
    const disclose = ['--disclose', key, '--out', folder!, '--deviation', 'short rounds'];
    const load = ['load', '--workload', 'transactions', '--url', url, ...flags];
    await runCommand([...load, ...(disclosed ? disclose : [])]);
    await close();
  }
}, 120_000);

const read = (from: string) =>
  JSON.parse(readFileSync(join(from, 'disclosure.json'), 'utf8')) as Disclosure;

test('disclosure: has fourteen items, three rounds and intervals', () => {
  const { items, rounds } = read(folder!);
  expect(Object.keys(items).map((name) => Number.parseInt(name, 10))).toEqual(
    Array.from({ length: 14 }, (_, index) => index + 1),
  );
  expect(rounds.map((one) => one.folder)).toEqual(['round-1', 'round-2', 'round-3']);
  const rates = items['3 rates'] as Record<string, { mean: number; low: number; high: number }>;
  for (const name of ['offered_per_s', 'sent_per_s', 'accepted_per_s', 'final_per_s']) {
    const { mean, low, high } = rates[name]!;
    expect(low <= mean && mean <= high, name).toBe(true);
  }
  expect(items['14 deviations']).toMatchObject({ deviations: ['short rounds'] });
});

test('recount: a stranger gets the same counts from the files and the log', async () => {
  const { code, found } = await recounted(folder!, data!);
  expect([code, found!.problems]).toEqual([0, []]);
  for (const { folder: name, figures } of found!.rounds) {
    const { transactions } = JSON.parse(
      readFileSync(join(folder!, name, 'result.json'), 'utf8'),
    ) as { transactions: { finalized: number } };
    const of = (figure: string) => figures.find((one) => one.figure === figure)!;
    expect(transactions.finalized).toBeGreaterThan(0);
    expect(of('finalized').recounted).toBe(transactions.finalized);
    expect([of('duplicates').recounted, of('gaps').recounted]).toEqual([0, 0]);
    // The log knows when a block was final, and the run when it was told.
    expect(of('finality p50, ms').recounted).toBeLessThanOrEqual(of('finality p50, ms').claimed!);
  }
});

test('recount: refuses the log of another network', async () => {
  const { code, found } = await recounted(folder!, other!);
  expect([code, found!.problems.length > 0]).toEqual([12, true]);
});

type Edit = [what: string, file: string, change: (text: string) => string];

const member = (name: string, value: string): ((text: string) => string) => {
  return (text) => text.replace(new RegExp(`("${name}": )[^,\\n}]+`), `$1${value}`);
};
const hex =
  (name: string, at = 0) =>
  (text: string) => {
    let seen = -1;
    return text.replace(new RegExp(`("${name}": ")([0-9a-f])`, 'g'), (all, head, digit) => {
      seen += 1;
      return seen === at ? `${head}${digit === '0' ? '1' : '0'}` : all;
    });
  };
const result = 'round-1/result.json';
const figures = [
  'intended',
  'accepted',
  'finalized',
  'timed_out',
  'tps',
  'p50',
  'p99',
  'measured_s',
];
const stated = ['mean', 'utilization', 'memory_bytes', 'durable', 'commit', 'cpu', 'command'];

const edits: readonly Edit[] = [
  ...figures.map((name): Edit => [`result ${name}`, result, member(name, '7')]),
  ['verdict of a result', 'round-2/result.json', member('verdict', '"INCOMPLETE"')],
  ['seed of a result', 'round-3/result.json', member('seed', '"x"')],
  ...stated.map((name): Edit => [`item ${name}`, 'disclosure.json', member(name, '"7"')]),
  ['verdict of an item', 'disclosure.json', member('verdict', '"INCOMPLETE"')],
  ['a deviation', 'disclosure.json', (text) => text.replace('short rounds', 'none')],
  ['digest of a file', 'disclosure.json', hex('result.json')],
  ['digest of a table', 'disclosure.json', hex('seconds.csv', 2)],
  ['digest at the begin', 'disclosure.json', hex('digest')],
  ['log digest at the end', 'disclosure.json', hex('log_digest', 1)],
  ['entry at the end', 'disclosure.json', member('seq', '3')],
  ['attesting key', 'disclosure.json', hex('attested_by')],
  ['signature', 'disclosure.json', hex('signature')],
  ['an item', 'disclosure.json', (text) => text.replace('"10 errors"', '"10 Errors"')],
  ['a time of finality', 'round-1/blocks.csv', (text) => text.replace(/\d(\.\d+)?\n$/, '9\n')],
  ['a block', 'round-1/blocks.csv', (text) => text.replace(/\n[^\n]+\n$/, '\n')],
  ['a second', 'round-2/seconds.csv', (text) => text.replace(/\d/, '8')],
  ['a report', 'round-1/report.html', (text) => text.replace('<h1>', '<h1> ')],
  ['a histogram', 'round-3/histograms.hlog', (text) => `${text}\n`],
];

test('recount: refuses every one of at least thirty edits', async () => {
  expect(edits.length).toBeGreaterThanOrEqual(30);
  for (const [what, file, change] of edits) {
    const copy = join(root, 'edited');
    cpSync(folder!, copy, { recursive: true });
    const path = join(copy, file);
    const text = readFileSync(path, 'utf8');
    expect(change(text), what).not.toBe(text);
    writeFileSync(path, change(text));
    const { code } = await recounted(copy, data!);
    expect(code, what).not.toBe(0);
    rmSync(copy, { recursive: true });
  }
}, 120_000);

type Forgery = [what: string, forge: (disclosure: Disclosure, copy: string) => void, RegExp];

/** Changes a file of the first round, with its digest. */
function rewrite(
  { rounds }: Disclosure,
  copy: string,
  file: string,
  change: (text: string) => string,
): void {
  const path = join(copy, 'round-1', file);
  writeFileSync(path, change(readFileSync(path, 'utf8')));
  rounds[0]!.files[file] = sha256File(path);
}

/** Changes the scheduled times of the measured blocks of the first round. */
const reschedule = (
  forged: Disclosure,
  copy: string,
  change: (ms: number, first: number) => number,
) =>
  rewrite(forged, copy, 'blocks.csv', (text) => {
    const first = Number(/^\w+,\d+,1,([\d.]+),/m.exec(text)![1]);
    return text.replace(/^(\w+,\d+),1,([\d.]+),/gm, (_, hash: string, ms: string) => {
      return `${hash},1,${change(Number(ms), first)},`;
    });
  });

const forgeries: readonly Forgery[] = [
  [
    'a figure',
    (forged, copy) =>
      rewrite(forged, copy, 'result.json', (text) => {
        const before = JSON.parse(text) as LoadResult;
        before.transactions.finalized += 10;
        return JSON.stringify(before);
      }),
    /round-1: finalized is/,
  ],
  [
    'an item',
    ({ items }) => Object.assign(items['3 rates']!, { final_per_s: { mean: 1e6 } }),
    /item 3 rates/,
  ],
  ['a file without a digest', ({ rounds }) => delete rounds[0]!.files['result.json'], /no digest/],
  ['a round twice', ({ rounds }) => rounds.splice(1, 1, rounds[0]!), /not in order/],
  [
    'a part of the log twice',
    ({ rounds }) => Object.assign(rounds[1]!, { log: rounds[0]!.log }),
    /round-2: not in order/,
  ],
  [
    'the blocks of another round',
    ({ rounds }, copy) => {
      cpSync(join(copy, 'round-1'), join(copy, 'round-2'), { recursive: true });
      rounds[1]!.files = rounds[0]!.files;
    },
    /round-2: block \w+ is not of its part of the log/,
  ],
  [
    'later times of schedule',
    (forged, copy) => reschedule(forged, copy, (ms) => ms + 5_000),
    /round-1: block \w+ was scheduled after its proposal/,
  ],
  [
    'a shorter time',
    (forged, copy) => {
      reschedule(forged, copy, (ms, first) => first + (ms - first) / 15);
      rewrite(forged, copy, 'result.json', member('measured_s', '0.2'));
    },
    /round-1: measured 0.2 s, and [\d.]+ s by the log/,
  ],
];

test.each(forgeries)('recount: %s is refused although its author signs it', async (...forgery) => {
  const [what, forge, problem] = forgery;
  const copy = join(root, what);
  cpSync(folder!, copy, { recursive: true });
  const keys = generateKeyPair();
  const forged = { ...read(copy), attested_by: keys.publicKeyHex };
  forge(forged, copy);
  const signature = Buffer.from(sign(disclosureInput(forged), keys)).toString('hex');
  writeFileSync(join(copy, 'disclosure.json'), JSON.stringify({ ...forged, signature }));
  const { code, found } = await recounted(copy, data!);
  expect([code, found!.problems]).toEqual([
    12,
    expect.arrayContaining([expect.stringMatching(problem)]),
  ]);
});
