/**
 * World in virtual time. Agents are called in windows shorter than the minimum latency, so that no
 * message arrives in the window in which it was sent. Requests are verified in rounds, applied at
 * their arrival and committed asynchronously. The order depends only on (arrival, sender, number).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Profile, resolveLimits } from '../../api/contract/limit-table.js';
import { type BlockShare, createBlockShare } from '../../api/limits/block-share.js';
import { Cost, refuseBlockShare, refuseQuota, toOperation } from '../../api/limits/cost.js';
import { Limits } from '../../api/limits/limits.js';
import { type Admitted, admit } from '../../engine/admit/admit.js';
import { refuseTimestamp } from '../../engine/admit/credentials.js';
import type { Verified } from '../../engine/admit/verify.js';
import type { Outcome } from '../../engine/core/state.js';
import type { AheadSigner } from '../../engine/crypto/signer.js';
import type { VirtualClock } from '../../engine/node/clock.js';
import type { Network } from '../../engine/node/network.js';
import type { Applied } from '../../engine/node/open-store.js';
import type { StateViews } from '../../engine/node/state-views.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { Event } from '../../engine/protocol/schema/event.js';
import { formatInstant } from '../../engine/protocol/schema/primitives.js';
import type { Refusal } from '../../engine/protocol/schema/reason.js';
import { defineStoreErrors } from '../../engine/store/messages.js';
import { DirectVote } from './direct-vote.js';
import { memeText } from './messages.js';
import type { Cause, Intervening, RuleViolation, Watch } from './observer.js';
import { type Sent, Society, type SocietyOptions } from './society.js';
import { Trace } from './trace.js';

/** Errors of a simulated network that stopped. */
const networkError = defineStoreErrors({
  FULL: {
    NETWORK_FULL: '{reason}',
  },
  FAILED: {
    NETWORK_FAILED: '{reason}',
  },
});

/** Limit on applied entries that are not durable yet. */
const BACKLOG = 4_096;
/**
 * Windows per event-loop turn (a turn costs as much as a quiet window), and the maximum time
 * without a turn, so that other tasks, such as serving the page, can run.
 */
const STEPS_A_TURN = 32;
const TURN_MS = 8;

/** A network with a log, or one without. */
export interface WorldNetwork
  extends Pick<
    Network,
    | 'backlog'
    | 'durable'
    | 'fireDeadlines'
    | 'knows'
    | 'nextDeadline'
    | 'precheck'
    | 'verifyAdmitted'
    | 'votesUntilClose'
  > {
  apply(verified: Verified): Pick<Applied, 'outcome' | 'events'>;
  readonly verification: Pick<Network['verification'], 'enabled' | 'defer'>;
  readonly read: StateViews;
}

interface LocalWorldOptions extends SocietyOptions {
  network: WorldNetwork;
  clock: VirtualClock;
  watch: Watch | null;
  /** Simulated server's rate limits, or null. */
  quotas: Quotas | null;
}

export class LocalWorld extends Society {
  readonly #network: WorldNetwork;
  readonly #clock: VirtualClock;
  readonly #watch: Watch | null;
  readonly #quotas: Quotas | null;
  /** Quota charges for requests that are not applied yet. */
  readonly #charged = new Map<Admitted, Charged>();
  readonly #windowMs: number;
  /** True if requests must be verified before they are applied. */
  readonly #inRounds: boolean;
  readonly #intervening: Intervening | null;
  readonly #signer: AheadSigner | undefined;
  readonly #trace = new Trace();
  #steps = 0;
  #turnedAt = performance.now();
  /** First rule violation, which ends the run. */
  broken: RuleViolation | null = null;

  constructor(options: LocalWorldOptions) {
    super(options);
    this.#network = options.network;
    this.#clock = options.clock;
    this.#watch = options.watch;
    this.#quotas = options.quotas;
    this.#windowMs = options.links.windowMs;
    // A request that was changed in transit can have a wrong signature, and rate limits count it.
    const mayDiffer = options.inTransit !== undefined || options.quotas !== null;
    this.#inRounds = options.network.verification.enabled && mayDiffer;
    this.#intervening = options.intervening ?? null;
    this.#signer = options.signer;
  }

