/** Audited random life. Independent of the test runner, because a child process also runs it. */
import type { Event, Network, SignedRequest, VirtualClock } from 'folkmoot';
import type { Auditor, Violation } from 'folkmoot/sim';
import { type Attempt, Life } from '../../engine/random/random.js';

export interface Audited {
  network: Network;
  clock: VirtualClock;
  auditor: Auditor;
  /** Records an event, such as `vote NOT_ACTIVE` or `block expired`. */
  reached?: Set<string>;
}

/** Runs a life to its end or first violation; `looks` adds prechecks. */
export async function auditedLife(
  audited: Audited,
  script: readonly Attempt[],
  looks = true,
): Promise<Violation | null> {
  const { network, clock, auditor, reached } = audited;
  const life = new Life(network);
  for (const request of Life.founders()) await take(audited, request, looks);
  for (const [index, attempt] of script.entries()) {
    const next = life.next(attempt);
    if (typeof next === 'number') clock.set(clock.now() + next);
    // Every second time, the next command fires the deadlines.
    else for (const request of next) await take(audited, request, looks && index % 2 === 0);
    if (index % 3 === 0) pass(audited);
    await network.durable;
    if (auditor.violation) return auditor.violation;
  }
  pass(audited);
  await network.durable;
  for (const { dormant } of network.read.agents()) if (dormant) reached?.add('dormant');
  return auditor.finish(clock.now(), network.read);
}

function pass(audited: Audited): void {
  const { network, clock, auditor } = audited;
  const events = network.fireDeadlines();
  note(audited, events);
  auditor.advance(clock.now(), events);
}

/** Submits a request, after a precheck if `looks` is true. */
async function take(audited: Audited, request: SignedRequest, looks: boolean): Promise<void> {
  const { network, clock, auditor, reached } = audited;
  const verified = await network.verify(request);
  if ('refusal' in verified) return;
  const { command } = verified;
  const at = clock.now();
  if (looks) {
    pass(audited);
    auditor.precheck({ at, command, outcome: network.precheck(verified) });
  }
  const { outcome, events } = network.apply(verified);
  const isRefused = outcome.result === 'refused';
  reached?.add(`${command.kind} ${isRefused ? outcome.refusal.reason : outcome.result}`);
  note(audited, events);
  auditor.observe({ at, command, outcome, events });
  await network.durable;
}

function note({ network, reached }: Audited, events: readonly Event[]): void {
  const { policy } = network.genesis;
  const isProposed = events.some(({ type }) => type === 'block_proposal');
  for (const { type, data } of events) {
    if (type === 'alliance_update') reached?.add(`alliance ${data.status}`);
    else if (type === 'reputation_update') reached?.add(`reputation ${data.reason}`);
    else reached?.add(type);
    if (type !== 'block_status') continue;
    const { status, approve, reject, electorate } = data;
    reached?.add(`${policy} ${status}`);
    if (status === 'orphaned' && isProposed) reached?.add('displaced');
    if (status !== 'rejected') continue;
    if (policy === 'veto' && 3 * reject < electorate) reached?.add('veto alone');
    if (policy === 'majority' && approve === reject) reached?.add('majority tied');
  }
}
