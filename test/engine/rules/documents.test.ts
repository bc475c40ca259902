/** Compares docs/rules.md with the rules, and completes the scenarios that it shows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { RuleLine } from '../../../dist/engine/protocol/schema/genesis.js';
import { completeScenario } from '../../../dist/sim/scenario/complete.js';
import { root } from '../../support/paths.js';
import { createRule, policies } from './polls.js';

const page = readFileSync(join(root, 'docs/rules.md'), 'utf8');

/** Cells of the first table row that begins with a name in code, with spaces as one. */
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

test('docs/rules.md: shows scenarios that are valid, and every term of a line', () => {
  const texts = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text!);
  const scenarios = texts.map((text) => parse(text)).filter(({ title }) => title);
  expect(scenarios).toHaveLength(2);
  for (const raw of scenarios) {
    expect(completeScenario(raw).consensus).toMatchObject({ policy: raw.consensus.policy });
  }
  for (const term of Object.keys(RuleLine.properties.if.properties)) {
    expect(rowOf(term)[2], term).not.toBe('');
  }
});
