/**
 * Built-in strategies: the default that follows a personality, simple rules, and adversaries.
 * Scripts and external deciders are defined elsewhere.
 */
import { mix } from '../rng.js';
import type { External, StrategyOf, Strategy as Wanted } from '../scenario/schema/strategies.js';
import {
  answerInvitation,
  callToVote,
  castVote,
  happens,
  invite,
  judgeBlock,
  leaning,
  memeText,
  opposite,
  postMeme,
  produce,
  socialize,
  think,
} from './actions.js';
import type { BlockTalk, ScriptedAgent, Strategy, World } from './port.js';

export const byPersonality: Strategy = {
  hear(agent, world, block) {
    const { rate } = world.scenario.social.memes;
    const rng = agent.rng('memes', block);
    if (happens(rng, agent.personality.memes, rate)) {
      const stance = leaning(block.soundness, rng);
      postMeme(agent, world, block, stance, memeText(block.hash, stance, rng));
    }
    think(agent, world, block);
  },

  vote(agent, world, block) {
    if (!abstains(agent, block)) castVote(agent, world, block, judgeBlock(agent, world, block));
  },

  produce: (agent, world) => produce(agent, world),
  socialize,

  invited(agent, world, alliance) {
    const accepted = agent.rng('answers').chance(agent.personality.accepts);
    answerInvitation(agent, world, alliance, accepted);
  },
};

function abstains(agent: ScriptedAgent, block: BlockTalk): boolean {
  return agent.rng('abstaining', block).chance(agent.personality.abstains);
}

const onContent = { by: 'content' } as const;
const onNeighbours = { by: 'neighbours' } as const;

/** Judges only the content, always votes, and produces sound blocks. */
const honest = ({ soundness }: StrategyOf<'honest'>): Strategy => ({
  ...byPersonality,
  vote(agent, world, block) {
    const decision = block.soundness >= soundness ? 'approve' : 'reject';
    castVote(agent, world, block, { decision, withoutMemes: decision, basis: onContent });
  },
  produce: (agent, world) => produce(agent, world, { care: 1 }),
});

/** Returns the number of received votes, and the approvals minus the rejections. */
function receivedBalance(agent: ScriptedAgent, world: World, block: BlockTalk) {
  const votes = world.receivedVotes(agent.ordinal, block.hash);
  const approving = votes.filter(({ decision }) => decision === 'approve').length;
  return { received: votes.length, balance: 2 * approving - votes.length };
}

const contrarian: Strategy = {
  ...byPersonality,
  vote(agent, world, block) {
    const { balance } = receivedBalance(agent, world, block);
    const majority = balance === 0 ? (block.soundness >= 50 ? 1 : -1) : balance;
    const decision = opposite(majority > 0 ? 'approve' : 'reject');
    const basis = balance === 0 ? onContent : onNeighbours;
    castVote(agent, world, block, { decision, withoutMemes: decision, basis });
  },
};

const LISTEN_AGAIN_MS = 500;

/** Waits for other agents' votes, then follows the majority. */
const follower = ({ hears, patience_ms }: StrategyOf<'follower'>): Strategy => ({
  ...byPersonality,
  vote(agent, world, block, round) {
    const { received, balance } = receivedBalance(agent, world, block);
    const patient = round * LISTEN_AGAIN_MS < patience_ms;
    if (received < hears && patient) {
      callToVote(agent, world, block, LISTEN_AGAIN_MS, round + 1);
    } else if (received < hears || balance === 0) {
      castVote(agent, world, block, judgeBlock(agent, world, block));
    } else {
      const decision = balance > 0 ? 'approve' : 'reject';
      castVote(agent, world, block, { decision, withoutMemes: decision, basis: onNeighbours });
    }
  },
});

const lazy = ({ effort }: StrategyOf<'lazy'>): Strategy => ({
  ...byPersonality,
  vote(agent, world, block) {
    if (!agent.rng('effort', block).chance(effort)) return;
    castVote(agent, world, block, { decision: 'approve', withoutMemes: 'approve' });
  },
});

const flipFlop: Strategy = {
  ...byPersonality,
  vote(agent, world, block) {
    const decision = agent.votes % 2 === 0 ? 'approve' : 'reject';
    castVote(agent, world, block, { decision, withoutMemes: decision });
  },
};

const silent: Strategy = { ...byPersonality, vote() {} };

/** Draw rounds for the second vote. The first vote determines which round is used. */
const AGAIN = { approve: 1, reject: 2 } as const;

const equivocator = ({ rate, gap_ms }: StrategyOf<'equivocator'>): Strategy => ({
  ...byPersonality,
  vote(agent, world, block, round) {
    if (round > 0) {
      const decision = round === AGAIN.approve ? 'approve' : 'reject';
      castVote(agent, world, block, { decision, withoutMemes: decision, round });
      return;
    }
    if (abstains(agent, block)) return;
    const ballot = judgeBlock(agent, world, block);
    castVote(agent, world, block, ballot);
    if (!agent.rng('equivocation', block).chance(rate)) return;
    const again = ballot.decision === 'approve' ? AGAIN.reject : AGAIN.approve;
    callToVote(agent, world, block, gap_ms, again);
  },
});

