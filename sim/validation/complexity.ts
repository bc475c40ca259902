/**
 * How many messages a block takes, by theory and as counted: requests and events grow with the
 * agents, gossip with the links between them, so in a complete graph with their square.
 */
import { Streams } from '../rng.js';
import { simulate } from '../run/simulate.js';
import { completeScenario } from '../scenario/read/complete.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { graphOf } from '../world/links/graph/graph.js';
import type { MessageKind } from '../world/messages.js';

export interface ComplexityRow {
  topology: Scenario['topology']['kind'];
  agents: number;
  kind: MessageKind;
  /** In n agents, and m links between them. */
  formula: string;
  /** Messages for each block, by the formula and as counted. */
  expected: number;
  counted: number;
}

/** The topologies of the table, each with m by n. */
const topologies = [
  { kind: 'complete', links: (n: number) => (n * (n - 1)) / 2 },
  { kind: 'ring', degree: 4, links: (n: number) => 2 * n },
  // As drawn: where a rewired link meets another one there is one less.
  { kind: 'small_world', degree: 8, rewired: 0.1, links: null },
] as const;

const formulas = {
  'request.propose': { formula: '1', of: () => 1 },
  'request.vote': { formula: 'n', of: (n: number) => n },
  'event.proposal': { formula: 'n', of: (n: number) => n },
  'event.close': { formula: 'n', of: (n: number) => n },
  'gossip.vote': { formula: '2 m', of: (_: number, links: number) => 2 * links },
} as const satisfies Partial<Record<MessageKind, object>>;

const BLOCKS = 3;

/**
 * Runs a few blocks on which everybody votes, over links that lose nothing.
 * @param sizes how many agents: 12 at least, 2,000 at most.
 */
export async function messageComplexity(sizes: readonly number[]): Promise<ComplexityRow[]> {
  const rows: ComplexityRow[] = [];
  for (const topology of topologies) {
    for (const agents of sizes) rows.push(...(await rowsOf(topology, agents)));
  }
  return rows;
}

async function rowsOf(
  { links, ...topology }: (typeof topologies)[number],
  agents: number,
): Promise<ComplexityRow[]> {
  const scenario = scenarioOf(topology, agents);
  const { messages } = await simulate(scenario, { store: 'memory', audit: false });
  const m = links ? links(agents) : drawnLinks(scenario);
  return Object.entries(formulas).map(([name, { formula, of }]) => {
    const kind = name as keyof typeof formulas;
    const counted = messages[kind].sent / BLOCKS;
    return { topology: topology.kind, agents, kind, formula, expected: of(agents, m), counted };
  });
}

function drawnLinks(scenario: Scenario): number {
  const graph = graphOf(scenario, new Streams(scenario.seed).of('world', 'graph'));
  return graph.reduce((sum, neighbours) => sum + neighbours.length, 0) / 2;
}

/** A majority of all is reached when the last one has voted: half of them are for a block. */
function scenarioOf(topology: object, count: number): Scenario {
  const off = () => ({ rate: 0 });
  return completeScenario({
    title: `${count} agents`,
    signatures: 'none',
    agents: [{ group: 'all', count, producers: 1, strategy: { kind: 'honest' } }],
    topology,
    social: { memes: off(), discussion: off(), alliances: off(), breaks: off() },
    links: { latency: { distribution: 'constant', mean_ms: 20, spread_ms: 0 } },
    producers: { schedule: 'round_robin', block_interval_ms: 10_000 },
    consensus: { policy: 'majority', participation: 0, dormant_after: 0 },
    length: { blocks: BLOCKS },
  });
}
