/**
 * The view's position in the network, and how it moves: with the network, by a clock of its own, or
 * to an entry that a reader chose. Runs in the worker; the network never notices.
 */

import type { RowBatch, Snapshot } from '../../api/view/model.js';
import { applyRowBatch } from '../../api/view/reducer.js';
import type { ClockState, Mode, Patch } from '../data/messages.js';
import { Changes, RateMeter } from './changes.js';
import {
  type BlockClosings,
  NetworkHistory,
  PAGE_ENTRIES,
  type StepBy,
  stepFrom,
} from './history.js';
import { type Source, SourceRefused } from './source.js';

/** Entries that are folded or fetched rather than that a whole snapshot is. */
const NEAR_ENTRIES = 20_000;

interface Heard {
  /** The position, or what is known of it, is another. */
  changed(): void;
  clock(clock: ClockState): void;
  /** Null: what was told before is over. */
  notice(text: string | null): void;
  failed(error: unknown): void;
}

export class Player {
  readonly #source: Source;
  readonly #heard: Heard;
  readonly #rates = new RateMeter();
  readonly #changes = new Changes(this.#rates);
  #snapshot: Snapshot | null = null;
  #mode: Mode = 'live';
  #speed = 1;
  #head = { entry: -1, at: 0 };
  #follows = true;
  /** Where it is to go; null with the network. */
  #goal: number | null = null;
  #moving = false;
  #past: NetworkHistory;
  /** Counts what the reader asked for: what was begun for something before it is let be. */
  #asked = 0;
  #steps: Promise<unknown> = Promise.resolve();
  /** Engine time that has been played to. */
  #playedTo = 0;

  constructor(source: Source, heard: Heard) {
    this.#source = source;
    this.#heard = heard;
    this.#past = this.#anotherPast();
  }

