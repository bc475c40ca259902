/** Networks whose rule chooses an option: ballots, refusals, audit, replay and certificate. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkCertificate } from 'folkmoot';
import { Auditor } from 'folkmoot/sim';
import { parse } from 'yaml';
import { RuleLine } from '../../../dist/engine/protocol/schema/genesis.js';
import { type NetworkRule, ruleOf } from '../../../dist/engine/rules/network-rule.js';
import { prepareSandbox } from '../../../dist/engine/rules/sandbox.js';
import { checkRule } from '../../../dist/sim/rules/check.js';
import { completeScenario } from '../../../dist/sim/scenario/complete.js';
import { temporaryFolder, testNetwork } from '../../support/fixture.js';
import { root } from '../../support/paths.js';
import { replayHere } from '../../support/runs.js';
import { certificateOf } from '../certificate/town.js';
import { expectRefused, Population, refusalOf } from '../helpers.js';
import { createRule, policies } from './polls.js';

const rankings = (...tiers: (string | string[])[]) => ({ ranking: tiers });
const approved = (...names: string[]) => ({ approved: names });

const strict = ['abc', 'abc', 'bca', 'bca', 'cba'].map((order) => rankings(...order));
const tiered = [
  ...[rankings('b', ['a', 'c']), rankings(['a', 'c'], 'b'), rankings(['b', 'c'], 'a')],
  ...[rankings('b', 'a'), rankings(['a', 'b'])],
];

/** Five ballots over the options a, b and c, and the option that the rule chooses. */
type Election = [policy: string, ballots: unknown[], choice: string];
const elections: Election[] = [
  // Two first places each for a and b, one for c; a is first among equals.
  ['plurality', ['a', 'a', 'b', 'b', 'c'].map((option) => ({ option })), 'a'],
  ['approval', [approved('a'), approved('a', 'c'), approved('c'), approved('c'), {}], 'c'],
  ['proportional', [approved('a'), approved('a', 'c'), approved('c'), approved('c'), {}], 'c'],
  ['score', [9, 9, 0, 0, 0].map((score) => ({ scores: { a: score, b: 4 } })), 'b'],
  // b beats a and c by three to two; c is last of the first places, and its ballot goes to b.
  ...['schulze', 'instant_runoff'].map((policy): Election => [policy, strict, 'b']),
  // b beats a and c by three to one each; a and c are equal in two ballots.
  ...['schulze', 'ranked_pairs', 'borda'].map((policy): Election => [policy, tiered, 'b']),
];

/** Creates a network of five voters whose auditor sees every request. */
async function electorate(policy: string) {
  const path = temporaryFolder();
  const genesis = { policy, weights: 'equal', voting_period_ms: 1_000 } as const;
  const opened = await testNetwork({ path, genesis, verifier: 'inline' });
  const { network, clock } = opened;
  const auditor = new Auditor(network.genesis);
  const submit: typeof opened.submit = async (request) => {
    const verified = await network.verify(request);
    if ('refusal' in verified) return { result: 'refused', refusal: verified.refusal };
    const { outcome, events } = network.apply(verified);
    auditor.observe({ at: clock.now(), command: verified.command, outcome, events });
    await network.durable;
    return outcome;
  };
  const people = new Population({ ...opened, submit }, 'inline');
  const voters = await people.joinMany(5, ['validator', 'producer']);
  return { path, network, clock, auditor, people, voters };
}

const options = ['a', 'b', 'c'].map((name) => ({
  name,
  state_diff: { additions: { winner: name } },
}));

