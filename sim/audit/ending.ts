/** The finished check: what a network shows at the end is what the model holds. */
import type {
  AgentView,
  BlockView,
  EventData,
  NetworkState,
  ReputationView,
} from '../../engine/internal.js';
import { instantText } from './instant.js';
import { allianceData } from './model/events.js';
import { figures } from './model/state/metrics.js';
import { needed } from './model/state/quorum.js';
import type { Agent, Block, State } from './model/state/state.js';
import { type BrokenRule, difference } from './violation.js';

/** The reads of a network that are looked at. */
export interface AuditedReads {
  networkState(): NetworkState;
  agents(): Iterable<AgentView>;
  reputation(agentId: string): ReputationView | undefined;
  blocks(): Iterable<BlockView & { ordinal: number }>;
  alliances(): Iterable<EventData['alliance_update']>;
}

export function checkReads(state: State, at: number, reads: AuditedReads): BrokenRule | null {
  return (
    compare('network', networkView(state, at), reads.networkState()) ??
    checkAgents(state, reads) ??
    checkBlocks(state, reads) ??
    checkAlliances(state, reads)
  );
}

function compare(actor: string, expected: unknown, found: unknown): BrokenRule | null {
  const one = difference(expected, found);
  if (!one) return null;
  return { rule: 'read', actor, expected: one.expected, found: `${one.where} ${one.found}` };
}

function networkView(state: State, at: number): NetworkState {
  const { tps, ...others } = figures(state, at);
  const { network_id } = state.genesis;
  return { ...others, network_tps: tps, network_id, server_time: instantText(at) };
}

function checkAgents(state: State, reads: AuditedReads): BrokenRule | null {
  let seen = 0;
  for (const view of reads.agents()) {
    const agent = state.byId.get(view.id);
    if (!agent) return compare(view.id, undefined, view);
    seen += 1;
    const { capabilities: _, ...rest } = view;
    const wrong =
      compare(agent.id, agentView(agent), rest) ??
      compare(agent.id, reputationView(agent), reads.reputation(agent.id));
    if (wrong) return wrong;
  }
  return compare('network', `${state.agents.length} agents`, `${seen} agents`);
}

function agentView(agent: Agent): Omit<AgentView, 'capabilities'> {
  return {
    id: agent.id,
    public_key: agent.key,
    personality: agent.personality,
    name: agent.name,
    description: agent.description,
    status: agent.status,
    reason: agent.reason,
    expected_duration: agent.expectedDuration,
    registration_time: instantText(agent.registeredAt),
    dormant: agent.dormant,
    reputation_score: agent.scores.overall / 10_000,
    blocks_produced: agent.produced,
  };
}

function reputationView({ scores }: Agent): ReputationView {
  return {
    overall_score: scores.overall / 10_000,
    meme_quality: scores.meme / 10_000,
    decision_consistency: scores.consistency / 10_000,
    peer_ratings: scores.peer / 10_000,
    alliance_strength: scores.alliance / 10_000,
  };
}

function checkBlocks(state: State, reads: AuditedReads): BrokenRule | null {
  let left = state.blocks.size;
  for (const { ordinal, ...view } of reads.blocks()) {
    left -= 1;
    const block = state.blocks.get(view.block_hash);
    const wrong =
      compare(view.block_hash, left, ordinal) ??
      compare(view.block_hash, block && blockView(state, block), view);
    if (wrong) return wrong;
  }
  return compare('network', 'every block', left === 0 ? 'every block' : `${left} blocks too few`);
}

function blockView({ genesis }: State, block: Block): BlockView {
  const { approve, reject, electorate, producer } = block;
  return {
    block_hash: block.hash,
    parent_hash: block.parent,
    height: block.height,
    status: block.status,
    producer: { id: producer.id, public_key: producer.key },
    tally: { approve, reject, electorate: electorate.total, needed: needed(genesis, block) },
    transactions: block.transactions,
    voting_deadline: instantText(block.deadline),
    timestamp: instantText(block.proposedAt),
    closed_at: block.status === 'voting' ? null : instantText(block.closedAt),
  };
}

function checkAlliances(state: State, reads: AuditedReads): BrokenRule | null {
  const alliances = [...state.alliances.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const views = [...reads.alliances()];
  return compare('alliances', alliances.map(allianceData), views);
}
