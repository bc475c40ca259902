/**
 * The members of a simulated etcd as a quorum: one log, of which each member holds, knows as
 * committed, and has applied a prefix. An entry is committed once a majority holds it. A leader is
 * elected among a majority that has heard from none for 1 to 2 s, if that majority holds no more
 * than it does. Its log then replaces the log, so entries of an earlier leader may be lost, but no
 * committed one. This is what clients see of Raft, without its messages about terms and votes.
 */
import type { HostClock } from '../../engine/store/host-clock.js';
import type { Command, Outcome } from './etcd-store.js';

/** Interval of heartbeats, and the least time without one until an election, as in etcd. */
const HEARTBEAT_MS = 100;
export const ELECTION_MS = 1_000;

/** Latency of a message and duration of a disk write without faults. */
const LATENCY_MS = { least: 0.2, most: 2 } as const;
const DISK_MS = { least: 0.1, most: 1 } as const;
/** Additional latency of a message that later ones may overtake. */
const OVERTAKEN_MS = 100;
/** Entries that every member has applied are dropped in groups of this size. */
const DROPPED_AT_ONCE = 1_000;

/** Directed links between hosts by name, with their faults. */
export class Links {
  /** Probabilities of faults from 0 to 1, and the largest additional latency. */
  readonly messages = { lost: 0, repeated: 0, reordered: 0, delayMs: 0 };
  /** Hosts whose processes are stopped: they receive nothing until they continue. */
  readonly paused = new Set<string>();
  /** Hosts that members refuse to connect with, as with an expired certificate. */
  readonly expired = new Set<string>();
  readonly #cut = new Set<string>();
  readonly random: () => number;

  /** @param random draws a number from 0 to 1 from a seed. */
  constructor(random: () => number) {
    this.random = random;
  }

  /** Cuts the link from one host to another. */
  cut(from: string, to: string, both: boolean): void {
    this.#cut.add(`${from} ${to}`);
    if (both) this.#cut.add(`${to} ${from}`);
  }

  /** Mends all links. */
  mend(): void {
    this.#cut.clear();
  }

  isOpen(from: string, to: string): boolean {
    if (this.paused.size > 0 && (this.paused.has(from) || this.paused.has(to))) return false;
    return this.#cut.size === 0 || !this.#cut.has(`${from} ${to}`);
  }

  /** Draws whether a fault with this probability happens. */
  happens(probability: number): boolean {
    return probability > 0 && this.random() < probability;
  }

  latencyMs(): number {
    const { delayMs, reordered } = this.messages;
    const late = this.happens(reordered) ? OVERTAKEN_MS : 0;
    return this.between(LATENCY_MS) + (delayMs + late) * this.random();
  }

  between({ least, most }: { least: number; most: number }): number {
    return least + (most - least) * this.random();
  }
}

export interface Entry {
  command: Command;
  origin: Voter;
  /** Run of `origin` that waits for the outcome. */
  run: number;
  answer: (outcome: Outcome) => void;
  isInLog: boolean;
}

/** A member of the quorum. Its log and what it has applied survive a restart. */
export class Voter {
  readonly index: number;
  readonly name: string;
  isUp = true;
  /** Counts the starts of the process. Messages to an earlier run are lost. */
  run = 0;
  /** Entries of the log on this member's disk, known as committed, and applied. */
  held = 0;
  known = 0;
  applied = 0;
  /** The leader as this member knows it, which may have been deposed. */
  leader: Voter | null = null;
  /** Time of the last sign of the leader; for the leader, of a majority. */
  heardAtMs = 0;
  /** Time without a leader after which this member seeks election. */
  patienceMs = ELECTION_MS;
  /** Entries that the leader knows this member to hold. */
  acknowledged = 0;
  /** Reads that wait until this member has applied what was committed when they began. */
  readonly reads = new Set<Read>();

  constructor(index: number) {
    this.index = index;
    this.name = `m${index + 1}`;
  }
}

interface Read {
  /** Entries to apply first; null until the leader has answered. */
  index: number | null;
  ready: () => void;
  fail: () => void;
}

/** Receiver of committed entries and of changes of the leader. */
export interface QuorumHost {
  apply(voter: Voter, entry: Entry): void;
  /** Called when a voter follows a different leader, or none. */
  onLeader(voter: Voter): void;
}

export class Quorum {
  readonly voters: readonly Voter[];
  readonly #clock: HostClock;
  readonly #links: Links;
  readonly #host: QuorumHost;
  #log: Entry[] = [];
  /** Number of entries dropped from the front of the log. */
  #dropped = 0;
  /** The leader that can commit entries. */
  #leader: Voter | null = null;
  #term = 1;