test.each(elections)('%s: audit, replay, certificate agree', async (policy, ballots, choice) => {
  const { path, network, clock, auditor, people, voters } = await electorate(policy);
  const block = await people.open(voters[0]!, { options });
  for (const [at, ballot] of ballots.entries()) {
    const isEmpty = Object.keys(ballot as object).length === 0;
    await people.vote(voters[at]!, block, 'approve', isEmpty ? {} : { ballot });
  }
  const view = network.read.block(block)!;
  expect(view).toMatchObject({ status: 'finalized', choice, options: ['a', 'b', 'c'] });
  expect(Object.keys(view.standings!).sort()).toEqual(['a', 'b', 'c']);
  expect(network.read.record('state', 'winner')).toMatchObject({ value: choice });
  expect(auditor.violation).toBeNull();
  expect(auditor.finish(clock.now(), network.read)).toBeNull();
  const { digest } = network.read.position;
  await network.close();
  expect(await replayHere(path)).toMatchObject({ match: true, digest });
  const text = await certificateOf({ path }, block);
  expect(checkCertificate(text)).toMatchObject({ holds: true, claim: { choice } });
  const forged = text.replace(`"choice":"${choice}"`, '"choice":"x"');
  expect(checkCertificate(forged)).toMatchObject({ holds: false });
});

test('ballots: are refused with a pointer before anything is counted', async () => {
  const { network, auditor, people, voters } = await electorate('schulze');
  const block = await people.open(voters[0]!, { options });
  const { seq } = network.read.position;
  const wrong: [ballot: unknown, pointer: string][] = [
    [null, '/ballot'],
    ['a', '/ballot'],
    [{}, '/ballot'],
    [{ ranking: 'a' }, '/ballot/ranking'],
    [{ ranking: [1] }, '/ballot/ranking/0'],
    [{ ranking: ['a', 'a'] }, '/ballot/ranking/1'],
    [{ ranking: ['a', ['b']] }, '/ballot/ranking/1'],
    [{ ranking: [['b', 'b']] }, '/ballot/ranking/0/1'],
    [{ ranking: [['a', 1]] }, '/ballot/ranking/0/1'],
    [{ ranking: [['a', ['b', 'c']]] }, '/ballot/ranking/0/1'],
    [{ ranking: [{ a: 1 }] }, '/ballot/ranking/0'],
    [{ ranking: [['a', 'b'], 'a'] }, '/ballot'],
    [{ ranking: [['a', 'x']] }, '/ballot'],
    [{ ranking: ['a'], more: 1 }, '/ballot/more'],
    [{ ranking: ['x'] }, '/ballot'],
    [{ ranking: ['a'.repeat(3_000)] }, '/ballot'],
  ];
  for (const [ballot, pointer] of wrong) {
    const refused = await people.vote(voters[1]!, block, 'approve', { ballot });
    expectRefused(refused, 'SCHEMA');
    expect(refusalOf(refused).pointer).toBe(pointer);
  }
  expect(network.read.position.seq).toBeGreaterThanOrEqual(seq);
  expect(network.read.block(block)!.tally).toMatchObject({ approve: 0, reject: 0 });
  const ballot = { ranking: ['b'] };
  const vote = () => people.vote(voters[1]!, block, 'approve', { ballot });
  expect([(await vote()).result, (await vote()).result]).toEqual(['accepted', 'duplicate']);
  const other = await people.vote(voters[1]!, block, 'approve', { ballot: { ranking: ['a'] } });
  expectRefused(other, 'ALREADY_VOTED');
  expect(network.read.block(block)!.tally.approve).toBe(1);
  expect(auditor.violation).toBeNull();
});

// ---- Compares docs/rules.md with the rules, and completes the scenarios that it shows.

const page = readFileSync(join(root, 'docs/rules.md'), 'utf8');

const blocksIn = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((m) => m[1]!);

const yamlIn = (text: string) => blocksIn(text, 'yaml').map((block) => parse(block));

/** Returns the trimmed cells of the first table row that begins with this name in code. */
function rowOf(name: string): string[] {
  const line = page.split('\n').find((one) => one.startsWith(`| \`${name}\` `));
  return (line ?? '').split('|').map((cell) => cell.trim());
}

test.each(policies)('docs/rules.md: shows the parameters and the ballot of %s', (policy) => {
  const rule = createRule(policy);
  const defaults = Object.entries(rule.rule.parameters).map(
    ([name, { default: value }]) => `\`${name}\` (${value.toLocaleString('en')})`,
  );
  const [, , condition, parameters, ballot] = rowOf(policy);
  expect(condition).not.toBe('');
  expect(parameters!.split(', ').filter(Boolean).sort()).toEqual(defaults.sort());
  expect(ballot !== '').toBe(rule.takesBallots);
});

