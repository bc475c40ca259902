/** The table of commands: one rule each. */
import type { Command, CommandKind, CommandOf } from '../../protocol/schema/index.js';
import { type Finding, no, type Outcome, type Rule } from '../finding.js';
import type { State } from '../state.js';
import { allianceLeave, alliancePropose, allianceRespond } from './alliances.js';
import { propose } from './propose.js';
import { register } from './register.js';
import { discuss, meme } from './social.js';
import { status } from './status.js';
import { vote } from './vote.js';

// A rule's plan is its own business: it goes from its check to its effect, unseen.
const rules: { [K in CommandKind]: Rule<CommandOf<K>, unknown> } = {
  register: register as Rule<CommandOf<'register'>, unknown>,
  status: status as Rule<CommandOf<'status'>, unknown>,
  vote: vote as Rule<CommandOf<'vote'>, unknown>,
  propose: propose as Rule<CommandOf<'propose'>, unknown>,
  meme: meme as Rule<CommandOf<'meme'>, unknown>,
  discuss: discuss as Rule<CommandOf<'discuss'>, unknown>,
  alliance_propose: alliancePropose as Rule<CommandOf<'alliance_propose'>, unknown>,
  alliance_respond: allianceRespond as Rule<CommandOf<'alliance_respond'>, unknown>,
  alliance_leave: allianceLeave as Rule<CommandOf<'alliance_leave'>, unknown>,
};

const ruleOf = (command: Command) => rules[command.kind] as Rule<Command, unknown>;

/** What would become of the command now. Changes nothing. */
export function check(state: State, command: Command): Finding<unknown> {
  if (command.kind !== 'register' && !state.agents.byKey(command.public_key)) {
    return no('UNKNOWN_KEY', `key ${command.public_key} is not registered`);
  }
  return ruleOf(command).check(state, command);
}

export function effect(state: State, command: Command, plan: unknown): Outcome {
  return ruleOf(command).effect(state, command, plan);
}
