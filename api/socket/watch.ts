/**
 * Watchers are anonymous connections that all receive the same frames. Nothing is queued for a slow
 * watcher. Once the watcher reads again, it continues with the cached frames or learns which
 * entries were skipped.
 */
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { type ClientMessage, type closeCodes, watchLimits } from '../contract/channels.js';
import { type Control, describeWorld } from '../contract/control.js';
import type { Socket } from '../transport/transport.js';
import type { ViewLog } from '../view/log/view-log.js';
import { encodeRowBatch } from '../view/row-batch.js';

export interface Watcher {
  readonly socket: Socket;
  /** Minimum interval between frames. */
  readonly everyMs: number;
  /** Last entry sent or reported as skipped. */
  cursor: number;
  /** Time of the next frame, by `performance.now()`. */
  dueAt: number;
  /** Called when no further frames can be made. */
  onEnd(): void;
}

interface WatchersOptions {
  network: ServedNetwork;
  view: ViewLog;
  control: Control;
  /** Returns the number of watchers that an address may have now. */
  perAddress(): number;
  onFault: (error: unknown) => void;
}

export class Watchers {
  readonly #network: ServedNetwork;
  readonly #frames: Frames;
  readonly #perAddress: () => number;
  readonly #onFault: (error: unknown) => void;
  readonly #watchers = new Set<Watcher>();
  readonly #byAddress = new Map<string, number>();
  readonly #stopTelling: () => void;
  #ticks: NodeJS.Timeout | null = null;
  #making: Promise<void> | null = null;
  skipped = 0;

