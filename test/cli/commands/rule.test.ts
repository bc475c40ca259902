/** `folkmoot rule`: lists, shows and checks decision rules. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RuleChecked } from '../../../dist/sim/rules/check.js';
import { policies } from '../../engine/rules/polls.js';
import { expectOneLine, runCommand } from '../../support/command.js';
import { root } from '../../support/paths.js';
import { linesOf, suiteFolder } from '../../support/runs.js';

const folder = suiteFolder();
const sixty = join(root, 'examples/rules/sixty.js');

function fileWith(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(['rule', ...args]);
  expect(code, stderr).toBe(0);
  return stdout;
}

async function checked(file: string, code: number, ...args: string[]) {
  const ended = await runCommand(['rule', 'check', file, '--json', ...args]);
  expect(ended.code, ended.stderr).toBe(code);
  return JSON.parse(ended.stdout) as RuleChecked & { sha256: string | null; problem?: string };
}

test('rule list: has each named rule, with parameters and the schema of its ballot', async () => {
  const rules = JSON.parse(await done('list', '--json')) as { name: string }[];
  expect(rules.map(({ name }) => name)).toEqual(policies);
  const score = { name: 'score', kind: 'vote', chooses: true };
  expect(rules.find(({ name }) => name === 'score')).toMatchObject({
    ...score,
    parameters: { highest: { default: 10, minimum: 1, maximum: 1_000 } },
    ballot: { type: 'object', required: ['scores'] },
  });
  const text = await done('list');
  for (const name of policies) expect(text).toMatch(new RegExp(`^${name} +\\S`, 'm'));
});

test('rule show: prints a named rule, a module and lines', async () => {
  const named = JSON.parse(await done('show', 'borda', '--json'));
  expect(named).toMatchObject({ policy: 'borda', kind: 'vote', sha256: null, module: null });
  expect(named.source).toMatch(/^Borda 1784/);
  expect(named.definition.join(' ')).toContain('`standings`');
  const module = JSON.parse(await done('show', sixty, '--json'));
  const text = readFileSync(sixty, 'utf8');
  const sha256 = createHash('sha256').update(text).digest('hex');
  expect(module).toMatchObject({ policy: 'module', kind: 'weight', module: text, sha256 });
  expect(await done('show', sixty)).toContain(sha256);
  const lines = fileWith('l.yaml', 'lines: [{ if: { approve: 3, total: -2 }, then: finalized }]');
  expect(await done('show', lines)).toContain('finalized if 3 approve - 2 total > 0');
});

test.each(policies)('rule show: %s has a definition in words', async (policy) => {
  const { definition } = JSON.parse(await done('show', policy, '--json'));
  expect(definition.join(' ').length).toBeGreaterThan(40);
});

test.each(policies)('rule check: %s keeps its contract', async (policy) => {
  const found = await checked(policy, 0, '--polls', '60');
  expect(found).toMatchObject({ holds: true, polls: 60, violations: [], sha256: null });
  const { ballots, speed } = found;
  const rule = JSON.parse(await done('show', policy, '--json'));
  if (rule.ballot) expect(ballots.accepted).toBeGreaterThan(ballots.votes / 2);
  else expect(ballots).toEqual({ votes: 0, accepted: 0 });
  expect(speed!.times_bft).toBeGreaterThan(0);
});

test('rule check: gives the SHA-256 of a module, and the same result for a seed', async () => {
  const [one, again] = [await checked(sixty, 0), await checked(sixty, 0)];
  expect(one.sha256).toBe(createHash('sha256').update(readFileSync(sixty)).digest('hex'));
  const { speed: _, ...rest } = one;
  expect(again).toMatchObject(rest);
  expect((await checked(sixty, 0, '--seed', 'other')).votes).not.toBe(one.votes);
});

const ballot = '{ type: "integer", minimum: 0, maximum: 9 }';

const early = `
  decidesEarly: true,
  tally: ({ votes, over }) => ({ status: over || votes.length > 2 ? "finalized" : null }),
  counter() { let n = 0; return { add() { n += 1; },
    verdict: (over) => ({ status: over || n > 3 ? "finalized" : null }) }; },`;
const nine = `
  ballot: ${ballot},
  tally({ votes }) { if (votes.some((one) => one.ballot === 9)) throw new Error("nine");
    return { status: "finalized" }; },`;
const share =
  'tally: ({ votes }) => ({ status: "finalized", standings: { share: votes.length / 3 } }),';
const open = 'decide: ({ approve, total }) => (2 * approve > total ? "finalized" : null),';
const hasty = 'decide: ({ approve, reject }) => (approve > reject ? "finalized" : "rejected"),';

test.each([
  ['differs from its counter', 'CONTRADICTION', early],
  ['throws on an accepted ballot', 'RULE_THREW', nine],
  ['has a fraction in its standings', 'RULE_VERDICT', share],
  ['does not decide at the end', 'RULE_VERDICT', open],
  ['changes its decision', 'CHANGED', hasty],
  ['does not end', 'RULE_TIMEOUT', 'decide() { for (;;); },'],
])('rule check: finds a module that %s', async (what, code, body) => {
  const file = fileWith(`${what.replaceAll(' ', '-')}.js`, `export default {\n${body}\n};`);
  const found = await checked(file, 12);
  expect(found).toMatchObject({ holds: false, speed: null });
  expect(found.violations[0]!.code).toBe(code);
  expect(found.example!.electors.length).toBeGreaterThan(0);
  const text = await runCommand(['rule', 'check', file]);
  expect([text.code, linesOf(text.stdout)[0]]).toEqual([12, expect.stringMatching(/^bad /)]);
});

test.each([
  [
    'weight',
    'decide({ voted }) {\n  if (voted) throw Error("two\\u001b[2J");\n  return "expired"; },',
    'Error: two\u001b[2J (line 3)',
  ],
  ['tally', 'tally({ votes }) {\n\n  return votes.none.length; },', 'TypeError: .* \\(line 4\\)'],
  ['counter', 'tally: () => ({ status: "expired" }),\ncounter: () => { throw "text"; },', 'string'],
  ['getter', 'decide() { throw { get message() { for (;;); } }; },', null],
])('rule check: shows the exception of a module (%s)', async (name, text, thrown) => {
  const file = fileWith(`thrown-${name}.js`, `export default {\n${text}\n};`);
  const [violation] = (await checked(file, 12)).violations;
  expect(violation).toMatchObject({
    code: 'RULE_THREW',
    thrown: name === 'tally' ? expect.stringMatching(thrown!) : thrown,
  });
  const { stdout } = await runCommand(['rule', 'check', file]);
  const shown = violation!.thrown?.replace('\u001b', '\\u001b') ?? 'exception';
  expect(stdout).toContain(shown);
  expect(stdout).not.toContain('expected');
});

test('rule check: counts outcomes, and warns about unused lines and outcomes', async () => {
  const lines = [
    '{ if: { total: 4, approve: -10, reject: -10 }, over: true, then: expired }',
    '{ if: { approve: 2, reject: -3 }, over: true, then: finalized }',
    '{ if: { approve: 1, total: -2 }, over: true, then: rejected }',
    '{ if: { one: 1 }, over: true, then: finalized }',
  ];
  const file = fileWith('unused.yaml', `lines: [${lines.join(', ')}]`);
  const { outcomes, deciding, polls } = await checked(file, 0);
  expect(outcomes.finalized + outcomes.expired).toBe(polls);
  expect(outcomes.rejected).toBe(0);
  expect(deciding!.map((count) => count > 0)).toEqual([true, true, false, true]);
  const { stdout } = await runCommand(['rule', 'check', file]);
  expect(linesOf(stdout).filter((line) => line.startsWith('warning'))).toEqual([
    expect.stringContaining('rejected'),
    expect.stringContaining('line 3'),
  ]);
  expect((await checked(sixty, 0)).deciding).toBe(null);
  expect((await runCommand(['rule', 'check', sixty])).stdout).not.toContain('warning');
});

test('rule check: finds lines that contradict an earlier decision', async () => {
  const file = fileWith(
    'hasty.yaml',
    'consensus: { rule: { lines: [{ if: { approve: 1, reject: -1 }, then: finalized }] } }',
  );
  expect((await checked(file, 12)).violations[0]!.code).toBe('CHANGED');
});

test('rule check: exits with code 12 for a file without a rule', async () => {
  const files = [
    fileWith('empty.js', ''),
    fileWith('number.js', 'export default 1;'),
    fileWith('process.js', 'export default { decide: () => process.exit(0) || globalThis.x.y };'),
    fileWith('none.yaml', 'title: nothing'),
    fileWith('term.yaml', 'lines: [{ if: { votes: 1 }, then: finalized }]'),
    fileWith('latin.js', ''),
  ];
  writeFileSync(files.at(-1)!, Buffer.from([0xff, 0xfe]));
  for (const file of files) {
    const ended = await runCommand(['rule', 'check', file, '--json']);
    expect([[file, ended.code], JSON.parse(ended.stdout).holds]).toEqual([[file, 12], false]);
  }
});

test('rule check: a file other than a module never chooses a module', async () => {
  const inner = fileWith('inner.js', 'export default { decide: () => "finalized" };');
  for (const rule of [{ file: 'inner.js' }, { source: readFileSync(inner, 'utf8') }]) {
    const consensus = { policy: 'module', rule };
    const file = fileWith('outer.json', JSON.stringify({ consensus }));
    const ended = await runCommand(['rule', 'check', file]);
    expect([ended.code, ended.stdout]).toEqual([12, '']);
    expectOneLine(ended);
  }
});

test('sim: names the option whose rule a scenario does not fit', async () => {
  fileWith('own.js', readFileSync(sixty, 'utf8'));
  const consensus = { policy: 'module', rule: { file: 'own.js' } };
  const agents = [{ group: 'town', count: 4, producers: 1 }];
  const file = fileWith(
    'own.json',
    JSON.stringify({ title: 'Own', agents, consensus, length: { blocks: 1 } }),
  );
  const refused = await runCommand(['sim', file, '--policy', 'threshold']);
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toMatch(/^folkmoot: --policy: .* --set consensus\.rule=null$/m);
  const done = await runCommand([
    ...['scenario', 'show', file, '--set', 'consensus.rule=null', '--set'],
    'consensus.policy=threshold',
  ]);
  expect(done.code, done.stderr).toBe(0);
});