  /**
   * Runs the next window that contains events, before `horizon`. If there are no events before the
   * horizon, time advances to it. Returns false if nothing more will happen.
   *
   * @param looksAt time at which the caller checks the state. Time advances at most to the end of
   * the window that contains this time, so that windows do not change.
   */
  step(
    horizon = Number.POSITIVE_INFINITY,
    looksAt = Number.POSITIVE_INFINITY,
  ): boolean | Promise<boolean> {
    const stop = this.#stopAt(horizon, looksAt);
    const next = this.#nextWithin(Math.min(horizon, stop));
    if (Math.min(next, stop) === Number.POSITIVE_INFINITY || this.broken) return false;
    if (this.#beginOf(next) >= stop) {
      this.now = stop;
      return true;
    }
    if (next >= horizon) {
      this.now = Math.max(this.now, horizon);
      return true;
    }
    const end = Math.min(this.#beginOf(next) + this.#windowMs, horizon);
    const answered = this.callAndAsk(end);
    return answered ? answered.then(() => this.#takeArrivals(end)) : this.#takeArrivals(end);
  }

  /** Applies the requests that arrive before the window's end, then ends the window. */
  #takeArrivals(end: number): true | Promise<true> {
    this.#signer?.flush();
    if (this.arrivesBefore(end)) {
      const arrivals = this.#admitted(this.arrived(end));
      const taken = this.#inRounds ? this.#takeInRounds(arrivals) : this.#takeEach(arrivals);
      if (taken) return taken.then(() => this.#endWindow(end));
    }
    return this.#endWindow(end);
  }

  /** Returns a promise only if the disk or other tasks need time: most windows are short. */
  #endWindow(end: number): true | Promise<true> {
    const network = this.#network;
    this.#advance(end);
    this.sendOff();
    this.now = Math.max(this.now, end);
    // Let the disk catch up. Wait only if the backlog is large.
    this.#steps += 1;
    if (network.backlog > BACKLOG) return network.durable.then(() => true);
    const isLate = this.#signer?.flush() === false || performance.now() - this.#turnedAt > TURN_MS;
    return this.#steps >= STEPS_A_TURN || isLate ? this.#turn() : true;
  }

  async #turn(): Promise<true> {
    await nextTurn();
    this.#steps = 0;
    this.#turnedAt = performance.now();
    return true;
  }

  #beginOf(at: number): number {
    return at === Number.POSITIVE_INFINITY ? at : at - (at % this.#windowMs);
  }

  /** Returns the end of the window that contains `looksAt`; infinity if the horizon is earlier. */
  #stopAt(horizon: number, looksAt: number): number {
    const end = Math.ceil(looksAt / this.#windowMs) * this.#windowMs;
    return end > this.now && end < horizon ? end : Number.POSITIVE_INFINITY;
  }

