/** Random valid scenarios: completion is idempotent, and YAML and JSON are equivalent. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { completeScenario, loadScenario, scenarioJsonSchema } from 'folkmoot/sim';
import { stringify } from 'yaml';
import { counts } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { scenarios } from './random.js';

const accepts = new Ajv2020({ strict: false }).compile(scenarioJsonSchema());

test('random scenarios: completing twice equals completing once, and keeps given values', () => {
  const property = fc.property(scenarios, (raw) => {
    const before = structuredClone(raw);
    const once = completeScenario(raw);
    expect([completeScenario(once), raw]).toEqual([once, before]);
    const seed = raw.seed === undefined ? {} : { seed: String(raw.seed) };
    expect(once).toMatchObject({ ...raw, ...seed });
    expect([accepts(raw), accepts(once)]).toEqual([true, true]);
  });
  fc.assert(property, { numRuns: counts.randomScenarios });
});

test('random scenarios: a YAML file and a JSON file load to the same scenario', () => {
  const folder = temporaryFolder();
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return loadScenario(join(folder, name)).scenario;
  };
  const property = fc.property(scenarios, (raw) => {
    const scenario = completeScenario(raw);
    expect(file('town.yaml', stringify(raw))).toEqual(scenario);
    expect(file('town.json', JSON.stringify(raw, null, 1))).toEqual(scenario);
  });
  fc.assert(property, { numRuns: counts.randomScenarios });
});
