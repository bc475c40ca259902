/** What a scenario of the right shape can still have wrong: whatever depends on two places. */
import { groupSizes } from '../population.js';
import type { Problem } from '../problem.js';
import type { Scenario } from '../schema/scenario.js';
import { selected } from '../select.js';
import { scriptFile } from './script-file.js';

/** Everybody hears everybody: the work of a block grows with the square of this. */
const LARGEST_COMPLETE = 2_000;

type Check = (scenario: Scenario, folder: string | undefined) => Problem | null;

const problem = (path: string, text: string): Problem => ({ path: path.split('.'), text });

/** The first problem, or null. */
export const check: Check = (scenario, folder) => {
  for (const one of checks) {
    const found = one(scenario, folder);
    if (found) return found;
  }
  return null;
};

const names: Check = ({ agents }) => {
  const seen = new Set<string>();
  for (const [index, { group }] of agents.entries()) {
    if (seen.has(group)) {
      return problem(`agents.${index}.group`, `is ${group} again; expected a name of its own`);
    }
    seen.add(group);
  }
  return null;
};

const sizes: Check = (scenario) => {
  const { agents, population } = scenario;
  const both = agents.findIndex(({ count, share }) => count !== undefined && share !== undefined);
  if (both >= 0) return problem(`agents.${both}`, 'has count and share; expected one of them');
  if (!Number.isFinite(population)) {
    return problem('population', 'is missing; a group that has no count needs it');
  }
  const rest = agents.flatMap(({ count, share }, index) =>
    count === undefined && share === undefined ? [index] : [],
  );
  if (rest.length > 1) {
    return problem(`agents.${rest[1]}`, 'has neither count nor share; one group takes the rest');
  }
  const sum = groupSizes(scenario).reduce((total, size) => total + size, 0);
  if (sum === population) return null;
  const what = sum > population ? 'more' : 'fewer';
  return problem('agents', `are ${sum} in all, ${what} than the population of ${population}`);
};

/** An electorate that can never be is refused: no block could even be proposed. */
const electorate: Check = (scenario) => {
  const { agents, consensus } = scenario;
  const each = groupSizes(scenario);
  const count = (capability: 'validator' | 'producer') =>
    agents.reduce((sum, { capabilities, producers }, index) => {
      const all = capabilities.includes(capability);
      const some = capability === 'producer' ? Math.min(producers, each[index]!) : 0;
      return sum + (all ? each[index]! : some);
    }, 0);
  const validators = count('validator');
  if (validators < consensus.min_validators) {
    const text = `is ${consensus.min_validators}; expected at most ${validators}, all validators`;
    return problem('consensus.min_validators', text);
  }
  if (count('producer') > 0) return null;
  return problem('agents', 'have no producer; give a group producers, or the capability');
};

const numbers: Check = ({ producers, topology, population }) => {
  const { least, most } = producers.transactions;
  if (least > most) {
    return problem('producers.transactions.least', `is ${least}; expected at most ${most}`);
  }
  if (topology.degree % 2 !== 0) {
    return problem('topology.degree', `is ${topology.degree}; expected an even number`);
  }
  if (topology.kind !== 'complete' || population <= LARGEST_COMPLETE) return null;
  const text = `is complete for ${population} agents; expected at most ${LARGEST_COMPLETE}`;
  return problem('topology.kind', text);
};

const faults: Check = (scenario) => {
  const named = new Set(scenario.agents.map(({ group }) => group));
  for (const [index, { whom }] of scenario.faults.entries()) {
    for (const [place, selector] of whom.entries()) {
      const path = `faults.${index}.whom.${place}`;
      const { group, count, share } = selector;
      if (group !== undefined && !named.has(group)) {
        return problem(`${path}.group`, `is ${group}; expected one of ${[...named].join(', ')}`);
      }
      if (count !== undefined && share !== undefined) {
        return problem(path, 'has count and share; expected one of them');
      }
    }
    if (selected(scenario, whom, index).length > 0) continue;
    return problem(`faults.${index}.whom`, 'names no one: the fault would hit nobody');
  }
  return null;
};

const strategies: Check = ({ agents }, folder) => {
  const named = agents.map(({ group }) => group);
  for (const [index, { strategy }] of agents.entries()) {
    const path = `agents.${index}.strategy`;
    if (strategy.kind === 'censor' && !named.includes(strategy.against)) {
      const expected = `expected one of ${named.join(', ')}`;
      return problem(`${path}.against`, `is ${strategy.against}; ${expected}`);
    }
    if (strategy.kind !== 'script' || folder === undefined) continue;
    const found = scriptFile(strategy.module, folder);
    if ('why' in found) return problem(`${path}.module`, found.why);
  }
  return null;
};

const checks = [names, sizes, electorate, numbers, faults, strategies];
