/**
 * Second implementation of the network's rules. From the commands alone, the model predicts the
 * effects of commands and of time. The model is written from the protocol. It shares no code with
 * the engine, except for the definitions of the rules in polls.ts.
 */
import type {
  AllianceLeaveCommand,
  AllianceProposeCommand,
  AllianceRespondCommand,
  Command,
  RegisterCommand,
} from '../../engine/protocol/schema/command.js';
import type { Event } from '../../engine/protocol/schema/event.js';
import type { Genesis } from '../../engine/protocol/schema/genesis.js';
import {
  allianceDue,
  answerInvitation,
  foundAlliance,
  isOver,
  judgeAnswer,
  judgeFounding,
  judgeLeave,
  leaveAlliance,
} from './alliances.js';
import {
  closeIfDecided,
  discuss,
  postMeme,
  propose,
  register,
  setStatus,
  vote,
} from './effects.js';
import { markEquivocation, setDormant } from './electorate.js';
import { allianceData, emitMetrics } from './events.js';
import {
  judgeDiscussion,
  judgeMeme,
  judgeProposal,
  judgeRegistration,
  judgeStatus,
  judgeVote,
} from './outcomes.js';
import { punish } from './reputation.js';
import {
  type Agent,
  createRefusal,
  type Deadline,
  newState,
  type PredictedOutcome,
  rememberRequest,
  renewMetrics,
  type State,
} from './state.js';

export class Model {
  readonly state: State;

  constructor(genesis: Genesis) {
    this.state = newState(genesis);
  }

  nextDue(): number | null {
    return nextDue(this.state);
  }

  /** Returns events from all deadlines before `at`. */
  advance(at: number): Event[] {
    this.state.predicted = [];
    passTime(this.state, at);
    return this.state.predicted;
  }

  /** Returns the command's refusal or duplicate; null if the command would have an effect. */
  precheck(at: number, command: Command): PredictedOutcome | null {
    const { state } = this;
    const prediction = judge(state, state.byKey.get(command.public_key), command, at);
    return prediction?.result === 'equivocation' ? null : prediction;
  }

  /** Executes a command after all earlier deadlines. */
  put(at: number, command: Command): { prediction: PredictedOutcome; predicted: Event[] } {
    const { state } = this;
    const predicted = this.advance(at);
    const by = state.byKey.get(command.public_key);
    const prediction = judge(state, by, command, at);
    if (prediction?.result === 'equivocation') {
      markEquivocation(state.blocks.get((command as { block_hash: string }).block_hash)!, by!);
      punish(state, by!, at);
    }
    if (prediction) return { prediction, predicted };
    const data =
      command.kind === 'register' ? register(state, command, at) : perform(state, by!, command, at);
    if (by?.dormant) setDormant(state, by, false);
    return { prediction: { result: 'accepted', data }, predicted };
  }
}

function judge(
  state: State,
  by: Agent | undefined,
  command: Command,
  at: number,
): PredictedOutcome | null {
  if (command.kind === 'register') return judgeRegistration(by, command);
  if (!by) return createRefusal('UNKNOWN_KEY');
  if (command.kind === 'vote') return judgeVote(state, by, command);
  if (command.kind === 'propose') return judgeProposal(state, by, command);
  if (command.kind === 'status') return judgeStatus(state, by, command);
  if (command.kind === 'meme') return judgeMeme(state, by, command);
  if (command.kind === 'discuss') return judgeDiscussion(state, by, command, at);
  if (command.kind === 'alliance_propose') return judgeFounding(state, by, command);
  if (command.kind === 'alliance_respond') return judgeAnswer(state, by, command, at);
  return judgeLeave(state, by, command, at);
}

/** Applies the effects of a registered agent's command. */
function perform(
  state: State,
  by: Agent,
  command: Exclude<Command, RegisterCommand>,
  at: number,
): object {
  if (command.kind === 'vote') return vote(state, by, command, at);
  if (command.kind === 'propose') return propose(state, by, command, at);
  if (command.kind === 'status') return setStatus(state, by, command, at);
  if (command.kind === 'meme') return postMeme(state, by, command, at);
  const answer =
    command.kind === 'discuss'
      ? discuss(state, by, command, at)
      : changeAlliance(state, by, command, at);
  rememberRequest(state, command.request_id, { at, answer });
  return answer;
}

type AllianceCommand = AllianceProposeCommand | AllianceRespondCommand | AllianceLeaveCommand;

function changeAlliance(state: State, by: Agent, command: AllianceCommand, at: number): object {
  if (command.kind === 'alliance_propose') {
    return allianceData(foundAlliance(state, by, command, at));
  }
  const alliance = state.alliances.get(command.alliance_id)!;
  if (command.kind === 'alliance_leave') leaveAlliance(state, alliance, by, at);
  else answerInvitation(state, alliance, { by, accepted: command.accepted, at });
  return allianceData(alliance);
}

function nextDue(state: State): number | null {
  for (let next = state.deadlines.peek(); next; next = state.deadlines.peek()) {
    if (stands(state, next)) return next.due;
    state.deadlines.pop();
  }
  return null;
}

/** Fires all deadlines before `at`. Deadlines at the same instant fire in their defined order. */
function passTime(state: State, at: number): void {
  for (let due = nextDue(state); due !== null && due < at; due = nextDue(state)) {
    const next = state.deadlines.peek()!;
    state.deadlines.pop();
    fire(state, next);
  }
}

/** Returns true unless the deadline was moved or its subject has ended. */
function stands(state: State, { due, of, id }: Deadline): boolean {
  if (of === 'metrics') return state.metricsDue === due;
  if (of === 'block') return state.open.has(id);
  const alliance = state.alliances.get(id)!;
  return !isOver(alliance) && alliance.deadline === due;
}

function fire(state: State, { due, of, id }: Deadline): void {
  const at = due + 1;
  if (of === 'alliance') allianceDue(state, state.alliances.get(id)!, at);
  else if (of === 'block') closeIfDecided(state, state.open.get(id)!, { at, isOver: true });
  else {
    emitMetrics(state, at);
    renewMetrics(state, due);
  }
}
