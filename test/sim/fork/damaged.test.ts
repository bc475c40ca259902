/** Damaged or forged run folders: refused with the problem, without output or outside access. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Hex } from 'folkmoot/signing';
import {
  compareKept,
  completeScenario,
  forkScenario,
  readKept,
  runFork,
  simulate,
  sweep,
} from 'folkmoot/sim';
import { openForReading } from '../../../dist/cli/options/folder.js';
import { attribute } from '../../../dist/sim/attribution/ablation.js';
import { planFork } from '../../../dist/sim/fork/fork.js';
import { copyOf, suiteFolder } from '../../support/runs.js';
import { failing } from '../deciders/fixture.js';
import type { Raw } from '../fixture.js';

const run = join(suiteFolder(), 'run');

beforeAll(async () => {
  const agents = [{ group: 'town', count: 5, producers: 2 }];
  const raw = { title: 'a town', signatures: 'none', agents, length: { blocks: 2 } };
  await simulate(completeScenario(raw), { out: run });
});

/** Copies the run into a new folder with a changed summary. */
function changed(change: (summary: Raw) => unknown): string {
  const folder = copyOf(run);
  const file = join(folder, 'summary.json');
  writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, 'utf8')))));
  return folder;
}

const cases: [what: string, change: (summary: Raw) => unknown, said: RegExp][] = [
  ['null', () => null, /summary\.json/],
  ['a list in place of an object', () => [], /summary\.json/],
  ['no members', () => ({}), /summary\.json/],
  ['no scenario', ({ scenario: _, ...rest }) => rest, /scenario/],
  ['a string as its scenario', (all) => ({ ...all, scenario: 'town' }), /\/scenario/],
  ['a number as its seed', (all) => ({ ...all, seed: 1 }), /\/seed/],
  ['invalid hashes', (all) => ({ ...all, modules: { 'a.mjs': 'abc' } }), /\/modules\/a.mjs/],
  ['negative entries', (all) => ({ ...all, entries: -1 }), /\/entries/],
  ['strings as measures', (all) => ({ ...all, measures: { votes: '7' } }), /\/measures\/votes/],
];

test.each(cases)('damaged runs: refuse a summary with %s', async (...given) => {
  const [, change, said] = given;
  const folder = changed(change);
  const expected = { name: 'StoreError', code: 'CORRUPT', problem: 'SUMMARY_INVALID' };
  expect(() => readKept(folder)).toThrow(expect.objectContaining(expected));
  expect(() => readKept(folder)).toThrow(said);
  expect(await failing(compareKept(run, folder))).toMatchObject(expected);
  expect(await failing(compareKept(folder, run))).toMatchObject(expected);
  const store = openForReading(folder);
  const options = { kinds: ['agent'] as const, most: 1, replicates: 2 };
  expect(await failing(attribute(store, folder, '1', options))).toMatchObject(expected);
  await store.close();
});

test('damaged runs: write nothing into the folder of a network', async () => {
  const network = join(
    changed((all) => all),
    'network',
  );
  const before = readdirSync(network).sort();
  const kept = readKept(run);
  const scenario = forkScenario(kept, [{ kind: 'silence', whom: [{ agent: 1 }], at_ms: 0 }]);
  const made = { version: '0', commit: '0', node: '0' };
  const plan = planFork(kept, scenario, { added: 1, replicates: 2 });
  for (const work of [runFork(kept, scenario, network), sweep(plan, { out: network, made })]) {
    const error = await failing(work);
    expect(error).toMatchObject({ name: 'StoreError', problem: 'OUTPUT_HAS_NETWORK' });
  }
  expect(readdirSync(network).sort()).toEqual(before);
});

test('damaged runs: neither read nor copy a file outside the run folder', () => {
  for (const path of ['../notes.txt', 'network/../../notes.txt']) {
    const folder = changed((all) => ({ ...all, files: { [path]: sha256Hex('mine') } }));
    writeFileSync(join(folder, path), 'mine');
    expect(() => readKept(folder)).toThrow(expect.objectContaining({ code: 'INVALID_SOURCE' }));
  }
});
