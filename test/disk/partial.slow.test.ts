/**
 * Every combination of present and absent files of a data folder, a run folder and a sweep folder,
 * each with its outcome. A table row lists files and one outcome per command; the first row that
 * matches a combination applies. No combination may start a new network or lose data silently.
 */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  createVerifier,
  Network,
  openLmdbStore,
  SCHEMA_VERSION,
  StoreError,
  tables,
} from 'folkmoot';
import { resolveGenesis } from '../../dist/cli/commands/serve/scenario.js';
import { sweepIn } from '../sim/sweep/folders.js';
import { smallRaw, writeScenario } from '../sim/sweep/scenarios.js';
import { runCommand } from '../support/command.js';
import { suiteFolder } from '../support/runs.js';

const verifier = createVerifier('off');
afterAll(() => verifier.close());

interface Row {
  /** Allowed states of each file. */
  files: string[][];
  outcomes: string[];
}

/** Parses a table whose columns are files, then `|`, then one outcome per command. */
function parseTable(text: string): Row[] {
  const rows = text.trim().split('\n').slice(1);
  return rows.map((row) => {
    const [files, outcomes] = row.split('|').map((part) => part.trim().split(/\s+/));
    return { files: files!.map((states) => states.split(',')), outcomes: outcomes! };
  });
}

/** Iterates over all combinations of states. */
function* combinations(states: readonly (readonly string[])[]): Generator<string[]> {
  const [first, ...rest] = states;
  if (first === undefined) return yield [];
  for (const state of first) for (const more of combinations(rest)) yield [state, ...more];
}

/** Yields each combination with its row. Expects that each row applies to some combination. */
function* enumerate(rows: readonly Row[], states: readonly (readonly string[])[]) {
  const used = new Set<Row>();
  for (const combination of combinations(states)) {
    const applies = ({ files }: Row) =>
      files.every((allowed, at) => allowed[0] === '*' || allowed.includes(combination[at]!));
    const row = rows.find(applies);
    if (row === undefined) throw new Error(`no outcome for ${combination.join(' ')}`);
    used.add(row);
    yield { combination, outcomes: row.outcomes };
  }
  expect(rows.filter((row) => !used.has(row))).toEqual([]);
}

/** Returns the SHA-256 of each file by path. */
function contents(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    names
      .filter((file) => file.isFile() && file.name !== 'lock.mdb')
      .map(({ parentPath, name }) => {
        const path = join(parentPath, name);
        return [path, createHash('sha256').update(readFileSync(path)).digest('hex')];
      }),
  );
}

/** Expects that a refused command changed no file, and that no command changed a segment. */
function expectKept(folder: string, before: Map<string, string>, what: string, isRefused: boolean) {
  const after = contents(folder);
  for (const [path, hash] of before) {
    const isSegment = path.endsWith('.seg');
    if (isRefused || (isSegment && after.has(path)))
      expect(after.get(path), `${what}: ${path}`).toBe(hash);
    // A segment may be removed only if data.mdb has all its rows.
    else if (isSegment) expect(what).toMatch(/^older /);
  }
}

const suite = suiteFolder();
let genesisId = '';
const at = (...names: string[]) => join(suite, ...names);
const shard = (text: string) => ['--shard', text];
const sweep = { factors: [{ path: 'links.loss', values: [0, 0.1] }], replicates: 2 };
const file = writeScenario(suite, { ...smallRaw(), sweep });
const kind = { tables, schemaVersion: SCHEMA_VERSION };
const deep = { recursive: true };
const dataOf = (name: string) => at(name, ...(name === 'new' ? [] : ['network']), 'data.mdb');

/** Returns the only segment of a saved run. */
function segmentOf(name: string): string {
  const folder = at(name, 'network', 'archive');
  return join(folder, readdirSync(folder)[0]!);
}

/** Saves a run under a name, and archives its log if asked. */
async function save(name: string, seed: string, blocks: string, archives: boolean): Promise<void> {
  const args = ['--agents', '4', '--blocks', blocks, '--seed', seed, '--out', at(name)];
  const ended = await runCommand(['sim', ...args]);
  expect(ended.code, ended.stderr).toBe(0);
  if (archives) await runCommand(['archive', at(name), '--before', '9999']);
}