  /** Returns the next event time, after applying the interventions due before its window. */
  #nextWithin(horizon: number): number {
    for (;;) {
      // Interventions send between windows. What they sent may be due before the next call.
      this.sendOff();
      const due = this.#network.nextDeadline();
      const next = Math.min(this.nextDue(), due === null ? Number.POSITIVE_INFINITY : due + 1);
      const begins = this.#beginOf(next);
      const { nextAt = Number.POSITIVE_INFINITY } = this.#intervening ?? {};
      if (nextAt > begins || nextAt >= horizon) return next;
      this.now = Math.max(this.now, nextAt);
      this.#intervening!.actAt(this.now);
    }
  }

  /** Digest of the commands and outcomes so far, equal with and without a log. */
  get traceDigest(): string {
    return this.#trace.digest;
  }

  /** Completes the run. Called once everything is durable. */
  finish(): void {
    this.#note(this.#watch?.finish(this.#clock.now(), this.#network.read));
  }

  #advance(to: number): void {
    this.#clock.set(to);
    const events = this.#network.fireDeadlines();
    if (events.length === 0) return;
    this.#trace.events(events);
    this.#note(this.#watch?.advance(to, events));
    this.#publish(events, null);
  }

  /** Verifies and applies a window's arrivals, round by round. */
  async #takeInRounds(arrived: readonly Arrival[]): Promise<void> {
    const network = this.#network;
    let arrivals = arrived;
    while (arrivals.length > 0 && !this.broken) {
      this.#advance(arrivals[0]!.at);
      if (this.#keptOut(arrivals[0]!)) {
        arrivals = arrivals.slice(1);
        continue;
      }
      const length = roundLength(arrivals, {
        nextDeadline: network.nextDeadline(),
        votesUntilClose: (block) => network.votesUntilClose(block),
      });
      await this.#round(length === arrivals.length ? arrivals : arrivals.slice(0, length));
      arrivals = arrivals.slice(length);
    }
  }

  /**
   * Applies arrivals individually. The result equals that of rounds, because agents sign their
   * requests correctly.
   * @returns a promise only if the disk lags far behind, because a promise costs more than a quiet
   * window.
   */
  #takeEach(arrivals: readonly Arrival[], from = 0): Promise<unknown> | null {
    const network = this.#network;
    for (let index = from; index < arrivals.length; index += 1) {
      if (this.broken) return null;
      if (network.backlog > BACKLOG) {
        return network.durable.then(() => this.#takeEach(arrivals, index));
      }
      const arrival = arrivals[index]!;
      if (this.#quotas) this.#advance(arrival.at);
      else this.#clock.set(arrival.at);
      if (this.#keptOut(arrival)) continue;
      const ended = this.#quotas && this.#precheck(arrival);
      if (ended) this.#count(arrival.from, arrival.admitted.command.kind, ended);
      else this.#take(arrival, network.verification.defer(arrival.admitted));
    }
    return null;
  }

  #admitted(sent: Sent[]): Arrival[] {
    let kept = 0;
    const { networkId } = this;
    for (const one of sent) {
      const { at, from, request } = one;
      // Only meme files are checked asynchronously.
      const known = request instanceof DirectVote ? request : admit(request, networkId);
      if ('refusal' in known) this.#turnedAway(from, request.kind, known.refusal);
      else if (refuseTimestamp(known.signedAt, at)) {
        this.refused(from, request.kind, 'TIMESTAMP_SKEW');
      } else {
        one.admitted = known;
        sent[kept] = one;
        kept += 1;
      }
    }
    sent.length = kept;
    return sent as Arrival[];
  }

  async #round(arrivals: readonly Arrival[]): Promise<void> {
    const network = this.#network;
    const verified = await Promise.all(
      arrivals.map((one) => this.#precheck(one) ?? network.verifyAdmitted(one.admitted)),
    );
    for (const [index, arrival] of arrivals.entries()) {
      if (this.broken) return;
      this.#clock.set(arrival.at);
      const one = verified[index]!;
      if ('result' in one) this.#count(arrival.from, arrival.admitted.command.kind, one);
      else this.#take(arrival, one);
      if (network.backlog > BACKLOG) await network.durable;
    }
  }

  /** Returns true if an intervention drops the request. */
  #keptOut({ at, bytes, admitted }: Arrival): boolean {
    if (!this.#intervening) return false;
    const { command } = admitted;
    const kept = this.#intervening.keepsOut(command, () => {
      this.#advance(at);
      return this.#network.precheck(admitted) === null;
    });
    if (kept) this.lost(command.kind, bytes);
    return kept;
  }

  #take(arrival: Arrival, verified: Verified | { refusal: Refusal }): void {
    const { at, from, admitted } = arrival;
    const { command } = admitted;
    if ('refusal' in verified) {
      this.#turnedAway(from, command.kind, verified.refusal);
      return;
    }
    const { outcome, events } = this.#network.apply(verified);
    this.#trace.command(at, from, command, outcome);
    this.#trace.events(events);
    if (this.#quotas) this.#conclude(admitted, outcome);
    this.#note(this.#watch?.observe({ at, command, outcome, events }));
    this.#count(from, command.kind, outcome);
    if (command.kind === 'vote') arrival.memes = command.meme_references;
    else if (command.kind === 'meme') arrival.text = memeText(admitted.request);
    this.#publish(events, arrival);
  }

  /** Checks a request before verification: rate limits, and refusals that are certain. */
  #precheck({ from, admitted }: Arrival): Outcome | null {
    const outcome = this.#hopeless(admitted);
    const charged = this.#quotas?.take(from, admitted, outcome);
    if (!charged) return outcome;
    if ('refusal' in charged) return { result: 'refused', refusal: charged.refusal };
    if (outcome) charged.conclude(outcome);
    else this.#charged.set(admitted, charged);
    return outcome;
  }

  #conclude(admitted: Admitted, outcome: Outcome): void {
    this.#charged.get(admitted)?.conclude(outcome);
    this.#charged.delete(admitted);
  }

  /** Returns the outcome of a request that would change nothing, without verifying the request. */
  #hopeless(admitted: Admitted): Outcome | null {
    const { command } = admitted;
    const outcome = this.#network.precheck(admitted);
    if (!this.#network.knows(command.public_key) && command.kind !== 'register') return outcome;
    this.#note(this.#watch?.precheck({ at: this.#clock.now(), command, outcome }));
    return outcome;
  }

  #note(broken: RuleViolation | null | undefined): void {
    this.broken ??= broken ?? null;
  }

  #count(from: number, kind: CommandKind, outcome: Outcome): void {
    const at = this.#clock.now();
    if (outcome.result === 'refused') this.#turnedAway(from, kind, outcome.refusal);
    else if (outcome.result === 'equivocation') this.refused(from, kind, 'equivocation', at);
    else if (outcome.result === 'duplicate') this.refused(from, kind, 'duplicate', at);
  }

  /** Counts a refusal. Throws if the network cannot continue. */
  #turnedAway(from: number, kind: CommandKind, refusal: Refusal): void {
    const { code, reason, message } = refusal;
    if (code === 'NETWORK_ERROR') {
      const problem = reason === 'DISK_FULL' ? 'NETWORK_FULL' : 'NETWORK_FAILED';
      throw networkError(problem, { reason: message });
    }
    this.refused(from, kind, reason, this.#clock.now());
    this.tryAgain(from, kind, refusal, this.#clock.now());
  }

  #publish(events: readonly Event[], cause: Cause | null): void {
    // Most events happened now, so compare the text, which is cheaper than parsing it.
    const now = this.#clock.now();
    const stamp = formatInstant(now);
    for (const event of events) {
      const { timestamp } = event.data;
      this.publish(event, timestamp === stamp ? now : Date.parse(timestamp), cause);
    }
  }
}

