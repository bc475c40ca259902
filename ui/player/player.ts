/**
 * The view's position in the network, and how it moves: with the network, by a clock of its own, or
 * to an entry that a reader chose. Runs in the worker; the network never notices.
 */
import { applySpan } from '../../api/view/fold.js';
import type { Picture, Span } from '../../api/view/model.js';
import type { ClockState, Mode, Patch } from '../data/messages.js';
import { Changes } from './changes.js';
import { Keyframes } from './keyframes.js';
import { RateMeter } from './rates.js';
import { Refused, type Source } from './source.js';
import { type StepBy, stepFrom } from './steps.js';
import { Tape } from './tape.js';
import { walkThrough } from './walk.js';

/** Entries that are folded or fetched rather than that a whole picture is. */
const NEAR_ENTRIES = 20_000;
/** Entries that are fetched at once. */
const PAGE_ENTRIES = 50_000;
/** Rows between two pictures that are kept. */
const KEYFRAME_ROWS = 16_384;
/** A run of no more entries is fetched whole, once a reader begins to travel in it. */
const WHOLE_ENTRIES = 400_000;

export interface Heard {
  /** The position, or what is known of it, is another. */
  changed(): void;
  clock(clock: ClockState): void;
  notice(text: string): void;
  failed(error: unknown): void;
}

export class Player {
  readonly #source: Source;
  readonly #heard: Heard;
  readonly #tape = new Tape();
  readonly #keyframes = new Keyframes();
  readonly #rates = new RateMeter();
  readonly #changes = new Changes(this.#rates);
  #picture: Picture | null = null;
  #mode: Mode = 'live';
  #speed = 1;
  #head = { entry: -1, at: 0 };
  #follows = true;
  /** Where it is to go; null with the network. */
  #goal: number | null = null;
  #moving = false;
  #whole = false;
  /** Engine time that has been played to. */
  #playedTo = 0;
  #rowsSinceKeyframe = 0;

  constructor(source: Source, heard: Heard) {
    this.#source = source;
    this.#heard = heard;
  }

  get picture(): Picture | null {
    return this.#picture;
  }