beforeAll(async () => {
  await save('older', '7', '2', false);
  await save('short', '7', '1', false);
  await save('whole', '7', '2', true);
  await save('foreign', '8', '2', true);
  for (const [name, ...args] of [
    ['full'],
    ['sweep', ...shard('1/2')],
    ['other', ...shard('2/2')],
  ]) {
    await sweepIn(file, at(name!), ...args);
  }
  await openLmdbStore({ path: at('new'), ...kind }).close();
  const store = openLmdbStore({ path: at('whole', 'network'), ...kind, readOnly: true });
  genesisId = store.meta()!.network_id;
  await store.close();
});

/** State of each file of a data folder, with the function that creates it. */
const dataFiles: Record<string, (folder: string) => void>[] = [
  {
    '-': () => undefined,
    empty: (folder) => writeFileSync(join(folder, 'data.mdb'), ''),
    ...Object.fromEntries(
      ['new', 'older', 'short', 'whole'].map((name) => [
        name,
        (folder: string) => cpSync(dataOf(name), join(folder, 'data.mdb')),
      ]),
    ),
  },
  { '-': () => undefined, '+': (folder) => writeFileSync(join(folder, 'begun'), '') },
  {
    '-': () => undefined,
    bare: (folder) => mkdirSync(join(folder, 'archive')),
    own: (folder) => cpSync(at('whole', 'network', 'archive'), join(folder, 'archive'), deep),
    // The segment of another network under the name of the own segment.
    named(folder) {
      mkdirSync(join(folder, 'archive'));
      cpSync(segmentOf('foreign'), join(folder, 'archive', basename(segmentOf('whole'))));
    },
    both(folder) {
      for (const name of ['whole', 'foreign']) {
        cpSync(at(name, 'network', 'archive'), join(folder, 'archive'), deep);
      }
    },
    tmp(folder) {
      mkdirSync(join(folder, 'archive'));
      writeFileSync(join(folder, 'archive', 'unfinished.tmp'), 'folkmoot segment 1\n');
    },
  },
  {
    '-': () => undefined,
    '+'(folder) {
      for (const name of ['compacted.tmp', 'copied.tmp', 'received.tmp']) {
        cpSync(dataOf('whole'), join(folder, name, 'data.mdb'));
      }
    },
  },
  {
    '-': () => undefined,
    '+'(folder) {
      for (const name of ['lock.mdb', 'writer.lock', 'opening.lock']) {
        writeFileSync(join(folder, name), '');
      }
    },
  },
];

/** Like `command`, with the folder as the last argument. */
const inPlace =
  (...args: string[]) =>
  async (path: string) =>
    String((await runCommand([...args, path])).code);

/** `serve` opens the network (open), starts a new one (new), or ends with an error code. */
const dataTable = parseTable(`
data            begun archive               copies locks | serve   replay archive
-               -     -,bare                -      *     | new     2      2
empty           -     -,bare                -      *     | new     2      2
new             -     -,bare                -      *     | new     2      0
-,empty,new     *     *                     *      *     | CORRUPT 13     13
older           *     -,bare,own,tmp        *      *     | open    0      0
short           *     -,bare,tmp            *      *     | open    0      0
whole           *     own                   *      *     | open    0      0
whole           *     -,bare,tmp,named      *      *     | open    13     0
older,short     *     *                     *      *     | ARCHIVE 13     13
whole           *     both                  *      *     | ARCHIVE 13     13
`);

async function serve(path: string): Promise<string> {
  const genesis = { network_id: genesisId };
  try {
    const network = await Network.open({ path, genesis, verifier, onArchiveFault: () => {} });
    const { seq } = network.read.position;
    await network.close();
    return seq === 0 ? 'new' : 'open';
  } catch (error) {
    if (error instanceof StoreError) return error.code;
    throw error;
  }
}

const command =
  (...args: string[]) =>
  async (path: string) => {
    const [name, ...rest] = args;
    return String((await runCommand([name!, path, ...rest])).code);
  };

