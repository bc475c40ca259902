/**
 * Whoever looks on without a key: all get the same frames. Nothing is queued for who does not read:
 * once it reads again it goes on with what is kept, or is told what was left out.
 */
import type { ServedNetwork } from '../../../engine/internal.js';
import { watchLimits } from '../../contract/channels.js';
import { type Control, worldShown } from '../../contract/control.js';
import type { Socket } from '../../transport/transport.js';
import type { ViewLog } from '../../view/log/index.js';
import { Frames } from './frames.js';

export interface Watcher {
  readonly socket: Socket;
  /** Not more often than so. */
  readonly everyMs: number;
  /** The last entry that it was sent, or told of. */
  cursor: number;
  /** By the clock of the process. */
  dueAt: number;
  /** Nothing more can be shown. */
  onEnd(): void;
}

export interface WatchersOptions {
  network: ServedNetwork;
  view: ViewLog;
  control: Control;
  /** How many of one address. */
  perAddress: number;
  onFault: (error: unknown) => void;
}

export class Watchers {
  readonly #network: ServedNetwork;
  readonly #frames: Frames;
  readonly #perAddress: number;
  readonly #onFault: (error: unknown) => void;
  readonly #watchers = new Set<Watcher>();
  readonly #byAddress = new Map<string, number>();
  readonly #stopTelling: () => void;
  #ticks: NodeJS.Timeout | null = null;
  #making: Promise<void> | null = null;
  /** How often a watcher was told that something was left out. */
  skipped = 0;

  constructor({ network, view, control, perAddress, onFault }: WatchersOptions) {
    this.#network = network;
    this.#frames = new Frames(network, view);
    this.#perAddress = perAddress;
    this.#onFault = onFault;
    this.#stopTelling = control.onChange(() => {
      this.#tell({ type: 'clock', ...worldShown(control) });
    });
  }

  get size(): number {
    return this.#watchers.size;
  }

  get frames(): number {
    return this.#frames.made;
  }

  /** Whether one more of an address may watch. */
  takes(addressKey: string): boolean {
    return (this.#byAddress.get(addressKey) ?? 0) < this.#perAddress;
  }

  /** Welcomes it, and goes on after the entry `since` where what follows that is still kept. */
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

  /** All that is committed by now is sent to whoever watches, however late it would be due. */
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

  /** One frame, or those that a busy network has made room for; then each gets what it lacks. */
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
    // A tick comes a little early now and then.
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