  get clock(): ClockState {
    const [mode, speed, head] = [this.#mode, this.#speed, this.#head];
    return { mode, speed, head, follows: this.#follows };
  }

  /** The entry after which the tape wants more. */
  get since(): number {
    return this.#head.entry;
  }

  /** What the page has not been told; null where that is nothing. */
  patch(): Patch | null {
    return this.#picture && this.#changes.any ? this.#changes.patch(this.#picture) : null;
  }

  /** All has to be told again. */
  forgotten(): void {
    this.#changes.all();
    this.#heard.changed();
  }

  /** Begins, or begins anew with another network. @throws what the source throws. */
  async begin(at: number | null): Promise<void> {
    this.#tape.clear();
    this.#keyframes.clear();
    const head = await this.#source.view(null);
    this.#head = { entry: head.entry, at: head.at };
    this.#show(head, true);
    this.#mode = 'live';
    this.#goal = null;
    if (at !== null) this.seek(at);
    this.#told();
  }

  /** Nothing more will come. */
  finished(): void {
    this.#follows = false;
    this.#told();
  }

  /** What the network did next. */
  take(span: Span): void {
    if (span.to > this.#head.entry) this.#head = { entry: span.to, at: span.at };
    this.#tape.add(span, this.#picture?.entry ?? 0);
    if (this.#mode === 'live') this.#go();
    this.#told();
  }

  /** The server says where the network is. */
  known(entry: number): void {
    if (entry <= this.#head.entry) return;
    this.#head = { entry, at: this.#head.at };
    if (this.#mode === 'live') this.#go();
    this.#told();
  }

  live(): void {
    this.#mode = 'live';
    this.#goal = null;
    this.#go();
    this.#told();
  }

  pause(): void {
    this.#mode = 'paused';
    this.#goal = this.#picture?.entry ?? 0;
    this.#told();
  }

  /** Goes on by a clock of its own; at the end of a run, from its beginning. */
  play(): void {
    if (!this.#picture) return;
    this.#mode = 'playing';
    this.#playedTo = this.#picture.at;
    this.#goal = this.#picture.entry;
    if (this.#picture.entry >= this.#head.entry && !this.#follows) {
      this.#goal = 0;
      this.#go();
    }
    this.#told();
  }

  speed(times: number): void {
    this.#speed = times;
    this.#told();
  }

  /** So many milliseconds of ours have passed. */
  tick(ms: number): void {
    if (this.#mode !== 'playing' || this.#moving || !this.#picture) return;
    this.#playedTo += ms * this.#speed;
    const { entry } = this.#picture;
    const reached = this.#tape.entryBy(this.#playedTo, entry);
    const known = this.#tape.reach(entry + 1);
    if (reached >= this.#head.entry) {
      if (this.#follows) return this.live();
      this.#goal = this.#head.entry;
      this.#mode = 'paused';
      this.#told();
    } else this.#goal = reached;
    // Ahead, so that what comes next is here when its time comes.
    if (known - reached < PAGE_ENTRIES / 10 && known < this.#head.entry) {
      void this.#fetch(known + 1).catch((error) => this.#heard.failed(error));
    }
    this.#go();
  }

  seek(entry: number): void {
    const goal = Math.max(0, entry);
    if (goal > this.#head.entry) {
      const newest = `entry ${goal} is not there yet: the newest is ${this.#head.entry}`;
      this.#heard.notice(`${newest}, which is shown`);
    }
    this.#mode = 'paused';
    this.#goal = Math.min(goal, this.#head.entry);
    if (!this.#whole && this.#head.entry <= WHOLE_ENTRIES) this.#fetchWhole();
    this.#go();
    this.#told();
  }

  async step(by: StepBy, forward: boolean, blocks: readonly number[]): Promise<void> {
    const from = this.#goal ?? this.#picture?.entry ?? 0;
    const last = this.#head.entry;
    if (by === 'event' && !forward)
      await this.#fetchAround(Math.max(0, from - PAGE_ENTRIES), from - 1);
    else if (by === 'event' && this.#tape.reach(from + 1) <= from) await this.#fetch(from + 1);
    this.seek(stepFrom(from, { by, forward, blocks, last, tape: this.#tape }));
  }

  focus(block: number | null): void {
    this.#changes.choose(block);
    this.#heard.changed();
  }

  #told(): void {
    this.#heard.clock(this.clock);
  }

  #go(): void {
    if (!this.#moving) void this.#move();
  }

  async #move(): Promise<void> {
    this.#moving = true;
    try {
      while (await this.#nearer(this.#goal ?? this.#head.entry));
    } catch (error) {
      this.#heard.failed(error);
    } finally {
      this.#moving = false;
    }
  }

  /** @returns whether there may be more to do */
  async #nearer(goal: number): Promise<boolean> {
    const now = this.#picture;
    if (!now || now.entry === goal) return false;
    const ahead = goal > now.entry;
    if (ahead && this.#tape.reach(now.entry + 1) >= goal) {
      this.#fold(now, goal);
      return true;
    }
    const place = this.#keyframes.placeBefore(goal);
    if ((!ahead || place > now.entry) && place >= 0 && this.#tape.reach(place + 1) >= goal) {
      const base = this.#keyframes.before(goal)!;
      this.#rates.reset();
      this.#picture = base;
      this.#fold(base, goal);
      this.#changes.all();
      this.#heard.changed();
      return true;
    }
    if (ahead && goal - now.entry <= NEAR_ENTRIES) {
      await this.#fetch(this.#tape.reach(now.entry + 1) + 1);
      return true;
    }
    const there = await this.#source.view(goal);
    this.#show(there, there.epoch !== now.epoch);
    return true;
  }

  /** A picture in place of the one that is shown. */
  #show(picture: Picture, another: boolean): void {
    this.#picture = picture;
    this.#rates.reset();
    this.#keyframes.keep(picture);
    this.#rowsSinceKeyframe = 0;
    this.#changes.all({ names: another });
    this.#heard.changed();
  }

  #fold(picture: Picture, goal: number): void {
    for (const span of this.#tape.between(picture.entry + 1, goal)) {
      const from = picture.entry + 1;
      const to = Math.min(goal, span.to);
      applySpan(picture, span, to);
      this.#changes.note(span, from, to);
      this.#rowsSinceKeyframe += Math.ceil(
        (span.rows.entry.length * (to - from + 1)) / (span.to - span.from + 1),
      );
      if (this.#rowsSinceKeyframe < KEYFRAME_ROWS) continue;
      this.#keyframes.keep(picture);
      this.#rowsSinceKeyframe = 0;
    }
    this.#heard.changed();
  }

  /** A page of spans from an entry on, or nothing where the server has no more. */
  async #fetch(from: number): Promise<void> {
    if (from > this.#head.entry) return;
    const span = await this.#source.columns(from, Math.min(from + PAGE_ENTRIES, this.#head.entry));
    if (span.to < from) throw new Refused(404, '', `the server has no entry ${from}`);
    this.#tape.add(span, this.#picture?.entry ?? from);
  }

  async #fetchAround(from: number, to: number): Promise<void> {
    let next = this.#tape.reach(from) + 1;
    for (; next <= to; next = this.#tape.reach(next) + 1) await this.#fetch(next);
  }

  /** All of a run that is short enough, with pictures on the way. Only quicker with it. */
  #fetchWhole(): void {
    this.#whole = true;
    const walk = {
      from: this.#picture!,
      tape: this.#tape,
      keyframes: this.#keyframes,
      everyRows: KEYFRAME_ROWS,
      last: () => this.#head.entry,
      fetch: (entry: number) => this.#fetch(entry),
    };
    // Whoever seeks asks the server then, and hears what is wrong.
    walkThrough(walk).catch(() => {
      this.#whole = false;
    });
  }
}
