/** Whether whoever decides outside of a run can be asked in its fork. */
import { externalsIn } from '../scenario/external.js';
import { ScenarioError } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';

/**
 * Before anything runs: a fork asks whenever an agent sees something else.
 * @throws {ScenarioError} when nobody may be asked.
 */
export function expectRecord(scenario: Scenario, record: boolean): void {
  if (record) return;
  const groups = externalsIn(scenario).map(({ group, strategy }) => `${group} (${strategy.kind})`);
  if (groups.length === 0) return;
  const why = `deciders outside of the simulation decide for ${groups.join(', ')}`;
  throw new ScenarioError(`${why}, and a fork asks them what they now see: expected --record`);
}

/**
 * A run keeps no programs, and one that is not found would make its agents abstain.
 * @param folder that was named.
 * @throws {ScenarioError} when programs are to be started, and nobody has said where.
 */
export function expectFolder(scenario: Scenario, folder: string | undefined): void {
  if (folder !== undefined) return;
  for (const { group, strategy } of externalsIn(scenario)) {
    const command = 'command' in strategy ? strategy.command : undefined;
    if (command === undefined) continue;
    const what = `the decider of group ${group} is a program, ${command.join(' ')}`;
    throw new ScenarioError(`${what}: --folder says in which folder it is started`);
  }
}