  constructor(count: number, clock: HostClock, links: Links, host: QuorumHost) {
    this.voters = Array.from({ length: count }, (_, index) => new Voter(index));
    this.#clock = clock;
    this.#links = links;
    this.#host = host;
    clock.every(HEARTBEAT_MS, () => this.#beat());
  }

  get leader(): Voter | null {
    return this.#leader;
  }

  /** Elects a first leader, as at the start of a cluster. */
  begin(): void {
    this.#elect(this.voters[Math.floor(this.#links.random() * this.voters.length)]!);
    for (const voter of this.voters) this.#follow(voter, this.#leader);
  }

  /** Deposes the leader. The next is elected after a while. */
  depose(): void {
    const leader = this.#leader;
    this.#leader = null;
    for (const voter of this.voters) if (voter.leader === leader) this.#follow(voter, null);
  }

  stop(voter: Voter): void {
    if (this.#leader === voter) this.#leader = null;
    voter.isUp = false;
    voter.reads.clear();
    voter.leader = null;
  }

  start(voter: Voter): void {
    voter.isUp = true;
    voter.run += 1;
    voter.heardAtMs = this.#clock.monotonic();
    voter.patienceMs = this.#drawPatience();
  }

  /**
   * Proposes a command at a member, which answers once the member has applied it; never, if the
   * entry is lost.
   *
   * @returns false if the member knows no leader.
   */
  propose(origin: Voter, command: Command, answer: Entry['answer']): boolean {
    const { leader, run } = origin;
    if (!leader) return false;
    const entry = { command, origin, run, answer, isInLog: false };
    if (leader === origin) this.#append(leader, entry);
    else this.send(origin, leader, () => this.#append(leader, entry));
    return true;
  }

  /** Calls `ready` once the member has applied everything that is committed by now. */
  read(voter: Voter, ready: () => void, fail: () => void): void {
    const { leader } = voter;
    if (!leader) return fail();
    const read: Read = { index: null, ready, fail };
    voter.reads.add(read);
    this.send(voter, leader, () => {
      const { known } = leader;
      // A deposed leader, or one without a majority, confirms nothing.
      this.#clock.after(this.#links.latencyMs() + this.#links.latencyMs(), () => {
        if (this.#leader !== leader || !this.#reachesMajority(leader)) return;
        this.send(leader, voter, () => {
          read.index = known;
          this.#release(voter);
        });
      });
    });
  }

  /** Sends a message to another member, or to the member itself. */
  send(from: Voter, to: Voter, deliver: () => void): void {
    const { run } = to;
    const { lost, repeated } = this.#links.messages;
    const isOpen = () => from === to || this.#links.isOpen(from.name, to.name);
    if (!isOpen() || this.#links.happens(lost)) return;
    for (let copies = this.#links.happens(repeated) ? 2 : 1; copies > 0; copies -= 1) {
      this.#clock.after(from === to ? 0 : this.#links.latencyMs(), () => {
        if (to.isUp && to.run === run && isOpen()) deliver();
      });
    }
  }

  #append(leader: Voter, entry: Entry): void {
    if (this.#leader !== leader || entry.isInLog) return;
    entry.isInLog = true;
    this.#log.push(entry);
    this.#write(leader, this.#end, () => this.#commit());
    this.#replicate();
  }

  get #end(): number {
    return this.#dropped + this.#log.length;
  }

