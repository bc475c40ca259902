/** The table of commands: one rule each. */
import type { Command, CommandKind, CommandOf } from '../../protocol/schema/index.js';
import { type CommandRule, type Outcome, type Precheck, refused } from '../outcome.js';
import type { State } from '../state.js';
import { allianceLeave, alliancePropose, allianceRespond } from './alliances.js';
import { propose } from './propose.js';
import { register } from './register.js';
import { discuss, meme } from './social.js';
import { status } from './status.js';
import { vote } from './vote.js';

// A rule's plan is its own business: it goes from its check to its effect, unseen.
const rules: { [K in CommandKind]: CommandRule<CommandOf<K>, unknown> } = {
  register: register as CommandRule<CommandOf<'register'>, unknown>,
  status: status as CommandRule<CommandOf<'status'>, unknown>,
  vote: vote as CommandRule<CommandOf<'vote'>, unknown>,
  propose: propose as CommandRule<CommandOf<'propose'>, unknown>,
  meme: meme as CommandRule<CommandOf<'meme'>, unknown>,
  discuss: discuss as CommandRule<CommandOf<'discuss'>, unknown>,
  alliance_propose: alliancePropose as CommandRule<CommandOf<'alliance_propose'>, unknown>,
  alliance_respond: allianceRespond as CommandRule<CommandOf<'alliance_respond'>, unknown>,
  alliance_leave: allianceLeave as CommandRule<CommandOf<'alliance_leave'>, unknown>,
};

const ruleOf = (command: Command) => rules[command.kind] as CommandRule<Command, unknown>;

/** What would become of the command now. Changes nothing. */
export function check(state: State, command: Command): Precheck<unknown> {
  if (command.kind !== 'register' && !state.agents.byKey(command.public_key)) {
    return refused('UNKNOWN_KEY', `key ${command.public_key} is not registered`);
  }
  return ruleOf(command).check(state, command);
}

export function effect(state: State, command: Command, plan: unknown): Outcome {
  return ruleOf(command).effect(state, command, plan);
}
