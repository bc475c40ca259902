/** Actions of scripted agents: judge, vote, post, remark, produce, rest and manage alliances. */
import {
  composeAllianceLeave,
  composeAlliancePropose,
  composeAllianceRespond,
  composeDiscuss,
  composeMeme,
  composeProposal,
  composeStatus,
  composeTransaction,
} from '../../engine/protocol/compose.js';
import type { Decision } from '../../engine/protocol/schema/primitives.js';
import { blockHash } from '../../engine/protocol/signing.js';
import { mix, type Stream } from '../rng.js';
import {
  approves,
  NO_OPINION,
  type Opinions,
  type Personality,
} from '../scenario/schema/personalities.js';
import {
  type Basis,
  type BlockTalk,
  blockTag,
  type ReceivedMeme,
  type ScheduledEvent,
  type ScriptedAgent,
  soundness,
  stanceTag,
  type World,
} from './port.js';

const THINK_MS = 200;
/** Maximum number of memes that a vote can refer to. */
const REFERENCES = 2;

export const opposite = (decision: Decision): Decision =>
  decision === 'approve' ? 'reject' : 'approve';

/** Schedules the agent's vote for the end of its thinking time. */
export function think(agent: ScriptedAgent, world: World, block: BlockTalk): void {
  const after = THINK_MS + agent.rng('pace', block).int(Math.max(1, agent.personality.think_ms));
  callToVote(agent, world, block, after);
}

export function callToVote(
  agent: ScriptedAgent,
  world: World,
  block: BlockTalk,
  afterMs: number,
  round = 0,
): void {
  if (lastVote.block !== block.hash || lastVote.round !== round) {
    lastVote = { type: 'vote', block: block.hash, round };
  }
  world.schedule(agent.ordinal, world.now + afterMs, lastVote);
}

/** Last event of its kind. Agents are called to vote on one block one after another. */
let lastVote: Extract<ScheduledEvent, { type: 'vote' }> = { type: 'vote', block: '', round: 0 };

type WakeCall = Extract<ScheduledEvent, { type: 'wake' }>;

/** @param call its note is frozen plain data, and its name replaces a pending call. */
export function callToWake(agent: ScriptedAgent, world: World, afterMs: number, call: WakeCall) {
  if (call.name !== undefined) {
    agent.timers ??= new Map();
    agent.timers.set(call.name, call);
  }
  world.schedule(agent.ordinal, world.now + afterMs, call);
}

/** Judges a block by the agent's personality and the memes received about the block. */
export function judgeBlock(agent: ScriptedAgent, world: World, block: BlockTalk) {
  const memes = world.receivedMemes(agent.ordinal, block.hash);
  const opinions: Opinions = {
    technical: block.soundness,
    social: world.support(agent.ordinal, block.hash) ?? NO_OPINION,
    meme: NO_OPINION,
    random: agent.rng('whim', block).int(101),
  };
  const { personality } = agent;
  const withoutMemes = verdict(personality, opinions);
  const { hasMeme } = block;
  opinions.meme = memeOpinion(hasMeme, memes);
  const decision = opinions.meme === NO_OPINION ? withoutMemes : verdict(personality, opinions);
  const basis = { by: 'judgement', personality, opinions, memes, hasMeme } as const;
  return { decision, withoutMemes, memes, basis };
}

const verdict = (personality: Personality, opinions: Opinions): Decision =>
  approves(personality, opinions) ? 'approve' : 'reject';

interface CastVote {
  decision: Decision;
  /** Decision that the agent would make without any memes. Null if the strategy cannot tell. */
  withoutMemes?: Decision | null;
  /** Absent if the strategy states no reasons. */
  basis?: Basis;
  /** Received memes to which the vote may refer. Absent if the strategy ignores memes. */
  memes?: readonly ReceivedMeme[];
  reason?: string;
  /** Distinguishes repeated votes by an agent on one block. */
  round?: number;
  /** Ballot for the network's rule. */
  ballot?: unknown;
}

/** Casts a vote that refers to memes with the same stance, and may post a remark. */
export function castVote(
  agent: ScriptedAgent,
  world: World,
  block: BlockTalk,
  vote: CastVote,
): void {
  const { decision, memes = [], withoutMemes = null, basis } = vote;
  const ballot = vote.ballot ?? labelOf(agent, world);
  const meme_references = referred(memes, decision);
  const reason = vote.reason ?? remark(decision, block.soundness);
  const plain = { block_hash: block.hash, decision, reason, meme_references };
  const fields = ballot === undefined ? plain : { ...plain, ballot };
  const received = vote.memes ?? world.receivedMemes(agent.ordinal, block.hash);
  const note = {
    agent: agent.ordinal,
    block: block.hash,
    decision,
    withoutMemes,
    basis,
    receivedMemes: received.length === 0 ? none : received.map(({ id }) => id),
    memeReferences: meme_references,
  };
  agent.votes += 1;
  world.sendVote(agent.ordinal, fields, note);
  const { rate } = world.scenario.social.discussion;
  const rng = agent.rng('talk', block, vote.round);
  if (!happens(rng, agent.personality.remarks, rate)) return;
  postRemark(agent, world, block, decision, reason, meme_references);
}