test('docs/rules.md: shows the bounds and the schema of every rule', () => {
  const written = page.slice(page.indexOf('<!-- generated: '));
  const schemas = blocksIn(written, 'json').map((text) => JSON.parse(text));
  for (const policy of policies) {
    const { rule, ballotSchema } = createRule(policy);
    if (ballotSchema) expect(schemas).toContainEqual(ballotSchema);
    for (const [name, { about, default: value, minimum, maximum }] of Object.entries(
      rule.parameters,
    )) {
      const numbers = [value, minimum, maximum].map((one) => one.toLocaleString('en'));
      const cells = [`\`${name}\``, about, numbers[0], `${numbers[1]} to ${numbers[2]}`];
      const rows = written.split('\n').map((row) => row.split('|').map((cell) => cell.trim()));
      const found = rows.find((row) => cells.every((cell, at) => row[at + 1] === cell));
      expect(found?.[5], `${policy} ${name}`).toContain(`\`${policy}\``);
    }
  }
  expect(schemas).toHaveLength(new Set(schemas.map((one) => JSON.stringify(one))).size);
});

test('docs/rules.md: shows scenarios that are valid, and every term of a line', () => {
  const scenarios = yamlIn(page).filter(({ title }) => title);
  expect(scenarios).toHaveLength(2);
  for (const raw of scenarios) {
    expect(completeScenario(raw).consensus).toMatchObject({ policy: raw.consensus.policy });
  }
  for (const term of Object.keys(RuleLine.properties.if.properties)) {
    expect(rowOf(term)[2], term).not.toBe('');
  }
});

test('docs/sweeps.md: shows scenarios that are valid', () => {
  const sweeps = yamlIn(readFileSync(join(root, 'docs/sweeps.md'), 'utf8'));
  const scenarios = sweeps.filter(({ title }) => title);
  expect(scenarios).toHaveLength(1);
  expect(completeScenario(scenarios[0]).sweep!.factors).toHaveLength(1);
  const [, sixty] = yamlIn(page).filter(({ consensus }) => consensus?.rule?.lines);
  for (const { sweep } of sweeps.filter((one) => !one.title && !one.consensus && one.sweep)) {
    expect(completeScenario({ ...sixty, sweep }).sweep!.factors[0]!.values).toEqual([-2, -3, -4]);
  }
});

test('docs/rules.md: shows two modules that keep their contract', async () => {
  await prepareSandbox();
  const [sixty, favorite, ...others] = blocksIn(page, 'js');
  expect(others).toEqual([]);
  expect(sixty).toBe(readFileSync(join(root, 'examples/rules/sixty.js'), 'utf8'));
  for (const source of [sixty!, favorite!]) {
    const checked = await checkRule(ruleOf({ policy: 'module', rule: { source } }), {
      seed: 'documents',
      polls: 40,
    });
    expect(checked.violations).toEqual([]);
  }
});

test('docs/rules.md: shows the same rule as lines, as a module and by name', async () => {
  await prepareSandbox();
  const scenarios = yamlIn(page).filter(({ title }) => title);
  const rules: NetworkRule[] = [
    ...scenarios.map(({ consensus }) => ruleOf(consensus)),
    ruleOf({ policy: 'module', rule: { source: blocksIn(page, 'js')[0]! } }),
  ];
  expect(rules.map(({ name }) => name)).toEqual(['lines', 'threshold', 'module']);
  const total = 20;
  const found = new Set<string | null>();
  for (let approve = 0; approve <= total; approve += 1) {
    for (let reject = 0; reject <= total - approve; reject += 1) {
      const voted = approve + reject;
      const counts = { approve, reject, total, voted, electors: total, vetoes: 0 };
      const decisions = new Set(rules.map((rule) => rule.decide(counts, true)));
      expect([approve, reject, decisions.size]).toEqual([approve, reject, 1]);
      for (const one of decisions) found.add(one);
    }
  }
  expect([...found].sort()).toEqual(['expired', 'finalized', 'rejected']);
});
