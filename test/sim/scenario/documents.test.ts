/** The generated schema and reference in docs/ match the code and the shipped files. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { loadScenario, scenarioJsonSchema, shippedScenarios } from 'folkmoot/sim';
import { Scenario } from '../../../dist/sim/scenario/schema/scenario.js';
import { root } from '../../support/paths.js';

test('docs/scenarios.md: lists every key, strategy and fault', () => {
  const reference = readFileSync(join(root, 'docs/scenarios.md'), 'utf8');
  const missing: string[] = [];
  const visit = (schema: unknown) => {
    if (typeof schema !== 'object' || schema === null) return;
    const { properties = {}, const: kind } = schema as { properties?: object; const?: string };
    const names = [...Object.keys(properties), ...(typeof kind === 'string' ? [kind] : [])];
    for (const name of names) {
      if (!new RegExp(`[\`.]${name}[\`.]|^#+ .*${name}`, 'm').test(reference)) missing.push(name);
    }
    for (const inner of Object.values(schema)) visit(inner);
  };
  visit(Scenario);
  expect(missing).toEqual([]);
});

const accepts = new Ajv2020({ strict: false }).compile(scenarioJsonSchema());

test('scenario schema: is draft 2020-12, and accepts files that omit defaults', () => {
  expect(scenarioJsonSchema()).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:folkmoot:scenario',
    title: 'Folkmoot scenario',
  });
  for (const { name, path } of shippedScenarios()) {
    const { raw, scenario } = loadScenario(path);
    expect([name, accepts(raw), accepts.errors]).toEqual([name, true, null]);
    expect(accepts(scenario), name).toBe(true);
  }
  const agents = [{ group: 'a', count: 1, producers: 1 }];
  expect(accepts({ title: 't', agents })).toBe(true);
  expect(accepts({ title: 't', agents, colour: 'red' })).toBe(false);
  expect(accepts({ agents })).toBe(false);
});
