/**
 * Stands beside a network and foretells, from the commands alone, every outcome and every event;
 * what differs is a violation. It learns nothing from the network but when things happened.
 */
import type { Command, Event, Genesis, Outcome } from '../../engine/internal.js';
import { agentId } from '../../engine/protocol/signing.js';
import { checkReads, type Reads } from './ending.js';
import { Model } from './model/model.js';
import type { Verdict } from './model/state/state.js';
import { Safety } from './safety.js';
import { difference, type Finding, isSame, type Violation } from './violation.js';

/** A step of the network as it is shown to the auditor: what was asked, and what came of it. */
export interface Put {
  at: number;
  command: Command;
  outcome: Outcome;
  /** All that was told, of deadlines before `at` first. */
  events: readonly Event[];
}

/** What a network said before it would do a command. */
export interface Foreseen {
  at: number;
  command: Command;
  /** What was said: refused or a repeat; null when it would be done. */
  outcome: Outcome | null;
}

/**
 * An independent model of the network's rules, written from docs/protocol.md: it is shown what a
 * network does, predicts what must follow, and says the first rule that is broken.
 */
export class Auditor {
  readonly #model: Model;
  readonly #safety: Safety;
  #first: Violation | null = null;

  /** Of a network with these parameters, from its first entry on. */
  constructor(genesis: Genesis) {
    this.#model = new Model(genesis);
    this.#safety = new Safety(genesis);
  }

  /** The first violation of all; after it nothing more is compared, since all would follow. */
  get violation(): Violation | null {
    return this.#first;
  }

  /** A command was put to the network; the first violation, or null. */
  observe({ at, command, outcome, events }: Put): Violation | null {
    if (this.#first || isUnable(outcome)) return this.#first;
    const unsafe = this.#safety.watch({ at, command, outcome, events });
    const { verdict, told } = this.#model.put(at, command);
    const wrong = unsafe ?? checkOutcome(verdict, outcome) ?? checkEvents(told, events);
    return this.#keep(at, wrong, command.kind, command);
  }

  /** The network was asked what would become of a command, which changed nothing. */
  foresee({ at, command, outcome }: Foreseen): Violation | null {
    if (this.#first || (outcome && isUnable(outcome))) return this.#first;
    const due = this.#model.nextDue();
    if (due !== null && due < at) {
      const found = `asked at ${at} while the deadline ${due} was not told of`;
      const missed = { rule: 'deadline', actor: 'network', expected: 'deadlines first', found };
      return this.#keep(at, missed, `foresight of ${command.kind}`, command);
    }
    const verdict = this.#model.foresee(at, command);
    const wrong = checkForesight(verdict, outcome);
    return this.#keep(at, wrong, `foresight of ${command.kind}`, command);
  }

  /** Time passed to `at`: deadlines strictly before it fired. */
  advance(at: number, events: readonly Event[]): Violation | null {
    if (this.#first) return this.#first;
    const unsafe = this.#safety.watch({ at, command: null, outcome: null, events });
    const told = this.#model.advance(at);
    return this.#keep(at, unsafe ?? checkEvents(told, events), 'time');
  }

  /** At the end: everything that the network shows is what the model holds. */
  finish(at: number, reads: Reads): Violation | null {
    if (this.#first) return this.#first;
    return this.#keep(at, checkReads(this.#model.state, at, reads), 'end');
  }

  /** What the model holds, for figures beside those of a run. */
  get counts() {
    const { head, counts, agents } = this.#model.state;
    return { height: head.height, head: head.hash, agents: agents.length, ...counts };
  }

  #keep(
    at: number,
    finding: Finding | null,
    during: Violation['during'],
    command?: Command,
  ): Violation | null {
    if (!finding) return null;
    const { rule, expected, found } = finding;
    const sender = command ? agentId(command.public_key) : 'network';
    const actor = finding.actor === '' ? sender : finding.actor;
    const asked = command && 'block_hash' in command ? command.block_hash : '';
    this.#first = { at, rule, actor, expected, found, during, block: finding.block ?? asked };
    return this.#first;
  }
}

/** A network that cannot do anything now says so, and does nothing: that is no rule's matter. */
const isUnable = (outcome: Outcome) =>
  'refusal' in outcome && outcome.refusal.code === 'NETWORK_ERROR';

function checkOutcome(verdict: Verdict, outcome: Outcome): Finding | null {
  if ('data' in verdict && verdict.result === outcome.result && 'data' in outcome) {
    return isSame(verdict.data, outcome.data) ? null : inAnswer(verdict.data, outcome.data);
  }
  const expected = word(verdict);
  const found = word(saidBy(outcome));
  if (expected !== found) return { rule: 'outcome', actor: '', expected, found };
  const said = saidBy(outcome);
  if (!('details' in verdict) || !('details' in said)) return null;
  const isRight = isSame(verdict.details, said.details);
  return isRight ? null : inAnswer({ details: verdict.details }, { details: said.details });
}

function inAnswer(expected: object, found: object): Finding {
  const one = difference(expected, found)!;
  return { rule: 'answer', actor: '', expected: one.expected, found: `${one.where} ${one.found}` };
}

function checkForesight(verdict: Verdict | null, outcome: Outcome | null): Finding | null {
  if (verdict && outcome) return checkOutcome(verdict, outcome);
  if (!verdict && !outcome) return null;
  const said = (what: Verdict | null) => (what ? word(what) : 'nothing against it');
  const found = said(outcome && saidBy(outcome));
  return { rule: 'outcome', actor: '', expected: said(verdict), found };
}

/** What a network said, as the model says it. */
function saidBy(outcome: Outcome): Verdict {
  if ('data' in outcome) return outcome;
  const { reason, details = {} } = outcome.refusal;
  return { result: outcome.result, reason, details };
}

const word = (verdict: Verdict) =>
  'reason' in verdict ? `${verdict.result} ${verdict.reason}` : verdict.result;

function checkEvents(told: readonly Event[], events: readonly Event[]): Finding | null {
  for (let index = 0; index < Math.max(told.length, events.length); index += 1) {
    const expected = told[index];
    const found = events[index];
    if (!expected || !found || expected.type !== found.type) {
      const name = (event: Event | undefined) =>
        event ? `event ${event.seq} ${event.type} ${JSON.stringify(event.data)}` : 'no more events';
      return { rule: 'event', actor: '', expected: name(expected), found: name(found) };
    }
    if (isSame(expected, found)) continue;
    const one = difference(expected, found)!;
    const what = `event ${found.seq} ${found.type} with ${one.where}`;
    const block = 'block_hash' in expected.data ? { block: expected.data.block_hash } : {};
    return {
      rule: 'event',
      actor: '',
      expected: one.expected,
      found: `${what} ${one.found}`,
      ...block,
    };
  }
  return null;
}