  constructor({ network, view, control, perAddress, onFault }: WatchersOptions) {
    this.#network = network;
    this.#frames = new Frames(network, view);
    this.#perAddress = perAddress;
    this.#onFault = onFault;
    this.#stopTelling = control.onChange(() => {
      this.#tell({ type: 'clock', ...describeWorld(control) });
    });
  }

  get size(): number {
    return this.#watchers.size;
  }

  get frames(): number {
    return this.#frames.made;
  }

  /** Returns true if the address may have one more watcher. */
  takes(addressKey: string): boolean {
    return (this.#byAddress.get(addressKey) ?? 0) < this.#perAddress();
  }

  /** Greets a watcher. The watcher continues after `since` if the frames are still cached. */
  add(watcher: Watcher, since: number | undefined, unknown?: readonly string[]): void {
    const { addressKey } = watcher.socket;
    if (this.#watchers.size === 0) this.#start();
    this.#watchers.add(watcher);
    this.#byAddress.set(addressKey, (this.#byAddress.get(addressKey) ?? 0) + 1);
    const { end } = this.#frames;
    const known = since !== undefined && since <= this.#network.read.position.seq;
    watcher.cursor = known ? since : end;
    const { epoch } = this.#network;
    watcher.socket.send(JSON.stringify({ type: 'watching', entry: end, epoch, unknown }));
    this.#send(watcher, performance.now());
  }

  remove(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher)) return;
    const { addressKey } = watcher.socket;
    const left = this.#byAddress.get(addressKey)! - 1;
    if (left > 0) this.#byAddress.set(addressKey, left);
    else this.#byAddress.delete(addressKey);
    if (this.#watchers.size === 0) this.#stop();
  }

  /** Sends all committed entries to all watchers at once. */
  async catchUp(): Promise<void> {
    if (this.size === 0) return;
    await this.#making;
    for (const watcher of this.#watchers) watcher.dueAt = 0;
    await this.#tick();
  }

  close(): void {
    this.#stopTelling();
    this.#stop();
    this.#watchers.clear();
  }

  #start(): void {
    this.#frames.start();
    this.#ticks = setInterval(() => void this.#tick(), watchLimits.everyMs);
    this.#ticks.unref();
  }

  #stop(): void {
    if (this.#ticks) clearInterval(this.#ticks);
    this.#ticks = null;
    this.#frames.stop();
  }

  /** Makes the next frame, or several after a pause, and sends watchers the frames they lack. */
  #tick(): Promise<void> {
    this.#making ??= this.#make().finally(() => {
      this.#making = null;
    });
    return this.#making;
  }

  async #make(): Promise<void> {
    try {
      while (await this.#frames.next()) this.#sendAll();
      this.#sendAll();
    } catch (error) {
      if (this.#ticks === null) return;
      this.#onFault(error);
      for (const watcher of [...this.#watchers]) watcher.onEnd();
    }
  }

  #sendAll(): void {
    const now = performance.now();
    for (const watcher of this.#watchers) this.#send(watcher, now);
  }

  #send(watcher: Watcher, now: number): void {
    const { socket } = watcher;
    const { end } = this.#frames;
    if (watcher.cursor >= end || now < watcher.dueAt || !hasRoom(socket)) return;
    // Allows half an interval of tolerance, because ticks may come early.
    watcher.dueAt = now + watcher.everyMs - watchLimits.everyMs / 2;
    const frames = this.#frames.after(watcher.cursor);
    if (frames === null) {
      this.skipped += 1;
      const left = { type: 'skipped', from: watcher.cursor + 1, to: end };
      watcher.cursor = end;
      socket.send(JSON.stringify(left));
      return;
    }
    socket.cork(() => {
      for (const { to, bytes } of frames) {
        if (!hasRoom(socket) || !this.#watchers.has(watcher)) return;
        watcher.cursor = to;
        socket.sendBytes(bytes);
      }
    });
  }

  #tell(message: object): void {
    const text = JSON.stringify(message);
    for (const { socket } of this.#watchers) if (hasRoom(socket)) socket.send(text);
  }
}

const hasRoom = (socket: Socket) => socket.bufferedBytes() <= watchLimits.backlogBytes;

/** Adds a watcher, or returns a refusal. Calls `onEnd` when no further frames can be made. */
export function beginWatching(
  watchers: Watchers | null,
  socket: Socket,
  { since, every_ms, unknown }: ClientMessage['watch'] & { unknown?: readonly string[] },
  onEnd: () => void,
): Watcher | { refusal: Refusal; end: keyof typeof closeCodes } {
  if (!watchers) {
    return { refusal: refuse('WATCH_DISABLED'), end: 'notWatched' };
  }
  if (!watchers.takes(socket.addressKey)) {
    const quota = watchLimits.perAddress;
    const details = { limit: 'watchers', quota };
    return {
      refusal: refuse('WATCHERS_OF_ADDRESS', { limit: quota }, { details }),
      end: 'crowded',
    };
  }
  const everyMs = every_ms ?? watchLimits.everyMs;
  const watcher: Watcher = { socket, everyMs, cursor: -1, dueAt: 0, onEnd };
  watchers.add(watcher, since, unknown);
  return watcher;
}

/*
 * Frames are row batches for watchers. Each frame is encoded once for all watchers, and the latest
 * frames are cached for watchers that lag slightly.
 */

interface Frame {
  from: number;
  to: number;
  bytes: Uint8Array;
}

class Frames {
  #kept: Frame[] = [];
  #bytes = 0;
  #letGo: (() => void) | null = null;
  /** Last entry in the last frame. */
  end = -1;
  made = 0;

  constructor(
    private readonly network: ServedNetwork,
    private readonly view: ViewLog,
  ) {}

  /** Starts making frames from entries committed from now on. */
  start(): void {
    this.#letGo ??= this.view.watch();
    this.end = this.network.read.position.seq;
  }

  stop(): void {
    this.#letGo?.();
    this.#letGo = null;
    this.#kept = [];
    this.#bytes = 0;
  }

  /** Makes the next frame. True if entries remain. @throws {StoreError} for an unreadable log. */
  async next(): Promise<boolean> {
    const { seq } = this.network.read.position;
    if (!this.#letGo || this.end >= seq) return false;
    const from = this.end + 1;
    const frame = await this.#made(from, watchLimits.frameRows);
    // The last watcher left meanwhile, or new watchers restarted the frames.
    if (!this.#letGo || this.end + 1 !== from) return false;
    this.made += 1;
    this.end = frame.to;
    this.#kept.push(frame);
    this.#bytes += frame.bytes.length;
    while (this.#bytes > watchLimits.keptBytes || this.#kept.length > watchLimits.keptFrames) {
      this.#bytes -= this.#kept.shift()!.bytes.length;
    }
    return frame.to < seq;
  }

  /** Returns the frames with entries after `entry`, or null if some are no longer cached. */
  after(entry: number): readonly Frame[] | null {
    if (entry >= this.end) return [];
    const first = this.#kept[0];
    if (!first || entry < first.from - 1) return null;
    return this.#kept.filter(({ to }) => to > entry);
  }

  /** Makes a frame within the size limit, but with at least one entry. */
  async #made(from: number, rows: number): Promise<Frame> {
    const batch = await this.view.readRowBatch(from, undefined, {
      rows,
      said: watchLimits.frameSaid,
    });
    const bytes = encodeRowBatch(batch);
    if (bytes.length <= watchLimits.frameBytes || batch.to === batch.from) {
      return { from: batch.from, to: batch.to, bytes };
    }
    return this.#made(from, Math.max(1, Math.floor(Math.min(rows, batch.rows.kind.length) / 2)));
  }
}