const none: readonly string[] = [];
const noReferences: string[] = [];

/** Returns the ballot that names the agent's group as its model, if the rule takes such ballots. */
function labelOf({ group }: ScriptedAgent, { rule }: World): { model: string } | undefined {
  const schema = rule.ballotSchema;
  const isLabel = schema?.type === 'object' && 'properties' in schema && schema.properties.model;
  return isLabel ? { model: group.group } : undefined;
}

/** Returns the first received memes that argue for the decision. */
function referred(memes: readonly ReceivedMeme[], decision: Decision): string[] {
  if (memes.length === 0) return noReferences;
  const moved: string[] = [];
  for (const { id, stance } of memes) {
    if (stance === decision && moved.length < REFERENCES) moved.push(id);
  }
  return moved;
}

export function postRemark(
  agent: ScriptedAgent,
  world: World,
  block: BlockTalk,
  decision: Decision,
  message: string,
  meme_references: readonly string[] = [],
): void {
  const sentiment = decision === 'approve' ? 'positive' : 'negative';
  const said = { block_hash: block.hash, message, sentiment, meme_references } as const;
  const request = composeDiscuss(agent.by, world.stamp(agent.ordinal), said);
  world.send(agent.ordinal, request, { block: block.hash });
}

export function postMeme(
  agent: ScriptedAgent,
  world: World,
  block: BlockTalk,
  stance: Decision,
  text: string,
): void {
  const file = Buffer.from(text);
  const tags = [stanceTag[stance], blockTag(block.hash)];
  const caption = `${agent.name} on block ${block.hash.slice(0, 8)}`;
  const stamp = world.stamp(agent.ordinal);
  const request = composeMeme(agent.by, stamp, { caption, tags, file });
  world.send(agent.ordinal, request, { block: block.hash });
}

/** First impression of a block, based mostly on its soundness. */
export function leaning(soundness: number, rng: Stream): Decision {
  return soundness + rng.int(60) >= 80 ? 'approve' : 'reject';
}

/** Returns the percentage of memes in favour, including the block's own meme. */
export function memeOpinion(hasMeme: boolean, memes: readonly ReceivedMeme[]): number {
  const own = hasMeme ? 1 : 0;
  if (memes.length === 0) return hasMeme ? 100 : NO_OPINION;
  const approving = memes.filter(({ stance }) => stance === 'approve').length + own;
  return Math.floor((100 * approving) / (memes.length + own));
}

interface Making {
  /** Probability that a transaction is sound. Defaults to the personality's care. */
  care?: number | undefined;
  /** Group whose transactions are left out. */
  leaveOut?: string | undefined;
  /** Propose even while other agents' blocks are being voted on. */
  insists?: boolean;
  /** Number of transactions. By default, drawn from the scenario's range. */
  transactions?: number | undefined;
  /** Names of the block's options. By default, those of the scenario. */
  options?: readonly string[] | undefined;
}

/** Proposes a block on the head known to the agent, unless a block on that head is in voting. */
export function produce(agent: ScriptedAgent, world: World, making: Making = {}): void {
  const head = world.head(agent.ordinal);
  const insists = making.insists ?? world.scenario.producers.insist;
  if (insists ? head.own : head.contested) return;
  const number = agent.proposals;
  const rng = agent.rng('blocks', { place: agent.ordinal, number });
  const { transactions: range, memes, options: usual } = world.scenario.producers;
  const options = making.options ?? usual;
  const count = making.transactions ?? range.least + rng.int(range.most - range.least + 1);
  const signed = Array.from({ length: count }, (_, index) =>
    transaction(agent, world, making, index, rng),
  );
  const transactions = signed.map(({ made }) => made);
  const hasMeme = rng.chance(memes);
  const meme = { type: 'text', content: memeText(head.hash, 'approve', rng), tags: ['pro'] };
  const last = transactions.at(-1);
  const additions = last ? { [`ledger/${agent.ordinal}`]: last.hash } : {};
  const timestamp = world.stamp(agent.ordinal);
  const fields = {
    parent_hash: head.hash,
    transactions,
    state_diff: { additions, deletions: {} },
    ...(options ? { options: options.map((name) => ({ name })) } : {}),
    ...(hasMeme ? { meme_content: meme } : {}),
  };
  const block = blockHash({ ...fields, timestamp }, agent.by.publicKey, world.networkId);
  const senders = signed.map(({ sender }) => sender);
  world.noteContent({
    block,
    number,
    soundness: soundness(transactions),
    hasMeme,
    transactions: transactions.map(({ data }) => data),
    senders,
  });
  agent.proposals += 1;
  world.send(agent.ordinal, composeProposal(agent.by, timestamp, fields));
}

