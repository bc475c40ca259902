/**
 * Differences per voter between two saved runs after their common prefix. Because of the common
 * prefix, an agent in one run is the same agent in the other run.
 */
import { storedLines } from '../../engine/replay/lines.js';
import { tableRows } from '../../report/folder.js';
import { withRunStore } from './logs.js';

/** Number of votes on blocks with equal numbers. */
interface VoteCounts {
  same: number;
  /** Votes that approve in one run and reject in the other. */
  flipped: number;
  only_a: number;
  only_b: number;
}

interface VoterDifference extends VoteCounts {
  agent_id: string;
  name: string;
  /** Group name. Empty for an agent outside the scenario, like the agent's name. */
  group: string;
}

/** Two futures with a shared past. */
export interface Futures {
  /** Number of common entries. */
  common: number;
  /** Virtual time of the first difference, in milliseconds. */
  parted_ms: number;
  votes: VoteCounts;
  /** Agents whose votes differ, most flipped votes first. */
  voters: VoterDifference[];
}

/** Smallest common past. Entry 0 contains only parameters, so that entry alone does not count. */
const LEAST_COMMON = 2;

/**
 * Compares two runs. Returns null if the runs have no common prefix or no difference.
 *
 * @param parting sequence number of the first different entry.
 * @throws {StoreError} if a folder contains no finished run.
 */
export async function compareFutures(
  a: string,
  b: string,
  parting: number | undefined,
): Promise<Futures | null> {
  if (parting === undefined || parting < LEAST_COMMON) return null;
  const agents = await agentsOf(a, b);
  const [one, other] = [await readVotes(a, agents), await readVotes(b, agents)];
  const parted = await Promise.all([a, b].map((folder) => timeOf(folder, parting)));
  const voters = [...agents.values()].map(({ agent_id, name, group }) => {
    return { agent_id, name, group, ...none() };
  });
  for (let number = 0; number < Math.max(one.length, other.length); number += 1) {
    count(voters, one[number] ?? new Uint8Array(), other[number] ?? new Uint8Array());
  }
  return {
    common: parting,
    parted_ms: Math.min(...parted),
    votes: voters.reduce<VoteCounts>((sum, one) => added(sum, one), none()),
    voters: voters.filter(differs).sort(mostFlipped),
  };
}

const none = (): VoteCounts => ({ same: 0, flipped: 0, only_a: 0, only_b: 0 });

const added = (a: VoteCounts, b: VoteCounts): VoteCounts => ({
  same: a.same + b.same,
  flipped: a.flipped + b.flipped,
  only_a: a.only_a + b.only_a,
  only_b: a.only_b + b.only_b,
});

const differs = ({ flipped, only_a, only_b }: VoteCounts): boolean => flipped + only_a + only_b > 0;

const mostFlipped = (a: VoterDifference, b: VoterDifference): number =>
  b.flipped - a.flipped ||
  b.only_a + b.only_b - (a.only_a + a.only_b) ||
  (a.agent_id < b.agent_id ? -1 : 1);

function count(voters: readonly VoteCounts[], one: Uint8Array, other: Uint8Array): void {
  for (const [index, counts] of voters.entries()) {
    const [a = 0, b = 0] = [one[index], other[index]];
    if (a === 0 && b === 0) continue;
    if (a === b) counts.same += 1;
    else if (a !== 0 && b !== 0) counts.flipped += 1;
    else if (b === 0) counts.only_a += 1;
    else counts.only_b += 1;
  }
}

type Agent = Omit<VoterDifference, keyof VoteCounts> & { index: number };

/** Returns the scenario's agents. Agents outside the scenario are added when they vote. */
async function agentsOf(...folders: string[]): Promise<Map<string, Agent>> {
  const agents = new Map<string, Agent>();
  for (const folder of folders) {
    for await (const { agent_id = '', name = '', group = '' } of tableRows(folder, 'agents.csv')) {
      if (agent_id !== '' && !agents.has(agent_id)) {
        agents.set(agent_id, { index: agents.size, agent_id, name, group });
      }
    }
  }
  return agents;
}

const VOTE = '"type":"block_validation"}';
const codes: Readonly<Record<string, number>> = { approve: 1, reject: 2 };

/** Returns each agent's votes by block number; 0 for no vote. */
async function readVotes(folder: string, agents: Map<string, Agent>): Promise<Uint8Array[]> {
  const numbers = new Map<string, number>();
  for await (const { number, block_hash } of tableRows(folder, 'blocks.csv')) {
    numbers.set(block_hash!, Number(number));
  }
  const votes: Uint8Array[] = [];
  await withRunStore(folder, (store) => {
    for (const { json } of store.events(1, store.meta()!.event_seq)) {
      if (!json.endsWith(VOTE)) continue;
      const { data } = JSON.parse(json) as {
        data: { block_hash: string; decision: string; validator: { id: string } };
      };
      const number = numbers.get(data.block_hash);
      if (number === undefined) continue;
      const index = indexOf(agents, data.validator.id);
      const known = votes[number] ?? new Uint8Array(agents.size);
      votes[number] = known.length > index ? known : grown(known, 2 * (index + 1));
      votes[number][index] = codes[data.decision] ?? 0;
    }
  });
  return votes;
}

function indexOf(agents: Map<string, Agent>, agent_id: string): number {
  const found = agents.get(agent_id);
  if (found) return found.index;
  agents.set(agent_id, { index: agents.size, agent_id, name: '', group: '' });
  return agents.size - 1;
}

function grown(bytes: Uint8Array, size: number): Uint8Array {
  const larger = new Uint8Array(size);
  larger.set(bytes);
  return larger;
}

/** Returns an entry's time since the run's start; the last entry's if the log ends before `seq`. */
function timeOf(folder: string, seq: number): Promise<number> {
  return withRunStore(folder, (store) => {
    const last = Math.min(seq, store.meta()!.seq);
    const at = (entry: number) => [...storedLines(store, entry, entry)][0]!.entry.at;
    return at(last) - at(0);
  });
}
