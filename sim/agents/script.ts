/** What a scripted agent does when it is called. All its chance comes from its own streams. */
import {
  composeDiscuss,
  composeMeme,
  composeRegister,
  composeVote,
  type Decision,
  formatInstant,
} from '../../engine/index.js';
import type { Stream } from '../streams.js';
import type { Wake, World } from '../world.js';
import type { ScriptedAgent } from './agent.js';
import { blockTag, memeText, remark, stanceTag } from './content.js';
import { answerInvitation, mingle } from './mingle.js';
import { approves, type Opinions } from './personalities.js';
import { propose } from './produce.js';

/** First steps are spread, so that a thousand agents do not act at one instant. */
const FIRST_MINGLE_MS = 20_000;
const ABSTAIN_PERMILLE = 30;
const THINK_MS = 200;
const REFERENCES = 2;

export function act(agent: ScriptedAgent, world: World, wake: Wake): void {
  if (wake.what === 'join') join(agent, world);
  else if (wake.what === 'hear') hear(agent, world, wake.block);
  else if (wake.what === 'vote') vote(agent, world, wake.block);
  else if (wake.what === 'produce') {
    if (wake.turn === agent.turn) propose(agent, world);
  } else if (wake.what === 'mingle') mingle(agent, world);
  else answerInvitation(agent, world, wake.alliance);
}

function join(agent: ScriptedAgent, world: World): void {
  const request = composeRegister(agent.by, formatInstant(world.now), {
    personality: agent.personalityName,
    name: agent.name,
    capabilities: agent.producer ? ['validator', 'producer'] : ['validator'],
  });
  world.send(agent.ordinal, request);
  const settle = agent.chance('life').int(FIRST_MINGLE_MS);
  world.wake(agent.ordinal, world.now + FIRST_MINGLE_MS + settle, { what: 'mingle' });
}

/** A block comes to the agent's ears: it may make a meme of it, and thinks about its vote. */
function hear(agent: ScriptedAgent, world: World, hash: string): void {
  const block = world.block(agent.ordinal, hash);
  if (!block || world.knowsClosed(agent.ordinal, hash)) return;
  const chance = agent.chance('memes');
  if (chance.chance(agent.personality.memePermille)) {
    const stance = leaning(block.soundness, chance);
    const file = Buffer.from(memeText(hash, stance, chance));
    const tags = [stanceTag[stance], blockTag(hash)];
    const caption = `${agent.name} on block ${hash.slice(0, 8)}`;
    world.send(
      agent.ordinal,
      composeMeme(agent.by, formatInstant(world.now), { caption, tags, file }),
    );
  }
  const think = THINK_MS + agent.chance('pace').int(agent.personality.thinkMs);
  world.wake(agent.ordinal, world.now + think, { what: 'vote', block: hash });
}

/** A first impression: mostly what the content deserves. */
function leaning(soundness: number, chance: Stream): Decision {
  return soundness + chance.int(60) >= 80 ? 'approve' : 'reject';
}

function vote(agent: ScriptedAgent, world: World, hash: string): void {
  const chance = agent.chance('votes');
  if (chance.chance(ABSTAIN_PERMILLE)) return;
  const block = world.block(agent.ordinal, hash);
  if (!block || world.knowsClosed(agent.ordinal, hash)) return;
  const memes = world.memesHeard(agent.ordinal, hash);
  const opinions: Opinions = {
    technical: block.soundness,
    social: socialOpinion(agent, world, hash),
    meme: memeOpinion(block.hasMeme, memes),
    random: chance.int(101),
  };
  const decision: Decision = approves(agent.personality, opinions) ? 'approve' : 'reject';
  const moved = memes.filter(({ stance }) => stance === decision).slice(0, REFERENCES);
  const meme_references = moved.map(({ id }) => id);
  const reason = remark(decision, block.soundness);
  const timestamp = formatInstant(world.now);
  const fields = { block_hash: hash, decision, reason, meme_references };
  world.send(agent.ordinal, composeVote(agent.by, timestamp, fields));
  world.share(agent.ordinal, hash, meme_references);
  if (!agent.chance('talk').chance(agent.personality.discussPermille)) return;
  const sentiment = decision === 'approve' ? 'positive' : 'negative';
  const said = { block_hash: hash, message: reason, sentiment, meme_references } as const;
  world.send(agent.ordinal, composeDiscuss(agent.by, timestamp, said));
}

/** The share of approval among the neighbours' votes; an ally's counts twice. */
function socialOpinion(agent: ScriptedAgent, world: World, hash: string): number {
  let approving = 0;
  let all = 0;
  for (const { decision, ally } of world.votesHeard(agent.ordinal, hash)) {
    const weight = ally ? 2 : 1;
    all += weight;
    if (decision === 'approve') approving += weight;
  }
  return all === 0 ? 50 : Math.floor((100 * approving) / all);
}

/** The share of memes in favour; the block's own meme is one of them. */
function memeOpinion(hasMeme: boolean, memes: readonly { stance: Decision }[]): number {
  const all = memes.length + (hasMeme ? 1 : 0);
  const approving = memes.filter(({ stance }) => stance === 'approve').length + (hasMeme ? 1 : 0);
  return all === 0 ? 50 : Math.floor((100 * approving) / all);
}
