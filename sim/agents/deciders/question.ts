/**
 * What an external decider is asked: what a script would see, as plain data that begins and ends
 * with the question. It names blocks by producer and number, so that what an agent sees is the same
 * in a fork until something that it sees is another.
 */
import { canonical } from '../../../engine/internal.js';
import { sha256Hex } from '../../../engine/protocol/signing.js';
import type { ScriptedAgent } from '../port/agent.js';
import type { BlockTalk } from '../port/known.js';
import type { World } from '../port/world.js';
import type { Asked } from '../script/strategy.js';
import type { Occasion } from '../script/view.js';

/** Which question of a run it is. */
export interface Address {
  /** Ordinal. */
  agent: number;
  kind: Asked;
  /** Counts the questions of this kind to the agent, from 0. */
  number: number;
}

export interface Question extends Address {
  /** Names it among all of a run. */
  id: string;
  view: unknown;
  /** SHA-256 of the view as canonical JSON. */
  saw: string;
}

/** What is kept of an agent from question to question. */
export interface Kept {
  parameters: Readonly<Record<string, unknown>>;
  memory: unknown;
}

export const nameOf = ({ agent, kind, number }: Address): string => `${agent}/${kind}/${number}`;

export function questionOf(
  address: Address,
  agent: ScriptedAgent,
  world: World,
  occasion: Occasion,
  kept: Kept,
): Question {
  const id = nameOf(address);
  const text = canonical({
    ...viewOf(agent, world, occasion, kept),
    chance: chanceOf(world.seedNumber, id),
  });
  return { ...address, id, view: JSON.parse(text), saw: sha256Hex(text) };
}

/** For a decider that draws: the same question of the same run has the same chance. */
const chanceOf = (seedNumber: number, id: string): number =>
  Number.parseInt(sha256Hex(`folkmoot/chance/${seedNumber}/${id}`).slice(0, 8), 16);

function viewOf(
  agent: ScriptedAgent,
  world: World,
  { block, round = 0, alliance, message }: Occasion,
  { parameters, memory }: Kept,
) {
  const { ordinal, name, group, personalityName: personality } = agent;
  const { contested, own } = world.head(ordinal);
  const allianceOf = (id: string) => ({ id, members: [...world.membersOf(id)] });
  return {
    now_ms: world.now - world.startMs,
    me: { ordinal, name, group: group.group, personality },
    on_break: agent.onBreak,
    reputation: world.reputationOf(ordinal),
    neighbours: [...world.neighbours(ordinal)],
    alliances: world.alliancesOf(ordinal).map(allianceOf),
    head: { contested, own },
    block: block ? blockOf(ordinal, world, block) : null,
    round,
    invitation: alliance === undefined ? null : allianceOf(alliance),
    message: message
      ? { from: message.from, group: world.groupOf(message.from), content: message.content }
      : null,
    parameters,
    memory,
  };
}

function blockOf(agent: number, world: World, block: BlockTalk) {
  const { hash, producer, number, soundness, hasMeme, proposedAt, transactions } = block;
  const groupOf = (other: number) => world.groupOf(other);
  return {
    producer,
    producer_group: groupOf(producer),
    number,
    soundness,
    has_meme: hasMeme,
    age_ms: world.now - proposedAt,
    votes: world
      .receivedVotes(agent, hash)
      .map(({ agent: by, decision, ally }) => ({ agent: by, group: groupOf(by), decision, ally })),
    memes: world.receivedMemes(agent, hash).map(({ stance, text }) => ({ stance, text })),
    remarks: world.receivedRemarks(agent, hash).map(({ agent: by, stance, message }) => ({
      agent: by,
      group: groupOf(by),
      stance,
      message,
    })),
    transactions: [...transactions],
  };
}