  #anotherPast(): NetworkHistory {
    const [last, here] = [() => this.#head.entry, () => this.#snapshot?.entry ?? 0];
    return new NetworkHistory({ source: this.#source, last, here });
  }

  get picture(): Snapshot | null {
    return this.#snapshot;
  }

  get clock(): ClockState {
    const [mode, speed, goal] = [this.#mode, this.#speed, this.#goal];
    return { mode, speed, goal, head: this.#head, follows: this.#follows };
  }

  /** The entry after which the tape wants more. */
  get since(): number {
    return this.#head.entry;
  }

  /** What the page has not been told; null where that is nothing. */
  patch(): Patch | null {
    return this.#snapshot && this.#changes.any ? this.#changes.patch(this.#snapshot) : null;
  }

  /** All has to be told again. */
  forgotten(): void {
    this.#changes.all();
    this.#heard.changed();
  }

  /** Begins, or begins anew with another network. @throws what the source throws. */
  async begin(at: number | null): Promise<void> {
    const head = await this.#source.view(null);
    this.#past.leave();
    this.#past = this.#anotherPast();
    this.#asked += 1;
    this.#head = { entry: head.entry, at: head.at };
    this.#show(head, true);
    this.#mode = 'live';
    this.#goal = null;
    this.#follows = true;
    if (at !== null) this.seek(at);
    this.#postState();
  }

  /** Somebody goes on with it. */
  #more(head: { entry: number; at: number }): void {
    this.#head = head;
    this.#follows = true;
  }

  /** Nothing more is expected: of what is kept in a folder. */
  freeze(): void {
    this.#follows = false;
    this.#postState();
  }

  /** What the network did next. */
  take(batch: RowBatch): void {
    if (batch.to > this.#head.entry) this.#more({ entry: batch.to, at: batch.at });
    this.#past.tape.add(batch, this.#snapshot?.entry ?? 0);
    if (this.#mode === 'live') this.#go();
    this.#postState();
  }

  /** The server says where the network is. */
  known(entry: number): void {
    if (entry > this.#head.entry) this.#more({ entry, at: this.#head.at });
    this.#go();
    this.#postState();
  }

  live(): void {
    this.#asked += 1;
    this.#mode = 'live';
    this.#goal = null;
    this.#go();
    this.#postState();
  }

  pause(): void {
    this.#asked += 1;
    this.#mode = 'paused';
    this.#goal = this.#snapshot?.entry ?? 0;
    this.#postState();
  }

  /** Goes on by a clock of its own; at the end of a run, from its beginning. */
  play(): void {
    if (!this.#snapshot) return;
    this.#asked += 1;
    this.#mode = 'playing';
    this.#playedTo = this.#snapshot.at;
    this.#goal = this.#snapshot.entry;
    if (this.#snapshot.entry >= this.#head.entry && !this.#follows) {
      this.#goal = 0;
      this.#go();
    }
    this.#postState();
  }

  /** Pauses what goes on, lets go on what stands still. */
  toggle(): void {
    if (this.#mode === 'paused' || (this.#mode === 'live' && !this.#follows)) this.play();
    else this.pause();
  }

  speed(times: number): void {
    this.#speed = times;
    this.#postState();
  }

  /** So many milliseconds of ours have passed. */
  tick(ms: number): void {
    if (this.#mode !== 'playing' || this.#moving || !this.#snapshot) return;
    this.#playedTo += ms * this.#speed;
    const { entry } = this.#snapshot;
    const { tape } = this.#past;
    const reached = tape.entryBy(this.#playedTo, entry);
    const known = tape.reach(entry + 1);
    if (reached >= this.#head.entry) {
      if (this.#follows) return this.live();
      this.#goal = this.#head.entry;
      this.#mode = 'paused';
      this.#postState();
    } else this.#goal = reached;
    // Ahead, so that what comes next is here when its time comes.
    if (known - reached < PAGE_ENTRIES / 10 && known < this.#head.entry) {
      this.#past.fetch(known + 1).catch((error) => {
        if (this.#mode === 'playing') this.pause();
        this.#heard.failed(error);
      });
    }
    this.#go();
  }

  seek(entry: number): void {
    this.#asked += 1;
    this.#seek(entry);
  }

  #seek(entry: number): void {
    const goal = Math.max(0, entry);
    if (goal > this.#head.entry) {
      const newest = `entry ${goal} is not there yet: the newest is ${this.#head.entry}`;
      this.#heard.notice(`${newest}, which is shown`);
    }
    this.#mode = 'paused';
    this.#goal = Math.min(goal, this.#head.entry);
    if (this.#snapshot) this.#past.walk(this.#snapshot);
    this.#go();
    this.#postState();
  }

  /** From where the step before leads to, unless the reader asks for something else meanwhile. */
  step(by: StepBy, forward: boolean, closings: BlockClosings): void {
    const asked = this.#asked;
    const wanted = () => asked === this.#asked;
    this.#steps = this.#steps
      .then(async () => {
        if (!wanted()) return;
        const from = this.#goal ?? this.#snapshot?.entry ?? 0;
        const [last, past] = [this.#head.entry, this.#past];
        const to = await stepFrom(from, { by, forward, last, past, closings, wanted });
        if (wanted()) this.#seek(to);
      })
      .catch((error) => this.#heard.failed(error));
  }

  focus(block: number | null): void {
    this.#changes.choose(block);
    this.#heard.changed();
  }

  #postState(): void {
    this.#heard.clock(this.clock);
  }

  #go(): void {
    if (!this.#moving) void this.#move();
  }

  async #move(): Promise<void> {
    this.#moving = true;
    try {
      const nearer = () => this.#nearer(this.#goal ?? this.#head.entry);
      await patiently(nearer, (text) => this.#heard.notice(text));
    } catch (error) {
      this.#heard.failed(error);
    } finally {
      this.#moving = false;
    }
  }

  /** @returns whether there may be more to do */
  async #nearer(goal: number): Promise<boolean> {
    const now = this.#snapshot;
    if (!now || now.entry === goal) return false;
    const ahead = goal > now.entry;
    if (ahead && this.#past.tape.reach(now.entry + 1) >= goal) {
      this.#fold(now, goal);
      return true;
    }
    const { tape, keyframes } = this.#past;
    const place = keyframes.placeBefore(goal);
    if ((!ahead || place > now.entry) && place >= 0 && tape.reach(place + 1) >= goal) {
      const base = keyframes.before(goal)!;
      this.#rates.reset();
      this.#snapshot = base;
      this.#fold(base, goal);
      this.#changes.all();
      this.#heard.changed();
      return true;
    }
    if (ahead && goal - now.entry <= NEAR_ENTRIES) {
      await this.#past.fetch(tape.reach(now.entry + 1) + 1);
      return true;
    }
    const there = await this.#source.view(goal);
    this.#show(there, there.epoch !== now.epoch);
    return true;
  }

  /** A snapshot in place of the one that is shown. */
  #show(snapshot: Snapshot, another: boolean): void {
    this.#snapshot = snapshot;
    this.#rates.reset();
    this.#past.pass(snapshot);
    this.#changes.all({ names: another });
    this.#heard.changed();
  }

  #fold(snapshot: Snapshot, goal: number): void {
    for (const batch of this.#past.tape.between(snapshot.entry + 1, goal)) {
      const from = snapshot.entry + 1;
      const to = Math.min(goal, batch.to);
      applyRowBatch(snapshot, batch, to);
      this.#changes.note(batch, from, to);
      const share = (to - from + 1) / (batch.to - batch.from + 1);
      this.#past.pass(snapshot, Math.ceil(share * batch.rows.entry.length));
    }
    this.#heard.changed();
  }
}

export const MADE_AGAIN_MS = 500;

export const isBeingMade = (error: unknown): error is SourceRefused =>
  error instanceof SourceRefused && error.reason === 'BEING_MADE';

/**
 * Takes steps until one says that it was the last, each of them for what the reader wants by then.
 * `notice` is told why nothing is there yet, and null once something is.
 */
async function patiently(
  step: () => Promise<boolean>,
  notice: (text: string | null) => void,
): Promise<void> {
  for (let waits = false; ; ) {
    try {
      const more = await step();
      if (waits) notice(null);
      if (!more) return;
      waits = false;
    } catch (error) {
      if (!isBeingMade(error)) throw error;
      waits = true;
      notice(`It comes as soon as the server has made it: ${error.message}`);
      await new Promise((again) => setTimeout(again, MADE_AGAIN_MS));
    }
  }
}
