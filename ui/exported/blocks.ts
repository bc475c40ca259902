/** A block and the votes on it as a server would show them, out of the rows of a run. */
import { type BlockRow, blockStatuses, rowKinds } from '../../api/view/model.js';
import type { Run } from './run.js';

const VOTE = rowKinds.indexOf('block_validation');
const CLOSING = rowKinds.indexOf('block_status');

interface Ballot {
  agent: number;
  decision: 'approve' | 'reject';
  weight: number;
  reason: string;
}

interface Found {
  ballots: Ballot[];
  status: string;
  closed_at: number | null;
}

/** All that came of it, from its proposal to its end. */
function followed({ spans }: Run, { number, entry }: BlockRow): Found {
  const found: Found = { ballots: [], status: 'voting', closed_at: null };
  for (const { from, to, rows, said } of spans) {
    if (to < entry) continue;
    const reasons = new Map<number, string>();
    for (const one of said) if (one.kind === 'reason') reasons.set(one.entry, one.text);
    for (let row = 0; row < rows.kind.length; row += 1) {
      const kind = rows.kind[row]!;
      if (rows.what[row] !== number || (kind !== VOTE && kind !== CLOSING)) continue;
      const value = rows.value[row]!;
      if (kind === CLOSING)
        return { ...found, status: blockStatuses[value]!, closed_at: rows.at[row]! };
      found.ballots.push({
        agent: rows.who[row]!,
        decision: value % 2 === 1 ? 'reject' : 'approve',
        weight: Math.floor(value / 2),
        reason: reasons.get(from + rows.entry[row]!) ?? '',
      });
    }
  }
  return found;
}

/** Undefined where the run has no such block. */
export function blockData(run: Run, hash: string): object | undefined {
  const block = run.block(hash.toLowerCase());
  if (!block) return undefined;
  const { ballots, status, closed_at } = followed(run, block);
  const { id, public_key } = run.agents[block.producer]!;
  const weight = (decision: Ballot['decision']) =>
    ballots.reduce((sum, one) => sum + (one.decision === decision ? one.weight : 0), 0);
  return {
    block_hash: block.hash,
    parent_hash: block.parent,
    height: block.height,
    status,
    producer: { id, public_key },
    tally: { approve: weight('approve'), reject: weight('reject'), electorate: block.total },
    transactions: block.transactions,
    voting_deadline: timeOf(block.deadline),
    timestamp: timeOf(block.proposed_at),
    closed_at: closed_at === null ? null : timeOf(closed_at),
    entry: block.entry,
    proposal: run.kept.proposals[block.number] ?? {},
    public_key,
  };
}

const timeOf = (ms: number) => new Date(ms).toISOString();

/** In the order of agents. Of the electorate, who voted: what the others weigh, no row says. */
export function votesOn(run: Run, hash: string): object | undefined {
  const block = run.block(hash.toLowerCase());
  if (!block) return undefined;
  const { ballots } = followed(run, block);
  const voters = ballots
    .sort((one, other) => one.agent - other.agent)
    .map(({ agent, ...rest }) => ({ ...run.agents[agent]!, ...rest }));
  return {
    block_hash: block.hash,
    electors: block.electors,
    electorate: voters.map(({ id, public_key, weight }) => ({ agent_id: id, public_key, weight })),
    votes: voters.map(({ public_key, decision, reason }) => ({
      public_key,
      vote: { block_hash: block.hash, decision, reason },
    })),
    next_cursor: null,
  };
}
