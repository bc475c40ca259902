/**
 * A known server's network: agents, one chain of blocks and the votes on them, as far as a load run
 * can see. The network checks no signatures and supports one policy: approval by more than two
 * thirds.
 */
import { agentId, blockHash, sha256Hex } from 'folkmoot/signing';
import type { Refusal } from './behaviour.js';
import { type Made, nowMs, type Record } from './record.js';

export type Fields = { [name: string]: unknown };
export type Answer = { status: number; data: Fields } | Refusal;

interface Agent {
  id: string;
  key: string;
  personality: string;
  capabilities: readonly string[];
  status: string;
}

interface Block {
  hash: string;
  parent: string;
  height: number;
  producer: string;
  transactions: { hash: string }[];
  status: 'voting' | 'finalized' | 'orphaned' | 'expired';
  electors: Set<string>;
  votes: Map<string, string>;
}

const GENESIS = '0'.repeat(64);
const VOTING_MS = 30_000;

const refusal = (status: number, code: string, reason: string): Refusal => ({
  status,
  code,
  reason,
});
const invalid = (status: number, reason: string) => refusal(status, 'INVALID_REQUEST', reason);
const unable = (status: number, reason: string) => refusal(status, 'INVALID_AGENT', reason);
const time = () => new Date(nowMs()).toISOString();

export class KnownNetwork {
  readonly id = 'known';
  epoch = 'epoch-1';
  readonly #made: Made;
  readonly #record: Record;
  readonly #tell: (type: string, data: Fields) => void;
  readonly #agents = new Map<string, Agent>();
  readonly #blocks = new Map<string, Block>();
  #head = { hash: GENESIS, height: 0 };

  constructor(made: Made, record: Record, tell: (type: string, data: Fields) => void) {
    this.#made = made;
    this.#record = record;
    this.#tell = tell;
    this.#settle();
  }

  /** Called when the host restarts with an empty folder. */
  begin(epoch: string): void {
    this.epoch = epoch;
    this.#agents.clear();
    this.#blocks.clear();
    this.#head = { hash: GENESIS, height: 0 };
    this.#settle();
  }

  knows = (key: string) => this.#agents.has(key);
  idOf = (key: string) => agentId(key);

