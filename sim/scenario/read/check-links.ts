/** What the graph and the links of a scenario can have wrong beyond their shape. */
import { dataProblem } from '../files/data.js';
import type { Problem } from '../problem.js';
import type { Latency } from '../schema/links.js';
import type { Scenario } from '../schema/scenario.js';

/** Everybody hears everybody: the work of a block grows with the square of this. */
const LARGEST_COMPLETE = 2_000;
/** Neighbours of an agent in the mean, by whatever topology. */
const MOST_NEIGHBOURS = 2_000;

/** The first problem, or null. */
export function linksProblem(scenario: Scenario, folder: string | undefined): Problem | null {
  return (
    topologyProblem(scenario) ??
    latencyProblem(scenario.links.latency, 'links.latency') ??
    betweenProblem(scenario) ??
    (folder === undefined ? null : dataProblem(scenario, folder))
  );
}

const problem = (path: string, text: string): Problem => ({ path: path.split('.'), text });

function topologyProblem({ topology, population }: Scenario): Problem | null {
  const { kind, degree, probability, file } = topology;
  if (degree % 2 !== 0 && kind !== 'erdos_renyi') {
    return problem('topology.degree', `is ${degree}; expected an even number`);
  }
  if (probability !== undefined && kind !== 'erdos_renyi') {
    const text = `is ${probability}; expected with kind erdos_renyi only`;
    return problem('topology.probability', text);
  }
  const neighbours = Math.round((probability ?? 0) * (population - 1));
  if (neighbours > MOST_NEIGHBOURS) {
    const text = `is ${probability}: ${neighbours} neighbours of each agent`;
    return problem('topology.probability', `${text}; expected at most ${MOST_NEIGHBOURS}`);
  }
  if ((file !== undefined) !== (kind === 'edges')) {
    const text = file === undefined ? 'is missing; expected a CSV file' : `is ${file}; expected`;
    return problem('topology.file', `${text} with kind edges`);
  }
  if (kind !== 'complete' || population <= LARGEST_COMPLETE) return null;
  const text = `is complete for ${population} agents; expected at most ${LARGEST_COMPLETE}`;
  return problem('topology.kind', text);
}

function betweenProblem({ links, agents }: Scenario): Problem | null {
  const named = [...new Set(agents.flatMap(({ group, region = group }) => [group, region]))];
  const known = [...named, 'network'];
  for (const [index, { from, to, latency }] of links.between.entries()) {
    const path = `links.between.${index}`;
    const expected = `expected one of ${known.join(', ')}`;
    if (!known.includes(from)) return problem(`${path}.from`, `is ${from}; ${expected}`);
    if (!known.includes(to)) return problem(`${path}.to`, `is ${to}; ${expected}`);
    const found = latencyProblem(latency, `${path}.latency`);
    if (found) return found;
  }
  return null;
}

/** Members that belong to one distribution are refused with every other. */
function latencyProblem({ distribution, file, shape }: Latency, path: string): Problem | null {
  if (shape !== undefined && distribution !== 'pareto') {
    return problem(`${path}.shape`, `is ${shape}; expected with distribution pareto only`);
  }
  if ((file !== undefined) === (distribution === 'empirical')) return null;
  const text = file === undefined ? 'is missing; expected a CSV file' : `is ${file}; expected`;
  return problem(`${path}.file`, `${text} with distribution empirical`);
}
