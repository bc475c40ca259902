/**
 * State of the plain server: in memory, with a log in LMDB, or shared by several processes, with
 * the log and the state in one LMDB file.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { type Key, open } from 'lmdb';
import { GENESIS_HASH } from '../../engine/protocol/schema/primitives.js';
import { agentId } from '../../engine/protocol/signing.js';

export interface Agent {
  id: string;
  key: KeyObject;
}

interface Ballot {
  block_hash: string;
  decision: string;
  signature: string;
}

/** Data of a response, or the status and the reason of a refusal. */
export type Result = { data: object } | { status: number; reason: string };

/** Each method resolves once the request, as `row`, is on disk. */
export interface State {
  agent(publicKey: string): Agent | undefined;
  register(publicKey: string, row: object): Promise<Agent>;
  propose(hash: string, parent: string, row: object): Promise<Result>;
  vote(agent: Agent, ballot: Ballot, row: object): Promise<Result>;
}

interface Block {
  height: number;
  needed: number;
  approvals: number;
  status: 'voting' | 'finalized';
}

const noHead = { hash: GENESIS_HASH, height: -1 };
const neededOf = (agents: number) => Math.floor((2 * agents) / 3) + 1;
const refuse = (status: number, reason: string): Result => ({ status, reason });

function createAgent(publicKey: string): Agent {
  const x = Buffer.from(publicKey, 'hex').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return { id: agentId(publicKey), key };
}

/** Counts an accepted vote. Returns the response. */
function count(block: Block, { id }: Agent, { block_hash, decision }: Ballot) {
  if (decision === 'approve') block.approvals += 1;
  if (block.approvals >= block.needed) block.status = 'finalized';
  const { approvals, needed, status: block_status } = block;
  return { block_hash, agent_id: id, decision, approvals, needed, block_status };
}

const openLog = (path: string) =>
  open<string, number>({
    path,
    noSubdir: false,
    overlappingSync: false,
    encoding: 'string',
    pageSize: 8192,
  });

export function openState(path: string): State {
  const agents = new Map<string, Agent>();
  const blocks = new Map<string, Block & { votes: Map<Agent, Vote> }>();
  let head = noHead;
  let stored = 0;
  const log = openLog(path);
  /** Resolves once the row's transaction is on disk. */
  const keep = (row: object): Promise<boolean> => {
    stored += 1;
    return log.put(stored, JSON.stringify(row));
  };
  return {
    agent: (publicKey) => agents.get(publicKey),
    async register(publicKey, row) {
      const agent = createAgent(publicKey);
      agents.set(publicKey, agent);
      await keep(row);
      return agent;
    },
    async propose(hash, parent, row) {
      if (parent !== head.hash) return refuse(409, 'STALE_PARENT');
      const height = head.height + 1;
      const needed = neededOf(agents.size);
      blocks.set(hash, { height, needed, approvals: 0, status: 'voting', votes: new Map() });
      await keep(row);
      return { data: { block_hash: hash, height, status: 'voting' } };
    },
    async vote(agent, ballot, row) {
      const { block_hash, signature } = ballot;
      const block = blocks.get(block_hash);
      if (!block) return refuse(404, 'UNKNOWN_BLOCK');
      const earlier = block.votes.get(agent);
      if (earlier?.signature === signature) return earlier.answer;
      if (earlier) return refuse(409, 'EQUIVOCATION');
      if (block.status !== 'voting') return refuse(409, 'VOTING_CLOSED');
      const data = count(block, agent, ballot);
      if (data.block_status === 'finalized') head = { hash: block_hash, height: block.height };
      const answer = keep(row).then(() => ({ data }));
      block.votes.set(agent, { signature, answer });
      return answer;
    },
  };
}

interface Vote {
  signature: string;
  answer: Promise<Result>;
}

/**
 * Every decision is made in a write transaction, which only one process can have at a time. LMDB
 * commits the waiting transactions of a process together.
 * @param number number of this process, from 1.
 */
export function openSharedState(path: string, number: number): State {
  const agents = new Map<string, Agent>();
  let stored = number * 2 ** 40;
  const log = openLog(path);
  const state = log.openDB<unknown, Key>({ name: 'state', encoding: 'json' });
  const read = <T>(...key: string[]) => state.get(key) as T | undefined;
  const write = (value: unknown, ...key: string[]) => void state.put(key, value);
  /** Makes a decision, and logs the row unless the decision is a refusal or a repetition. */
  const decide = (row: object, decision: () => Result | null): Promise<Result | null> =>
    log.transaction(() => {
      const result = decision();
      if (result !== null && 'status' in result) return result;
      stored += 1;
      void log.put(stored, JSON.stringify(row));
      return result;
    });
  return {
    agent(publicKey) {
      if (!agents.has(publicKey) && read('agent', publicKey)) {
        agents.set(publicKey, createAgent(publicKey));
      }
      return agents.get(publicKey);
    },
    async register(publicKey, row) {
      await decide(row, () => {
        write(1, 'agent', publicKey);
        write((read<number>('agents') ?? 0) + 1, 'agents');
        return null;
      });
      return createAgent(publicKey);
    },
    async propose(hash, parent, row) {
      const result = await decide(row, () => {
        const head = read<typeof noHead>('head') ?? noHead;
        if (parent !== head.hash) return refuse(409, 'STALE_PARENT');
        const height = head.height + 1;
        const needed = neededOf(read<number>('agents') ?? 0);
        write({ height, needed, approvals: 0, status: 'voting' } satisfies Block, 'block', hash);
        return { data: { block_hash: hash, height, status: 'voting' } };
      });
      return result!;
    },
    async vote(agent, ballot, row) {
      const { block_hash, signature } = ballot;
      const result = await decide(row, () => {
        const block = read<Block>('block', block_hash);
        if (!block) return refuse(404, 'UNKNOWN_BLOCK');
        const earlier = read<[string, object]>('vote', block_hash, agent.id);
        if (earlier?.[0] === signature) return { data: earlier[1] };
        if (earlier) return refuse(409, 'EQUIVOCATION');
        if (block.status !== 'voting') return refuse(409, 'VOTING_CLOSED');
        const data = count(block, agent, ballot);
        write(block, 'block', block_hash);
        if (data.block_status === 'finalized')
          write({ hash: block_hash, height: block.height }, 'head');
        write([signature, data], 'vote', block_hash, agent.id);
        return { data };
      });
      return result!;
    },
  };
}
