/** Section 17 of protocol.md, checked against every step of the conformance suite. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tables } from 'folkmoot';
import { caseNames, type ExpectedEntry, type ExpectedLine, shippedScenarios } from 'folkmoot/sim';
import { folkmoot } from '../../support/cli.js';

type Written = [table: string, key: unknown, value: Record<string, unknown> | null];

const scenarios = shippedScenarios().map(({ name }) => name);
const names = caseNames().filter((name) => !scenarios.includes(name) && name !== 'quota');
const folder = mkdtempSync(join(tmpdir(), 'folkmoot-test-'));
const document = readFileSync(new URL('../../../docs/protocol.md', import.meta.url), 'utf8');
let steps: ExpectedEntry[] = [];

beforeAll(async () => {
  const suite = join(folder, 'suite');
  const { code } = await folkmoot(['conformance', '--out', suite, '--only', names.join(',')]);
  expect(code).toBe(0);
  steps = names.flatMap((name) =>
    readFileSync(join(suite, 'vectors', `${name}.expected.ndjson`), 'utf8')
      .trim()
      .split('\n')
      .flatMap((line) => (JSON.parse(line) as ExpectedLine).entries),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const recordsOf = ({ records }: ExpectedEntry) => records as Written[];

const close = '(open- blocks (heights (transactions )*(state )*(state- )*(open- blocks )*)?)';
const after = '(agent_states )*(standings )*(network )?';
/** Order of records by kind of entry; `-` after a table stands for null. */
const order: Record<string, string> = {
  genesis: 'network ',
  register: 'agents agent_numbers agent_states standings network ',
  status: 'agent_states ',
  propose: '(open- blocks )?(electorates )?blocks block_numbers open (agent_states )?network ',
  vote: `(votes ${close}?${after}|equivocations standings )`,
  meme: 'memes agent_states ',
  discuss: 'requests (agent_states )?',
  alliance_propose: 'requests open alliances (agent_states )?',
  alliance_respond: 'alliances (open- )?requests (agent_states )?',
  alliance_leave: 'alliances (open- )?requests (agent_states )?',
  tick: `((alliances open- )|${close})*${after}`,
};

test('records: each step writes in the order of the document', () => {
  const kinds = new Set<string>();
  for (const step of steps) {
    const text = recordsOf(step).map(([table, , value]) => `${table}${value ? '' : '-'} `);
    expect(text.join(''), `${step.kind} ${step.seq}`).toMatch(new RegExp(`^${order[step.kind]}$`));
    kinds.add(step.kind);
  }
  expect([...kinds].sort()).toEqual(Object.keys(order).sort());
});

test('records: agents and standings ascend by ordinal, without duplicates', () => {
  const ordinals = new Map<unknown, number>();
  for (const step of steps) {
    const keys = recordsOf(step).map(([table, key]) => JSON.stringify([table, key]));
    expect(new Set(keys).size).toBe(keys.length);
    for (const [table, key, value] of recordsOf(step)) {
      if (table === 'agents') ordinals.set(key, value!.ordinal as number);
    }
    const of = (wanted: string) =>
      recordsOf(step)
        .filter(([table]) => table === wanted)
        .map(([, key]) => (typeof key === 'number' ? key : ordinals.get(key)!));
    for (const table of ['agent_states', 'standings']) {
      const found = of(table);
      expect(found).toEqual([...found].sort((a, b) => a - b));
    }
  }
});

/** Names in backquotes in a cell that look like members. */
const namesIn = (cell: string): string[] =>
  [...cell.matchAll(/`([a-z0-9_, ]+)`/g)].flatMap(([, list]) => list!.split(/, */));

/** Last row of the section that begins with this name in backquotes. */
function rowOf(name: string, column: number): string {
  const section = document.slice(document.indexOf('## 17. Records'));
  const row = section.split('\n').filter((line) => line.startsWith(`| \`${name}\``));
  return row.at(-1)!.split(' | ').slice(column).join(' | ');
}

const actors = ['agent_states', 'blocks', 'alliances'];
/** Members that this run lacks, because its network's rule has no ballots. */
const ofRules: Readonly<Record<string, readonly string[]>> = {
  blocks: ['options', 'choice', 'standings', 'fault'],
  votes: ['ballot'],
};

test.each(tables)('records: %s has the members of the document', (table) => {
  const values = steps.flatMap((step) => recordsOf(step).filter(([name]) => name === table));
  expect(values.length).toBeGreaterThan(0);
  for (const [, , value] of values) {
    if (!value || table === 'open') continue;
    if (table === 'standings') {
      expect(value).toHaveLength(/\[meme, [a-z, ]+\]/.exec(document)![0].split(',').length);
      continue;
    }
    const members = actors.includes(table) ? (value.context as object) : value;
    if (actors.includes(table)) expect(Object.keys(value).sort()).toEqual(['context', 'state']);
    const told = namesIn(rowOf(table, 2));
    expect(told).toEqual(expect.arrayContaining(Object.keys(members)));
    // Other words in backquotes name other things.
    const others = ['active', 'network_metrics', 'agent_id', 'veto', 'alliance', 'status', 'seq'];
    const absent = [...others, ...(ofRules[table] ?? [])];
    const missing = told.filter((name) => !Object.hasOwn(members, name) && !absent.includes(name));
    if (table !== 'requests') expect(missing).toEqual([]);
  }
});
