/** What a scenario of the right shape can still have wrong: whatever depends on two places. */
import { fileInside } from '../files/inside.js';
import { groupSizes } from '../population.js';
import type { Problem } from '../problem.js';
import type { Scenario } from '../schema/scenario.js';
import { selected } from '../select.js';
import { joinedByMs } from '../staying.js';
import { conditionProblem } from './check-conditions.js';
import { decidersProblem } from './check-deciders.js';
import { interventionsProblem } from './check-interventions.js';
import { linksProblem } from './check-links.js';
import { traitsProblem } from './check-traits.js';

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

const numbers: Check = ({ producers }) => {
  const { least, most } = producers.transactions;
  if (least <= most) return null;
  return problem('producers.transactions.least', `is ${least}; expected at most ${most}`);
};

/** Nobody leaves who is still to come. */
const stays: Check = ({ agents }) => {
  for (const [index, group] of agents.entries()) {
    const least = joinedByMs(group);
    if (!group.leave || group.leave.at_ms >= least) continue;
    const text = `is ${group.leave.at_ms}; expected at least ${least}, when all of it have joined`;
    return problem(`agents.${index}.leave.at_ms`, text);
  }
  return null;
};

const conditions: Check = ({ length, agents }) => {
  const { until = [] } = length;
  const list = Array.isArray(until) ? until : [until];
  const named = agents.map(({ group }) => group);
  for (const [index, condition] of list.entries()) {
    const path = Array.isArray(until) ? `length.until.${index}` : 'length.until';
    const found = conditionProblem(condition, path, named);
    if (found) return found;
  }
  return null;
};

/** A warm-up that cannot end before the run does leaves nothing to measure. */
const warmup: Check = ({ measure, length }) => {
  const { warmup_ms, warmup_blocks } = measure;
  if (warmup_ms !== undefined && warmup_blocks !== undefined) {
    return problem('measure', 'has warmup_ms and warmup_blocks; expected one of them');
  }
  const { virtual_ms = Number.POSITIVE_INFINITY, blocks = Number.POSITIVE_INFINITY } = length;
  if (warmup_ms !== undefined && warmup_ms >= virtual_ms) {
    const end = `the run ends at length.virtual_ms, ${virtual_ms}`;
    return problem('measure.warmup_ms', `is ${warmup_ms}; expected less, for ${end}`);
  }
  if (warmup_blocks === undefined || warmup_blocks < blocks) return null;
  const end = `the run ends with length.blocks, ${blocks}`;
  return problem('measure.warmup_blocks', `is ${warmup_blocks}; expected less, for ${end}`);
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
    const found = fileInside(strategy.module, folder, 'a module');
    if ('why' in found) return problem(`${path}.module`, found.why);
  }
  return null;
};

const checks = [
  names,
  sizes,
  stays,
  electorate,
  numbers,
  conditions,
  warmup,
  faults,
  strategies,
  decidersProblem,
  traitsProblem,
  linksProblem,
  interventionsProblem,
];