/** Approves its group's blocks and rejects all others, regardless of content. */
const bloc = ({ honest_blocks }: StrategyOf<'bloc'>): Strategy => ({
  ...byPersonality,
  vote(agent, world, block) {
    const own = world.groupOf(block.producer) === agent.group.group;
    const decision = own ? 'approve' : 'reject';
    castVote(agent, world, block, { decision, withoutMemes: decision });
  },
  produce: (agent, world) => produce(agent, world, { care: honest_blocks ? 1 : 0 }),
});

const memeSpammer = ({ memes, stance }: StrategyOf<'meme_spammer'>): Strategy => ({
  ...byPersonality,
  hear(agent, world, block) {
    // The number makes each meme unique, because identical memes count as repetition.
    for (let count = 1; count <= memes; count += 1) {
      postMeme(agent, world, block, stance, `${stance} ${block.hash.slice(0, 8)}! (${count})`);
    }
    callToVote(agent, world, block, 1);
  },
  vote(agent, world, block) {
    const received = world.receivedMemes(agent.ordinal, block.hash);
    castVote(agent, world, block, { decision: stance, withoutMemes: stance, memes: received });
  },
});

/** Hash constant for the operator's draw. */
const OPERATOR = 0x5b11;

/** One operator controls the group: all members vote on a block by the same draw. */
const sybil = ({ approves }: StrategyOf<'sybil'>): Strategy => ({
  ...byPersonality,
  hear: (agent, world, block) => callToVote(agent, world, block, 1),
  vote(agent, world, block) {
    const { place, number } = block;
    const will = mix(world.seedNumber, OPERATOR, nameNumber(agent), place, number);
    const decision = will < Math.round(approves * 2 ** 32) ? 'approve' : 'reject';
    castVote(agent, world, block, { decision, withoutMemes: decision });
  },
  /** Invites members of its group, so that they raise each other's weight. */
  socialize(agent, world) {
    const { rate, most, invited } = world.scenario.social.alliances;
    if (rate === 0 || world.alliancesOf(agent.ordinal).length >= most) return;
    const { ordinal } = agent;
    const near = Array.from({ length: 2 * invited + 1 }, (_, step) => ordinal - invited + step);
    const ours = near.filter((other) => world.groupOf(other) === agent.group.group);
    invite(agent, world, ours.slice(0, invited + 1));
  },
  invited: (agent, world, alliance) => answerInvitation(agent, world, alliance, true),
});

export function nameNumber({ group }: ScriptedAgent): number {
  return mix(...Array.from(group.group, (letter) => letter.charCodeAt(0)));
}

/** Excludes a group's transactions from its blocks. */
const censor = ({ against }: StrategyOf<'censor'>): Strategy => ({
  ...byPersonality,
  produce: (agent, world) => produce(agent, world, { leaveOut: against }),
});

/** Proposes unsound blocks, even while other blocks are in voting, every `everyMs` milliseconds. */
function flood(agent: ScriptedAgent, world: World, everyMs: number): void {
  produce(agent, world, { care: 0, insists: true });
  const { ordinal, turn } = agent;
  world.schedule(ordinal, world.now + everyMs, { type: 'produce', turn });
}

/** Votes only for its group's blocks: final once all other agents have used up their votes. */
const voteExhauster = ({ every_ms }: StrategyOf<'vote_exhauster'>): Strategy => ({
  ...byPersonality,
  hear: (agent, world, block) => callToVote(agent, world, block, 1),
  vote(agent, world, block) {
    if (world.groupOf(block.producer) !== agent.group.group) return;
    castVote(agent, world, block, { decision: 'approve', withoutMemes: 'approve' });
  },
  produce: (agent, world) => flood(agent, world, every_ms),
});

const slotHolder = ({ every_ms }: StrategyOf<'slot_holder'>): Strategy => ({
  ...byPersonality,
  hear() {},
  vote() {},
  produce: (agent, world) => flood(agent, world, every_ms),
});

type Kind = Exclude<Wanted['kind'], 'ballots' | 'culture' | 'mock' | 'script' | External['kind']>;
type Makers = { [K in Kind]: (parameters: StrategyOf<K>) => Strategy };

const makers: Makers = {
  personality: () => byPersonality,
  honest,
  equivocator,
  bloc,
  contrarian: () => contrarian,
  follower,
  lazy,
  flip_flop: () => flipFlop,
  meme_spammer: memeSpammer,
  sybil,
  silent: () => silent,
  censor,
  vote_exhauster: voteExhauster,
  slot_holder: slotHolder,
};

export function createBuiltIn(wanted: StrategyOf<Kind>): Strategy {
  const make = makers[wanted.kind] as (parameters: StrategyOf<Kind>) => Strategy;
  return make(wanted);
}