/** Runs each command on each combination of files, and compares outcomes and files. */
async function expectOutcomes(
  table: readonly Row[],
  files: readonly Record<string, (folder: string) => void>[],
  commands: readonly ((folder: string) => Promise<string>)[],
): Promise<void> {
  const wrong: string[] = [];
  const states = files.map((file) => Object.keys(file));
  for (const { combination, outcomes } of enumerate(table, states)) {
    for (const [index, run] of commands.entries()) {
      const folder = at('folder');
      mkdirSync(folder);
      for (const [file, state] of combination.entries()) files[file]![state]!(folder);
      const before = contents(folder);
      const what = `${combination.join(' ')}: command ${index}`;
      const found = await run(folder);
      if (found !== outcomes[index]) wrong.push(`${what}: ${found}, not ${outcomes[index]}`);
      expectKept(folder, before, what, /^([A-Z]|13|2)/.test(found));
      rmSync(folder, { recursive: true });
    }
  }
  expect(wrong).toEqual([]);
}

test('data folder: each combination of files has its outcome, and no command loses data', () =>
  expectOutcomes(dataTable, dataFiles, [
    ...[serve, command('replay'), command('archive', '--before', '9999')],
  ]));

/** Creates the named files and folders of a saved output, or none of them. */
const some = (from: string, ...names: string[]) => ({
  '-': () => undefined,
  '+'(folder: string) {
    for (const name of names) cpSync(at(from, name), join(folder, name), deep);
  },
});

const csv = ['blocks', 'agents', 'groups', 'series', 'edges', 'messages'];
const runFiles = [
  {
    ...some('whole', 'network'),
    bare: (folder: string) => mkdirSync(join(folder, 'network')),
    lost(folder: string) {
      mkdirSync(join(folder, 'network'));
      writeFileSync(join(folder, 'network', 'begun'), '');
    },
  },
  some('whole', 'scenario.json'),
  some('whole', 'summary.json'),
  some('whole', ...csv.map((name) => `${name}.csv`)),
  some('whole', 'report.html'),
];

/** Checks the folder as `serve --data` does. */
async function serveOutput(data: string): Promise<string> {
  const refusal = resolveGenesis({ data }, {}, null).then(
    () => null,
    (error: Error) => error,
  );
  return (await refusal)?.name ?? 'new';
}

const runTable = parseTable(`
network scenario summary tables report | sim serve      replay compare
-       -        -       -      -      | 0   new        2      2
-       -        -       +      -      | 2   new        2      2
-       *        *       *      *      | 2   UsageError 2      2
bare    *        *       *      *      | 2   UsageError 2      2
lost    *        -       *      *      | 2   UsageError 13     2
lost    *        +       *      *      | 2   UsageError 13     13
+       *        +       +      *      | 2   UsageError 0      0
+       *        *       *      *      | 2   UsageError 0      2
`);

test('run folder: each combination of files has its outcome, and no command loses data', () =>
  expectOutcomes(runTable, runFiles, [
    ...[inPlace('sim', '--agents', '4', '--blocks', '1', '--out'), serveOutput, command('replay')],
    command('compare', at('whole')),
  ]));

const sweepFiles = [
  some('sweep', 'sweep.json'),
  {
    ...some('sweep', 'runs'),
    some(folder: string) {
      const [name] = readdirSync(at('sweep', 'runs'));
      cpSync(at('sweep', 'runs', name!), join(folder, 'runs', name!));
    },
  },
  some('sweep', 'runs.sha256'),
  some('full', 'summary.csv', 'report.html', 'scenario.json'),
];

const sweepTable = parseTable(`
sweep runs seal results | fresh resume merge
-     -    -    -       | 0     0      2
-     *    *    *       | 2     2      2
+     +    +    *       | 2     0      0
+     *    *    *       | 2     0      2
`);

test('sweep folder: each combination of files has its outcome, and no command loses data', () =>
  expectOutcomes(sweepTable, sweepFiles, [
    inPlace('sweep', file, '--jobs', '1', ...shard('1/2'), '--out'),
    inPlace('sweep', file, '--jobs', '1', ...shard('1/2'), '--resume', '--out'),
    async (folder) => {
      const merged = at('merged');
      const { code } = await runCommand(['merge', folder, at('other'), '--out', merged]);
      rmSync(merged, { recursive: true, force: true });
      return String(code);
    },
  ]));
