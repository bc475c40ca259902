/**
 * The page's position in the network: live, in playback at some speed, or at an entry that the
 * reader chose. Runs in the worker, and only reads from the network.
 */
import type { RowBatch, Snapshot } from '../../api/view/model.js';
import { applyRowBatch } from '../../api/view/reducer.js';
import type { ClockState, Mode, PageOverview, Patch } from '../data/messages.js';
import { pageText, RefusedError } from '../messages.js';
import { Changes } from './changes.js';
import { NetworkHistory, PAGE_ENTRIES, type StepBy, stepFrom } from './history.js';
import type { Source } from './source.js';

/**
 * Maximum distance, in entries, at which the player fetches rows and folds instead of fetching a
 * snapshot.
 */
const NEAR_ENTRIES = 20_000;

interface PlayerEvents {
  /** Called when the snapshot changes. */
  changed(): void;
  clock(clock: ClockState): void;
  /** Shows a notice; null withdraws it. */
  notice(text: string | null): void;
  failed(error: unknown): void;
}

export class Player {
  readonly #source: Source;
  readonly #events: PlayerEvents;
  readonly #changes = new Changes();
  #snapshot: Snapshot | null = null;
  #mode: Mode = 'live';
  #speed = 1;
  #head = { entry: -1, at: 0 };
  #follows = true;
  /** Target entry; null when live. */
  #goal: number | null = null;
  #moving = false;
  #past: NetworkHistory;
  /** Command counter. Work started for an earlier command is dropped. */
  #asked = 0;
  #steps: Promise<unknown> = Promise.resolve();
  /** Engine time reached by playback, in ms. */
  #playedTo = 0;

  constructor(source: Source, events: PlayerEvents) {
    this.#source = source;
    this.#events = events;
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

  /** Last known entry. */
  get since(): number {
    return this.#head.entry;
  }

  /** Returns the changes since the last patch, or null if there are none. */
  patch(): Patch | null {
    return this.#snapshot && this.#changes.any ? this.#changes.patch(this.#snapshot) : null;
  }

  /** Makes the next patch complete. */
  forgotten(): void {
    this.#changes.all();
    this.#events.changed();
  }

  /** Starts, or starts over with a different network. @throws errors from the source */
  async begin(at: number | null): Promise<void> {
    const head = await this.#source.view(null);
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

  #more(head: { entry: number; at: number }): void {
    this.#head = head;
    this.#follows = true;
  }

  /** Marks the network as finished. */
  freeze(): void {
    this.#follows = false;
    this.#postState();
  }

  /** Takes new rows from the network. */
  take(batch: RowBatch): void {
    if (batch.to > this.#head.entry) this.#more({ entry: batch.to, at: batch.at });
    this.#past.tape.add(batch, this.#snapshot?.entry ?? 0);
    if (this.#mode === 'live') this.#go();
    this.#postState();
  }

  /** Records the server's newest entry. */
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

  /** Plays from the current entry, or from the beginning if a finished run is at its end. */
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

  /** Pauses or plays. */
  toggle(): void {
    if (this.#mode === 'paused' || (this.#mode === 'live' && !this.#follows)) this.play();
    else this.pause();
  }

  speed(times: number): void {
    this.#speed = times;
    this.#postState();
  }

  /** Advances playback by `ms` of real time. */
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
    // Fetch ahead of playback.
    if (known - reached < PAGE_ENTRIES / 10 && known < this.#head.entry) {
      this.#past.fetch(known + 1).catch((error) => {
        if (this.#mode === 'playing') this.pause();
        this.#events.failed(error);
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
      const newest = this.#head.entry;
      this.#events.notice(pageText('ENTRY_TOO_NEW', { entry: goal, newest }));
    }
    this.#mode = 'paused';
    this.#goal = Math.min(goal, this.#head.entry);
    this.#go();
    this.#postState();
  }

  /** Steps from the previous step's target, unless a different command arrives first. */
  step(by: StepBy, forward: boolean, overview: PageOverview | null): void {
    const asked = this.#asked;
    const wanted = () => asked === this.#asked;
    this.#steps = this.#steps
      .then(async () => {
        if (!wanted()) return;
        const from = this.#goal ?? this.#snapshot?.entry ?? 0;
        const [last, past] = [this.#head.entry, this.#past];
        const to = await stepFrom(from, { by, forward, last, past, overview, wanted });
        if (wanted()) this.#seek(to);
      })
      .catch((error) => this.#events.failed(error));
  }

  focus(block: number | null): void {
    this.#changes.choose(block);
    this.#events.changed();
  }

  #postState(): void {
    this.#events.clock(this.clock);
  }

  #go(): void {
    if (!this.#moving) void this.#move();
  }

  async #move(): Promise<void> {
    this.#moving = true;
    try {
      const nearer = () => this.#nearer(this.#goal ?? this.#head.entry);
      await patiently(nearer, (text) => this.#events.notice(text));
    } catch (error) {
      this.#events.failed(error);
    } finally {
      this.#moving = false;
    }
  }

  /** Moves one step closer to the goal. @returns false at the goal */
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
      this.#snapshot = base;
      this.#changes.all();
      this.#fold(base, goal);
      this.#events.changed();
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

  /** Replaces the snapshot. */
  #show(snapshot: Snapshot, another: boolean): void {
    this.#snapshot = snapshot;
    this.#past.pass(snapshot);
    this.#changes.all({ names: another });
    this.#events.changed();
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
    this.#events.changed();
  }
}

export const MADE_AGAIN_MS = 500;

export const isBeingMade = (error: unknown): error is RefusedError =>
  error instanceof RefusedError && error.reason === 'BEING_MADE';

/**
 * Repeats a step until it returns false. While the server is still building the data, retries and
 * shows the progress as a notice, and withdraws the notice (null) afterwards.
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
      notice(pageText('SNAPSHOT_PENDING', { message: error.message }));
      await new Promise((again) => setTimeout(again, MADE_AGAIN_MS));
    }
  }
}