function transaction(
  agent: ScriptedAgent,
  world: World,
  { care, leaveOut }: Making,
  index: number,
  rng: Stream,
) {
  const sender = senderOf(agent, world, leaveOut, rng);
  const sound = rng.chance(care ?? agent.personality.care);
  // The nonce is unique per sender: producer, time and index in the block.
  const nonce = (world.now - world.startMs) * 1000 + index;
  const data = transactionData(agent.ordinal, nonce, sound, rng);
  const own = sender === agent.ordinal;
  const by = own ? agent.by : world.signatoryOf(sender);
  return { sender, made: composeTransaction(by, world.networkId, data, !own) };
}

/** Draws a neighbour outside the excluded group. Falls back to the producer itself. */
function senderOf(
  agent: ScriptedAgent,
  world: World,
  leaveOut: string | undefined,
  rng: Stream,
): number {
  const neighbours = world.neighbours(agent.ordinal);
  if (world.scenario.producers.senders === 'own' || neighbours.length === 0) return agent.ordinal;
  for (let tries = 0; tries < neighbours.length; tries += 1) {
    const sender = rng.pick(neighbours);
    if (world.groupOf(sender) !== leaveOut) return sender;
  }
  return agent.ordinal;
}

/** Delay before the first block, to give agents time to join. */
const FIRST_BLOCK_MS = 5_000;
/** An open producer retries after this many intervals even if it has received nothing. */
const RETRY_INTERVALS = 10;
/** Hash constant for drawing a slot's producer. */
const SLOT = 0x5107;

/** Schedules the producer's next turn. Any earlier pending turn becomes void. */
export function takeTurn(agent: ScriptedAgent, world: World, at: number): void {
  agent.turn += 1;
  world.schedule(agent.ordinal, at, { type: 'produce', turn: agent.turn });
}

export function firstTurnAt(agent: ScriptedAgent, world: World): number {
  const first = world.startMs + Math.max(FIRST_BLOCK_MS, agent.joinsMs);
  if (world.scenario.producers.schedule === 'open')
    return first + openWaitMs(world, agent.rng('turns'));
  return slotAt(agent, world, first);
}

export function nextTurnAt(agent: ScriptedAgent, world: World): number {
  const { schedule, block_interval_ms } = world.scenario.producers;
  if (schedule !== 'open') return slotAt(agent, world, world.now + 1);
  const wait = RETRY_INTERVALS * block_interval_ms;
  return world.now + wait + agent.rng('turns').int(wait);
}

/** Delay after a block in an open schedule, proportional to the number of producers. */
export function openWaitMs(world: World, rng: Stream): number {
  const { block_interval_ms } = world.scenario.producers;
  return 1 + rng.int(world.producers.length * block_interval_ms);
}

/** Returns the start of the agent's next slot at or after `from`. */
function slotAt(agent: ScriptedAgent, world: World, from: number): number {
  const { block_interval_ms: interval } = world.scenario.producers;
  const origin = world.startMs + FIRST_BLOCK_MS;
  const place = world.producers.indexOf(agent.ordinal);
  let slot = Math.max(0, Math.ceil((from - origin) / interval));
  while (producerOf(slot, world) !== place) slot += 1;
  return origin + slot * interval;
}

function producerOf(slot: number, world: World): number {
  const { schedule } = world.scenario.producers;
  const { length } = world.producers;
  return schedule === 'random' ? mix(world.seedNumber, SLOT, slot) % length : slot % length;
}

/** Probability per occasion that an agent takes a break or leaves an alliance. */
const BREAKS = 0.01;
const LEAVES = 0.15;

/** Draws an event that occurs with probability `share` times the scenario's `rate`. */
export function happens(rng: Stream, share: number, rate: number): boolean {
  return rng.chance(Math.min(1, share * rate));
}

/** Performs social actions. Each has a stream of its own, so draws never shift later ones. */
export function socialize(agent: ScriptedAgent, world: World): void {
  const rng = agent.rng('life', { place: agent.ordinal, number: agent.occasions });
  const { breaks } = world.scenario.social;
  const tired = happens(rng, BREAKS, breaks.rate);
  if (agent.onBreak) activate(agent, world);
  else if (tired) deactivate(agent, world);
  else ally(agent, world, rng);
}