/*
 * Rounds of requests that can be verified together. A request that is certain to be refused is
 * rejected before verification. Every verified request must therefore still be acceptable when it
 * is applied. A round ends where one request could invalidate the next.
 */

/** Kinds whose acceptance or effects depend on more than the sender and block. */
const alone = new Set<CommandKind>([
  'propose',
  'status',
  'alliance_propose',
  'alliance_respond',
  'alliance_leave',
]);

interface Arrival extends Sent {
  admitted: Admitted;
}

interface RoundBounds {
  nextDeadline: number | null;
  /** Number of votes before the block may close; 0 if the block is closed. */
  votesUntilClose(block: string): number;
}

/** Returns the number of arrivals in the next round, which is at least one. */
function roundLength(arrivals: readonly Arrival[], bounds: RoundBounds): number {
  const votesLeft = new Map<string, number>();
  const seen = new Set<string>();
  for (const [index, { at, from, admitted }] of arrivals.entries()) {
    const { command } = admitted;
    const due = bounds.nextDeadline;
    const late = due !== null && at > due;
    if (late || alone.has(command.kind)) return Math.max(1, index);
    if (command.kind !== 'vote' && command.kind !== 'discuss') continue;
    const block = command.block_hash;
    const open = bounds.votesUntilClose(block);
    // The block stays closed, so its requests are rejected in any round.
    if (open === 0) continue;
    const left = votesLeft.get(block) ?? open;
    // A sender's second vote on a block depends on that sender's first vote.
    const own = `${command.kind} ${from} ${block}`;
    if (left === 0 || seen.has(own)) return index;
    seen.add(own);
    if (command.kind !== 'vote') continue;
    // This vote may close the block and orphan others, so the round ends after this vote.
    if (left === 1) return index + 1;
    votesLeft.set(block, left - 1);
  }
  return arrivals.length;
}

/** Returns the cost of a request, without its body if it is a direct vote. */
function operationOf(admitted: Admitted): ReturnType<typeof toOperation> {
  if (!(admitted instanceof DirectVote)) return toOperation(admitted);
  const { kind, public_key: publicKey, signature, bytes } = admitted;
  return { kind, publicKey, signature, bytes: bytes - publicKey.length };
}

/*
 * Server rate limits in world time. Refused requests do not reach the network. Each agent uses a
 * separate address. Reads are not simulated.
 */

/** Charge whose outcome is pending. */
interface Charged {
  conclude(outcome: Outcome): void;
}

/** Disables replay protection: requests are not captured, and all unsigned requests look alike. */
const unseen = { has: () => false, add: () => {} };

export class Quotas {
  readonly #limits: Limits;
  readonly #blocks: BlockShare | null;
  readonly #reputationOf: (publicKey: string) => number;

  constructor(profile: Profile, now: () => number, reputationOf: (publicKey: string) => number) {
    const figures = resolveLimits(profile);
    this.#limits = new Limits(profile, figures, now);
    this.#blocks = createBlockShare(figures, now);
    this.#reputationOf = reputationOf;
  }

  /** Charges a request, or refuses it. `look` is the request's predicted outcome. */
  take(from: number, admitted: Admitted, look: Outcome | null): Charged | { refusal: Refusal } {
    const { kind, public_key: key } = admitted.command;
    const operation = operationOf(admitted);
    const cost = new Cost(this.#limits, unseen, operation, this.#limits.address(`address:${from}`));
    const exceeded = cost.exceeded();
    if (exceeded && !cost.isFree(exceeded, look)) return { refusal: refuseQuota(exceeded) };
    const opens = kind === 'propose' && !look ? this.#blocks : null;
    const waitMs = opens?.take(key, this.#reputationOf(key)) ?? 0;
    if (opens && waitMs > 0) return { refusal: refuseBlockShare(opens, waitMs) };
    cost.charge();
    return {
      conclude(outcome) {
        cost.conclude(outcome);
        if (outcome.result !== 'accepted') opens?.refund(key);
      },
    };
  }
}
