/** What a distribution of a trait can have wrong: members of another, or values out of bounds. */
import type { Problem } from '../problem.js';
import type { Scenario } from '../schema/scenario.js';
import { boundsOf, type Drawn, parametersOf, type Traits } from '../schema/traits.js';

/** The first problem, or null. */
export function traitsProblem({
  agents,
}: {
  agents: readonly Pick<Scenario['agents'][number], 'traits'>[];
}): Problem | null {
  for (const [index, { traits = {} }] of agents.entries()) {
    for (const [name, trait] of Object.entries(traits)) {
      if (typeof trait === 'number') continue;
      const found = drawnProblem(trait, name as keyof Traits);
      if (!found) continue;
      const [member, text] = found;
      return { path: ['agents', String(index), 'traits', name, ...member], text };
    }
  }
  return null;
}

type Found = [member: string[], text: string] | null;

/** Beta may say what 0 and 1 stand for, choice how often each. */
const optional: Partial<Record<Drawn['distribution'], readonly string[]>> = {
  beta: ['from', 'to'],
  choice: ['weights'],
};

function drawnProblem({ distribution, ...members }: Drawn, name: keyof Traits): Found {
  const needed: readonly string[] = parametersOf[distribution];
  const missing = needed.find((member) => !(member in members));
  if (missing) return [[missing], `is missing; ${distribution} needs ${needed.join(' and ')}`];
  const known = [...needed, ...(optional[distribution] ?? [])];
  const foreign = Object.keys(members).find((member) => !known.includes(member));
  if (foreign) return [[foreign], `is not of ${distribution}; expected ${known.join(', ')}`];
  return rangeProblem(members, name) ?? weightsProblem(members);
}

function rangeProblem({ from, to, values }: Partial<Drawn>, name: keyof Traits): Found {
  const { minimum, maximum } = boundsOf(name);
  const outside = (value: number) => value < minimum || value > maximum;
  const expected = `expected a number from ${minimum} to ${maximum}, as ${name} has`;
  if (from !== undefined && outside(from)) return [['from'], `is ${from}; ${expected}`];
  if (to !== undefined && outside(to)) return [['to'], `is ${to}; ${expected}`];
  if (from !== undefined && to !== undefined && from > to) {
    return [['from'], `is ${from}; expected at most ${to}`];
  }
  const wrong = (values ?? []).findIndex(outside);
  return wrong < 0 ? null : [['values', String(wrong)], `is ${values![wrong]}; ${expected}`];
}

function weightsProblem({ values, weights }: Partial<Drawn>): Found {
  if (values === undefined || weights === undefined) return null;
  if (weights.length === values.length && weights.some((one) => one > 0)) return null;
  return [['weights'], `are ${weights.join(', ')}; expected ${values.length}, one of them above 0`];
}
