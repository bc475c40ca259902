/**
 * The view's position in the network, and how it moves: with the network, by a clock of its own, or
 * to an entry that a reader chose. Runs in the worker; the network never notices.
 */
import { applySpan } from '../../api/view/fold.js';
import type { Picture, Span } from '../../api/view/model.js';
import type { ClockState, Mode, Patch } from '../data/messages.js';
import { Changes } from './changes.js';
import type { Closings } from './past/closings.js';
import { PAGE_ENTRIES, Past } from './past/past.js';
import { type StepBy, stepFrom } from './past/steps.js';
import { patiently } from './patience.js';
import { RateMeter } from './rates.js';
import type { Source } from './source.js';

/** Entries that are folded or fetched rather than that a whole picture is. */
const NEAR_ENTRIES = 20_000;

export interface Heard {
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
  #picture: Picture | null = null;
  #mode: Mode = 'live';
  #speed = 1;
  #head = { entry: -1, at: 0 };
  #follows = true;
  /** Where it is to go; null with the network. */
  #goal: number | null = null;
  #moving = false;
  #past: Past;
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

  #anotherPast(): Past {
    const [last, here] = [() => this.#head.entry, () => this.#picture?.entry ?? 0];
    return new Past({ source: this.#source, last, here });
  }

  get picture(): Picture | null {
    return this.#picture;
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
    return this.#picture && this.#changes.any ? this.#changes.patch(this.#picture) : null;
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
    this.#told();
  }

  /** Somebody goes on with it. */
  #more(head: { entry: number; at: number }): void {
    this.#head = head;
    this.#follows = true;
  }

  /** Nothing more is expected: of what is kept in a folder. */
  kept(): void {
    this.#follows = false;
    this.#told();
  }

  /** What the network did next. */
  take(span: Span): void {
    if (span.to > this.#head.entry) this.#more({ entry: span.to, at: span.at });
    this.#past.tape.add(span, this.#picture?.entry ?? 0);
    if (this.#mode === 'live') this.#go();
    this.#told();
  }

  /** The server says where the network is. */
  known(entry: number): void {
    if (entry > this.#head.entry) this.#more({ entry, at: this.#head.at });
    this.#go();
    this.#told();
  }

  live(): void {
    this.#asked += 1;
    this.#mode = 'live';
    this.#goal = null;
    this.#go();
    this.#told();
  }

  pause(): void {
    this.#asked += 1;
    this.#mode = 'paused';
    this.#goal = this.#picture?.entry ?? 0;
    this.#told();
  }

  /** Goes on by a clock of its own; at the end of a run, from its beginning. */
  play(): void {
    if (!this.#picture) return;
    this.#asked += 1;
    this.#mode = 'playing';
    this.#playedTo = this.#picture.at;
    this.#goal = this.#picture.entry;
    if (this.#picture.entry >= this.#head.entry && !this.#follows) {
      this.#goal = 0;
      this.#go();
    }
    this.#told();
  }

  /** Pauses what goes on, lets go on what stands still. */
  toggle(): void {
    if (this.#mode === 'paused' || (this.#mode === 'live' && !this.#follows)) this.play();
    else this.pause();
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
    const { tape } = this.#past;
    const reached = tape.entryBy(this.#playedTo, entry);
    const known = tape.reach(entry + 1);
    if (reached >= this.#head.entry) {
      if (this.#follows) return this.live();
      this.#goal = this.#head.entry;
      this.#mode = 'paused';
      this.#told();
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
    if (this.#picture) this.#past.walk(this.#picture);
    this.#go();
    this.#told();
  }

  /** From where the step before leads to, unless the reader asks for something else meanwhile. */
  step(by: StepBy, forward: boolean, closings: Closings): void {
    const asked = this.#asked;
    const wanted = () => asked === this.#asked;
    this.#steps = this.#steps
      .then(async () => {
        if (!wanted()) return;
        const from = this.#goal ?? this.#picture?.entry ?? 0;
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

  #told(): void {
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
    const now = this.#picture;
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
      this.#picture = base;
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

  /** A picture in place of the one that is shown. */
  #show(picture: Picture, another: boolean): void {
    this.#picture = picture;
    this.#rates.reset();
    this.#past.pass(picture);
    this.#changes.all({ names: another });
    this.#heard.changed();
  }

  #fold(picture: Picture, goal: number): void {
    for (const span of this.#past.tape.between(picture.entry + 1, goal)) {
      const from = picture.entry + 1;
      const to = Math.min(goal, span.to);
      applySpan(picture, span, to);
      this.#changes.note(span, from, to);
      const share = (to - from + 1) / (span.to - span.from + 1);
      this.#past.pass(picture, Math.ceil(share * span.rows.entry.length));
    }
    this.#heard.changed();
  }
}
