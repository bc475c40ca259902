/**
 * The network's rules, once more: what every command does and what time brings, predicted from the
 * commands alone. Written from the protocol's text; it shares no code with the engine.
 */
import type {
  AllianceLeaveCommand,
  AllianceProposeCommand,
  AllianceRespondCommand,
  Command,
  Genesis,
  RegisterCommand,
} from '../../../engine/internal.js';
import { answerInvitation, foundAlliance, leaveAlliance } from './alliances.js';
import { allianceData } from './events.js';
import { judgeRegistration, judgeStatus } from './outcomes/agents.js';
import { judgeAnswer, judgeFounding, judgeLeave } from './outcomes/alliances.js';
import { judgeProposal, judgeVote } from './outcomes/blocks.js';
import { judgeDiscussion, judgeMeme } from './outcomes/social.js';
import { discuss, postMeme, propose, register, setStatus, vote } from './perform.js';
import { punish } from './reputation.js';
import { setDormant } from './state/dormancy.js';
import { remember } from './state/requests.js';
import {
  type Agent,
  newState,
  type PredictedEvents,
  type PredictedOutcome,
  refused,
  type State,
} from './state/state.js';
import { equivocated } from './state/votes.js';
import { nextDue, passTime } from './time.js';

export class Model {
  readonly state: State;

  constructor(genesis: Genesis) {
    this.state = newState(genesis);
  }

  nextDue(): number | null {
    return nextDue(this.state);
  }

  /** The events of all deadlines before `at`. */
  advance(at: number): PredictedEvents {
    const predicted: PredictedEvents = [];
    passTime(this.state, predicted, at);
    return predicted;
  }

  /** The outcome that would change nothing, or null where the command would do something. */
  precheck(at: number, command: Command): PredictedOutcome | null {
    const { state } = this;
    const prediction = judge(state, state.byKey.get(command.public_key), command, at);
    return prediction?.result === 'equivocation' ? null : prediction;
  }

  /** Does a command, deadlines before it first. */
  put(at: number, command: Command): { prediction: PredictedOutcome; predicted: PredictedEvents } {
    const { state } = this;
    const predicted = this.advance(at);
    const by = state.byKey.get(command.public_key);
    const prediction = judge(state, by, command, at);
    if (prediction?.result === 'equivocation') {
      equivocated(state.blocks.get((command as { block_hash: string }).block_hash)!, by!);
      punish(state, predicted, by!, at);
    }
    if (prediction) return { prediction, predicted };
    const data =
      command.kind === 'register'
        ? register(state, predicted, command, at)
        : perform(state, predicted, by!, { command, at });
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
  if (!by) return refused('UNKNOWN_KEY');
  if (command.kind === 'vote') return judgeVote(state, by, command);
  if (command.kind === 'propose') return judgeProposal(state, by, command);
  if (command.kind === 'status') return judgeStatus(state, by, command);
  if (command.kind === 'meme') return judgeMeme(state, by, command);
  if (command.kind === 'discuss') return judgeDiscussion(state, by, command, at);
  if (command.kind === 'alliance_propose') return judgeFounding(state, by, command);
  if (command.kind === 'alliance_respond') return judgeAnswer(state, by, command, at);
  return judgeLeave(state, by, command, at);
}

/** What an agent that is known asks for. */
function perform(
  state: State,
  predicted: PredictedEvents,
  by: Agent,
  { command, at }: { command: Exclude<Command, RegisterCommand>; at: number },
): object {
  if (command.kind === 'vote') return vote(state, predicted, by, { command, at });
  if (command.kind === 'propose') return propose(state, predicted, by, { command, at });
  if (command.kind === 'status') return setStatus(state, predicted, by, { command, at });
  if (command.kind === 'meme') return postMeme(state, predicted, by, { command, at });
  const answer =
    command.kind === 'discuss'
      ? discuss(state, predicted, by, { command, at })
      : changeAlliance(state, predicted, by, { command, at });
  remember(state, command.request_id, { at, answer });
  return answer;
}

type AllianceCommand = AllianceProposeCommand | AllianceRespondCommand | AllianceLeaveCommand;

function changeAlliance(
  state: State,
  predicted: PredictedEvents,
  by: Agent,
  { command, at }: { command: AllianceCommand; at: number },
): object {
  if (command.kind === 'alliance_propose') {
    return allianceData(foundAlliance(state, predicted, by, { command, at }));
  }
  const alliance = state.alliances.get(command.alliance_id)!;
  if (command.kind === 'alliance_leave') leaveAlliance(state, predicted, alliance, { by, at });
  else answerInvitation(state, predicted, alliance, { by, accepted: command.accepted, at });
  return allianceData(alliance);
}
