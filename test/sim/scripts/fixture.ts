/** Runs of small worlds with a script. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeScenario, ScenarioError, simulate } from 'folkmoot/sim';
import { temporaryFolder } from '../../support/fixture.js';
import { live, nearby, quiet, type Raw } from '../fixture.js';

export const honest = { group: 'honest', count: 5, producers: 2, strategy: { kind: 'honest' } };

/** Writes a script, and returns its folder and a group that follows it. */
export function scripted(text: string, parameters: Raw = {}, name = 'own.ts') {
  const folder = temporaryFolder();
  writeFileSync(join(folder, name), text);
  const strategy = { kind: 'script', module: name, parameters };
  return { folder, group: { group: 'own', count: 3, strategy } };
}

/** Runs the script together with honest agents, and returns everything sent. */
export const run = (text: string, sections: Raw = {}) => {
  const { folder, group } = scripted(text);
  return live([honest, group], { length: { blocks: 3 }, ...sections }, folder);
};

/** Returns the error that ends the run. */
export async function mistake(text: string, scriptMs?: number): Promise<ScenarioError> {
  const { folder, group } = scripted(text);
  const scenario = completeScenario(
    {
      title: 'a test',
      signatures: 'none',
      agents: [honest, group],
      social: quiet,
      links: nearby,
      length: { blocks: 3 },
    },
    folder,
  );
  const options = { folder, store: 'memory', ...(scriptMs === undefined ? {} : { scriptMs }) };
  const error = await simulate(scenario, options as never).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ScenarioError);
  return error as ScenarioError;
}