  register(body: Fields): Answer {
    const key = String(body.public_key).toLowerCase();
    const { personality, capabilities } = body as { personality: string; capabilities: string[] };
    const agent = { id: agentId(key), key, personality, capabilities, status: 'active' };
    const known = this.#agents.has(key);
    if (!known) this.#agents.set(key, agent);
    const data = { agent_id: agent.id, registration_time: time(), status: 'active' };
    if (known) return { status: 200, data: { ...data, ...this.#added({ duplicate: true }) } };
    this.#tellStatus(agent, 'registered', '');
    return { status: 201, data };
  }

  status(key: string, id: string, body: Fields): Answer {
    const agent = this.#agents.get(key);
    if (!agent) return unable(401, 'UNKNOWN_KEY');
    if (agent.id !== id) return unable(403, 'NOT_OWNER');
    const previous = agent.status;
    agent.status = String(body.status);
    const { reason = '', expected_duration = '' } = body as { [name: string]: string };
    this.#tellStatus(agent, reason, expected_duration);
    const { status } = agent;
    const shown = { agent_id: id, status, previous_status: previous, reason, expected_duration };
    return { status: 200, data: this.#unshown({ ...shown, timestamp: time() }) };
  }

  propose(key: string, body: Fields): Answer {
    const producer = this.#agents.get(key);
    if (!producer) return unable(401, 'UNKNOWN_KEY');
    if (!producer.capabilities.includes('producer')) return unable(403, 'NOT_PRODUCER');
    if (producer.status !== 'active') return unable(403, 'NOT_ACTIVE');
    const hash = blockHash(body, key, this.id);
    const again = this.#blocks.get(hash);
    if (again) return { status: 200, data: this.#unshown(this.#proposed(again)) };
    if (body.parent_hash !== this.#head.hash) return invalid(409, 'STALE_PARENT');
    const open = [...this.#open()];
    if (open.some((block) => block.producer === key)) return invalid(409, 'OPEN_BLOCK');
    if (open.length >= 8) return invalid(409, 'TOO_MANY_OPEN');
    const block: Block = {
      hash,
      parent: this.#head.hash,
      height: this.#head.height + 1,
      producer: key,
      transactions: body.transactions as { hash: string }[],
      status: 'voting',
      electors: new Set([...this.#having('validator')].map((agent) => agent.key)),
      votes: new Map(),
    };
    if (block.electors.size === 0) return invalid(409, 'NO_VALIDATORS');
    this.#blocks.set(hash, block);
    this.#tellProposal(block, producer);
    setTimeout(() => this.#close(block, 'expired'), VOTING_MS).unref();
    return { status: 201, data: this.#unshown(this.#proposed(block)) };
  }

  vote(key: string, body: Fields): Answer {
    const voter = this.#agents.get(key);
    if (!voter) return unable(401, 'UNKNOWN_KEY');
    const block = this.#blocks.get(String(body.block_hash));
    if (!block) return invalid(404, 'UNKNOWN_BLOCK');
    const decision = String(body.decision);
    const before = block.votes.get(key);
    if (before === decision) return { status: 200, data: this.#voted(block, voter, decision) };
    if (!block.electors.has(key)) return unable(403, 'NOT_IN_ELECTORATE');
    if (before !== undefined) return invalid(409, 'ALREADY_VOTED');
    if (block.status !== 'voting') return invalid(409, 'VOTING_CLOSED');
    if (voter.status !== 'active') return unable(403, 'NOT_ACTIVE');
    block.votes.set(key, decision);
    const validator = { id: voter.id, personality: voter.personality };
    const { reason = '' } = body;
    const said = { block_hash: block.hash, validator, decision, reason, timestamp: time() };
    this.#tell('block_validation', said);
    if (3 * approvals(block) > 2 * block.electors.size) {
      this.#close(block, 'finalized');
    }
    return { status: 201, data: this.#voted(block, voter, decision) };
  }

  meme(key: string, raw: Buffer): Answer {
    const creator = this.#agents.get(key);
    if (!creator) return unable(401, 'UNKNOWN_KEY');
    const id = sha256Hex(raw);
    const content = { type: 'text', url: `/api/v1/social/memes/${id}/content`, caption: '' };
    const shown = { meme_id: id, content, tags: [], timestamp: time() };
    this.#tell('meme_posted', {
      ...shown,
      creator: { id: creator.id, personality: creator.personality },
    });
    return { status: 201, data: this.#unshown(shown) };
  }

  state(): Answer {
    const { timestamp: server_time, tps: network_tps, ...figures } = this.#metrics();
    const id = this.#made.shows === 'interface' ? {} : { network_id: this.id };
    return {
      status: 200,
      data: { ...figures, network_tps, ...id, ...this.#added({ server_time }) },
    };
  }

  agents(): Answer {
    const validators = [...this.#having('validator')].map(({ id, key, personality, status }) => ({
      ...{ id, public_key: key, personality, status, reputation_score: 50 },
    }));
    const producers = [...this.#having('producer')].map(({ id, key, status }) => ({
      ...{ id, public_key: key, blocks_produced: 0, status },
    }));
    return { status: 200, data: { validators, producers } };
  }

  reputation(id: string): Answer {
    const known = [...this.#agents.values()].some((agent) => agent.id === id);
    if (!known) return unable(404, 'UNKNOWN_AGENT');
    const scores = { meme_quality: 50, decision_consistency: 50, peer_ratings: 50 };
    return { status: 200, data: { overall_score: 50, ...scores, alliance_strength: 50 } };
  }

  meta(): Answer {
    const { epoch, id: network_id } = this;
    const limits = { profile: 'off', per_minute: {} };
    return { status: 200, data: { version: 'known', network_id, epoch, durable: false, limits } };
  }

  #settle(): void {
    for (let ordinal = 0; ordinal < this.#made.citizens; ordinal += 1) {
      const key = sha256Hex(`citizen ${ordinal}`);
      const capabilities = ['producer'];
      const agent = { id: agentId(key), key, personality: 'neutral', capabilities };
      this.#agents.set(key, { ...agent, status: 'active' });
    }
  }

  *#having(capability: string) {
    for (const agent of this.#agents.values()) {
      if (agent.status === 'active' && agent.capabilities.includes(capability)) yield agent;
    }
  }

  *#open() {
    for (const block of this.#blocks.values()) if (block.status === 'voting') yield block;
  }

  #close(block: Block, status: 'finalized' | 'expired'): void {
    if (block.status !== 'voting') return;
    const closing = [block];
    block.status = status;
    if (status === 'finalized') {
      this.#head = { hash: block.hash, height: block.height };
      const { hash, transactions } = block;
      this.#record.finalized.push({ hash, atMs: nowMs(), transactions: transactions.length });
      for (const sibling of this.#open()) {
        sibling.status = 'orphaned';
        closing.push(sibling);
      }
    }
    for (const one of closing) this.#tell('block_status', outcome(one));
    this.#tell('network_metrics', this.#metrics());
  }

  #metrics() {
    const pending = [...this.#open()].reduce((sum, block) => sum + block.transactions.length, 0);
    return {
      block_height: this.#head.height,
      tps: 0,
      active_validators: [...this.#having('validator')].length,
      active_producers: [...this.#having('producer')].length,
      pending_transactions: pending,
      timestamp: time(),
      ...this.#added({ head_hash: this.#head.hash }),
    };
  }

  #tellStatus({ id, status }: Agent, reason: string, expected_duration: string): void {
    const timestamp = time();
    this.#tell('agent_status', { agent_id: id, status, reason, expected_duration, timestamp });
  }

  #tellProposal({ hash, parent, height, transactions }: Block, { id, key }: Agent): void {
    this.#tell('block_proposal', {
      ...{ block_hash: hash, parent_hash: parent, height, producer: { id, public_key: key } },
      transactions: transactions.map((one) => ({ hash: one.hash, type: 'custom' })),
      ...{ meme_content: {}, timestamp: time() },
    });
  }

  #proposed({ hash, height, parent, status, electors }: Block): Fields {
    const at = { voting_deadline: time(), electorate: electors.size, timestamp: time() };
    return { block_hash: hash, height, parent_hash: parent, status, ...at };
  }

  #voted(block: Block, { id }: Agent, decision: string): Fields {
    const { hash: block_hash, status: block_status, electors } = block;
    const needed = Math.floor((2 * electors.size) / 3) + 1;
    const tally = { approve: approvals(block), reject: 0, electorate: electors.size, needed };
    const shown = { block_hash, agent_id: id, decision, block_status, tally };
    return this.#unshown({ ...shown, timestamp: time() });
  }

  /** Returns members beyond the standard protocol. A bare server omits these members. */
  #unshown = (data: Fields): Fields => (this.#made.shows === 'everything' ? data : {});
  #added = this.#unshown;
}

const approvals = ({ votes }: Block) =>
  [...votes.values()].filter((decision) => decision === 'approve').length;

function outcome(block: Block): Fields {
  const { hash, parent, height, status, electors, transactions } = block;
  const counts = { approve: approvals(block), reject: 0, electorate: electors.size };
  const chain = { block_hash: hash, parent_hash: parent, height, status };
  return { ...chain, ...counts, transactions: transactions.length, timestamp: time() };
}