  /** Writes the log up to `end` to a member's disk, unless an election replaces the log first. */
  #write(voter: Voter, end: number, done: () => void): void {
    const { run } = voter;
    const term = this.#term;
    this.#clock.after(this.#links.between(DISK_MS), () => {
      if (!voter.isUp || voter.run !== run || this.#term !== term) return;
      voter.held = Math.max(voter.held, end);
      done();
    });
  }

  /** Sends each member what it lacks: entries, or the knowledge that they are committed. */
  #replicate(): void {
    const leader = this.#leader!;
    const { known } = leader;
    const end = this.#end;
    const term = this.#term;
    for (const voter of this.voters) {
      if (voter === leader || (voter.acknowledged >= end && voter.known >= known)) continue;
      this.send(leader, voter, () => {
        if (this.#term !== term || this.#leader !== leader) return;
        const learn = () => {
          voter.known = Math.max(voter.known, Math.min(known, voter.held));
          this.#apply(voter);
          if (voter.acknowledged >= end) return;
          this.send(voter, leader, () => this.#acknowledge(voter, end, term));
        };
        if (voter.held >= end) learn();
        else this.#write(voter, end, learn);
      });
    }
  }

  #acknowledge(voter: Voter, end: number, term: number): void {
    if (this.#term !== term || voter.acknowledged >= end) return;
    voter.acknowledged = end;
    if (this.#leader && end > this.#leader.known) this.#commit();
  }

  #commit(): void {
    const leader = this.#leader;
    if (!leader) return;
    const counts = this.voters.map((one) => (one === leader ? one.held : one.acknowledged));
    const committed = counts.sort((a, b) => b - a)[this.#majority - 1]!;
    if (committed <= leader.known || committed > leader.held) return;
    leader.known = committed;
    this.#apply(leader);
    this.#replicate();
  }

  get #majority(): number {
    return Math.floor(this.voters.length / 2) + 1;
  }

  #apply(voter: Voter): void {
    while (voter.applied < voter.known) {
      const entry = this.#log[voter.applied - this.#dropped]!;
      voter.applied += 1;
      this.#host.apply(voter, entry);
    }
    this.#release(voter);
    const all = Math.min(...this.voters.map(({ applied }) => applied)) - this.#dropped;
    if (all < DROPPED_AT_ONCE) return;
    this.#log = this.#log.slice(all);
    this.#dropped += all;
  }

  #release(voter: Voter): void {
    for (const read of voter.reads) {
      if (read.index === null || read.index > voter.applied) continue;
      voter.reads.delete(read);
      read.ready();
    }
  }

  #beat(): void {
    const now = this.#clock.monotonic();
    const leader = this.#leader;
    if (leader && this.#reachesMajority(leader)) leader.heardAtMs = now;
    else if (leader && now - leader.heardAtMs >= ELECTION_MS) this.#leader = null;
    for (const voter of this.voters) if (this.#isActive(voter)) this.#hear(voter, now);
    if (this.#leader) this.#replicate();
  }

  #hear(voter: Voter, now: number): void {
    const leader = this.#leader;
    if (leader && voter !== leader && this.#isActive(leader) && this.#reaches(leader, voter)) {
      voter.heardAtMs = now;
      this.#follow(voter, leader);
      return;
    }
    const silentMs = now - voter.heardAtMs;
    if (voter.leader && voter !== leader && silentMs >= ELECTION_MS) this.#follow(voter, null);
    if (!voter.leader && silentMs >= voter.patienceMs) this.#campaign(voter, now);
  }

  /** Elects a voter if a majority knows no leader and holds no more entries than the voter. */
  #campaign(candidate: Voter, now: number): void {
    const votes = this.voters.filter((voter) => {
      if (voter === candidate) return true;
      const hears = this.#reaches(candidate, voter) && this.#reaches(voter, candidate);
      return hears && this.#isActive(voter) && !voter.leader && voter.held <= candidate.held;
    });
    if (votes.length >= this.#majority) return this.#elect(candidate);
    candidate.patienceMs = now - candidate.heardAtMs + this.#drawPatience();
  }

  #elect(leader: Voter): void {
    this.#term += 1;
    this.#leader = leader;
    this.#log.length = leader.held - this.#dropped;
    for (const voter of this.voters) {
      voter.held = Math.min(voter.held, leader.held);
      voter.acknowledged = 0;
    }
    leader.heardAtMs = this.#clock.monotonic();
    this.#follow(leader, leader);
    // All that the leader holds becomes committed, as by the empty entry of a new leader.
    this.#commit();
    this.#replicate();
  }

  #follow(voter: Voter, leader: Voter | null): void {
    if (voter.leader === leader) return;
    voter.leader = leader;
    voter.patienceMs = this.#drawPatience();
    for (const read of voter.reads) read.fail();
    voter.reads.clear();
    this.#host.onLeader(voter);
  }

  #drawPatience(): number {
    return ELECTION_MS * (1 + this.#links.random());
  }

  #reachesMajority(leader: Voter): boolean {
    const reached = this.voters.filter(
      (voter) =>
        this.#isActive(voter) && this.#reaches(leader, voter) && this.#reaches(voter, leader),
    );
    return this.#isActive(leader) && reached.length >= this.#majority;
  }

  #reaches(from: Voter, to: Voter): boolean {
    return from === to || this.#links.isOpen(from.name, to.name);
  }

  #isActive({ isUp, name }: Voter): boolean {
    return isUp && !this.#links.paused.has(name);
  }
}