function ally(agent: ScriptedAgent, world: World, rng: Stream): void {
  const { most, rate } = world.scenario.social.alliances;
  if (rate === 0) return;
  const own = world.alliancesOf(agent.ordinal);
  if (own.length > 0 && rng.chance(LEAVES)) {
    leaveAlliance(agent, world, rng.pick(own));
  } else if (own.length < most && happens(rng, agent.personality.invites, rate)) {
    invite(agent, world, drawnNeighbours(agent, world, rng));
  }
}

export function deactivate(agent: ScriptedAgent, world: World): void {
  if (agent.onBreak) return;
  agent.onBreak = true;
  const status = agent.rng('breaks').chance(0.5) ? 'inactive' : 'maintenance';
  sendStatus(agent, world, { status, reason: 'a break', expected_duration: 'PT1M' });
}

export function activate(agent: ScriptedAgent, world: World): void {
  if (!agent.onBreak) return;
  agent.onBreak = false;
  sendStatus(agent, world, { status: 'active', reason: 'back again' });
}

export function sendStatus(
  agent: ScriptedAgent,
  world: World,
  fields: Parameters<typeof composeStatus>[3],
): void {
  const id = world.agentId(agent.ordinal);
  world.send(agent.ordinal, composeStatus(agent.by, world.stamp(agent.ordinal), id, fields));
}

function drawnNeighbours(agent: ScriptedAgent, world: World, rng: Stream): number[] {
  const neighbours = world.neighbours(agent.ordinal);
  const { invited } = world.scenario.social.alliances;
  const count = Math.min(neighbours.length, 1 + rng.int(invited));
  return Array.from({ length: count }, () => rng.pick(neighbours));
}

/** Proposes an alliance to the listed agents. Does nothing if the list is empty. */
export function invite(agent: ScriptedAgent, world: World, others: readonly number[]): void {
  const wanted = new Set(others.filter((other) => other !== agent.ordinal));
  if (wanted.size === 0) return;
  const { duration_ms } = world.scenario.social.alliances;
  const fields = {
    target_ids: [...wanted].map((other) => world.agentId(other)),
    purpose: 'to vote as one',
    duration: `PT${Math.round(duration_ms / 1000)}S`,
  };
  const stamp = world.stamp(agent.ordinal);
  world.send(agent.ordinal, composeAlliancePropose(agent.by, stamp, fields));
}

export function leaveAlliance(agent: ScriptedAgent, world: World, alliance: string): void {
  const stamp = world.stamp(agent.ordinal);
  world.send(agent.ordinal, composeAllianceLeave(agent.by, stamp, alliance));
}

export function answerInvitation(
  agent: ScriptedAgent,
  world: World,
  alliance: string,
  accepted: boolean,
): void {
  const stamp = world.stamp(agent.ordinal);
  world.send(agent.ordinal, composeAllianceRespond(agent.by, stamp, alliance, accepted));
}

const goods = ['grain', 'wool', 'timber', 'salt', 'iron', 'honey', 'cloth', 'ale'];
const praise = ['the way', 'a feast', 'worth the walk', 'what we came for', 'gold'];
const blame = ['a swamp', 'spoiled milk', 'not on our land', 'a bad omen', 'mud'];

/** Builds the data of one transaction. An unsound transaction has a negative amount. */
function transactionData(by: number, number: number, sound: boolean, stream: Stream): string {
  const amount = 1 + stream.int(1_000);
  const type = stream.pick(['transfer', 'trade', 'pledge']);
  return JSON.stringify({
    type,
    good: stream.pick(goods),
    amount: sound ? amount : -amount,
    from: by,
    nonce: number,
  });
}

export function memeText(blockHash: string, stance: Decision, stream: Stream): string {
  const words = stream.pick(stance === 'approve' ? praise : blame);
  return `block ${blockHash.slice(0, 8)} is ${words}`;
}

/** Remarks by percent, precomputed because many agents send identical text. */
const remarks: Record<Decision, readonly string[]> = {
  approve: percents((soundness) => `${soundness} of 100 adds up; I am for it`),
  reject: percents((soundness) =>
    soundness === 100
      ? 'all of it adds up, yet I am against it'
      : `only ${soundness} of 100 adds up; I am against it`,
  ),
};

/** @param soundness whole percent. */
const remark = (stance: Decision, soundness: number): string => remarks[stance][soundness]!;

function percents(text: (percent: number) => string): string[] {
  return Array.from({ length: 101 }, (_, percent) => text(percent));
}
