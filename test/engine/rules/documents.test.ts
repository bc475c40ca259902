/** Compares docs/rules.md with the rules, and completes the scenarios that it shows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { RuleLine } from '../../../dist/engine/protocol/schema/genesis.js';
import { type NetworkRule, ruleOf } from '../../../dist/engine/rules/network-rule.js';
import { prepareSandbox } from '../../../dist/engine/rules/sandbox.js';
import { checkRule } from '../../../dist/sim/rules/check.js';
import { completeScenario } from '../../../dist/sim/scenario/complete.js';
import { root } from '../../support/paths.js';
import { createRule, policies } from './polls.js';

const page = readFileSync(join(root, 'docs/rules.md'), 'utf8');

const blocksIn = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, block]) => block!,
  );

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
