/** What agents do about a block in voting: think, cast a vote, post a meme, speak up. */
import {
  composeDiscuss,
  composeMeme,
  composeVote,
  type Decision,
} from '../../../engine/internal.js';
import type { Stream } from '../../rng.js';
import {
  approves,
  NO_OPINION,
  type Opinions,
  type Personality,
} from '../../scenario/schema/personalities.js';
import type { ScriptedAgent } from '../port/agent.js';
import { blockTag, stanceTag } from '../port/content.js';
import type { BlockTalk, ReceivedMeme } from '../port/known.js';
import type { Basis } from '../port/notes.js';
import type { World } from '../port/world.js';
import { remark } from './content.js';
import { happens } from './social.js';

const THINK_MS = 200;
/** Memes that a vote refers to at most. */
const REFERENCES = 2;

export const opposite = (decision: Decision): Decision =>
  decision === 'approve' ? 'reject' : 'approve';

/** Calls the agent for its vote when it has thought for a while. */
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
  const event = { type: 'vote', block: block.hash, round } as const;
  world.schedule(agent.ordinal, world.now + afterMs, event);
}

/** What an agent thinks of a block, by its personality, with the memes that it received. */
export function judge(agent: ScriptedAgent, world: World, block: BlockTalk) {
  const memes = world.receivedMemes(agent.ordinal, block.hash);
  const opinions: Opinions = {
    technical: block.soundness,
    social: world.support(agent.ordinal, block.hash) ?? NO_OPINION,
    meme: memeOpinion(block.hasMeme, memes),
    random: agent.rng('whim', block).int(101),
  };
  const { personality } = agent;
  const { hasMeme } = block;
  const basis = { by: 'judgement', personality, opinions, memes, hasMeme } as const;
  const decision = verdict(personality, opinions);
  const moved = opinions.meme !== NO_OPINION;
  const withoutMemes = moved ? verdict(personality, { ...opinions, meme: NO_OPINION }) : decision;
  return { decision, withoutMemes, memes, basis };
}

const verdict = (personality: Personality, opinions: Opinions): Decision =>
  approves(personality, opinions) ? 'approve' : 'reject';

export interface Ballot {
  decision: Decision;
  /** What it would have been without memes; null when the strategy cannot say. */
  withoutMemes?: Decision | null;
  /** What it rested on; left out, nobody knows. */
  basis?: Basis;
  /** Memes that it received, and may refer to; a strategy that minds none leaves them out. */
  memes?: readonly ReceivedMeme[];
  reason?: string;
  /** Tells apart several votes of an agent on one block. */
  round?: number;
}

/** Casts a vote, which refers to memes of its own mind, and may argue for it aloud. */
export function castVote(
  agent: ScriptedAgent,
  world: World,
  block: BlockTalk,
  ballot: Ballot,
): void {
  const { decision, memes = [], withoutMemes = null, basis } = ballot;
  const meme_references = referred(memes, decision);
  const reason = ballot.reason ?? remark(decision, block.soundness);
  const fields = { block_hash: block.hash, decision, reason, meme_references };
  const received = ballot.memes ?? world.receivedMemes(agent.ordinal, block.hash);
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
  world.send(agent.ordinal, composeVote(agent.by, world.stamp(agent.ordinal), fields), { note });
  const { rate } = world.scenario.social.discussion;
  const rng = agent.rng('talk', block, ballot.round);
  if (!happens(rng, agent.personality.remarks, rate)) return;
  speak(agent, world, block, decision, reason, meme_references);
}

const none: readonly string[] = [];

/** Memes of its own mind, the first that it received. */
function referred(memes: readonly ReceivedMeme[], decision: Decision): string[] {
  const moved: string[] = [];
  for (const { id, stance } of memes) {
    if (stance === decision && moved.length < REFERENCES) moved.push(id);
  }
  return moved;
}

export function speak(
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

/** A first impression: mostly what the content deserves. */
export function leaning(soundness: number, rng: Stream): Decision {
  return soundness + rng.int(60) >= 80 ? 'approve' : 'reject';
}

/** The share of memes in favour; the block's own meme is one of them. */
export function memeOpinion(hasMeme: boolean, memes: readonly ReceivedMeme[]): number {
  const own = hasMeme ? 1 : 0;
  if (memes.length === 0) return hasMeme ? 100 : NO_OPINION;
  const approving = memes.filter(({ stance }) => stance === 'approve').length + own;
  return Math.floor((100 * approving) / (memes.length + own));
}
