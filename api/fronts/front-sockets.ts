/** The WebSockets of a front: what they receive is told, what they are sent is sent. */
import { closeCodes } from '../contract/channels.js';
import type { Socket, SocketHandlers } from '../transport/transport.js';
import type { Outgoing, Record } from './records.js';

/** What has left is told in steps of so many bytes. */
const STEP_BYTES = 16 * 1024;

const { slow } = closeCodes;

interface Open {
  id: number;
  /** Null while it is being opened. */
  socket: Socket | null;
  /** What came for it in this turn, or before it was open. */
  waiting: ((socket: Socket) => void)[];
  /** Bytes given to it, and those of them that were told to have left. */
  given: number;
  told: number;
}

export class FrontSockets {
  readonly #out: Outgoing;
  readonly #open = new Map<number, Open>();
  /** Those that something came for in this turn. */
  #touched = new Set<Open>();
  /** What several are sent, by number: it came once. */
  readonly #shared: Uint8Array[] = [];

  constructor(out: Outgoing) {
    this.#out = out;
  }

  has(id: number): boolean {
    return this.#open.has(id);
  }

  /** It will be opened, unless its client has gone. */
  expect(id: number): void {
    this.#open.set(id, { id, socket: null, waiting: [], given: 0, told: 0 });
  }

  forget(id: number): void {
    this.#open.delete(id);
  }

  open(id: number, socket: Socket): SocketHandlers {
    const open = this.#open.get(id)!;
    open.socket = socket;
    this.#give(open, socket);
    const out = this.#out;
    return {
      message(text) {
        if (text === null) out.send('binary', id);
        else out.send('message', id, { text });
      },
      pong: () => out.send('ponged', id),
      pinged: () => out.send('pinged', id),
      drained: () => this.#tellLeft(open, socket),
      missed: () => socket.close(slow.code, slow.meaning),
      closed: (code) => {
        this.#open.delete(id);
        out.send('closed', id, { value: code });
      },
    };
  }

  take({ kind, id, value, text, bytes }: Record): void {
    if (kind === 'shared') {
      this.#shared[id] = bytes;
      return;
    }
    const open = this.#open.get(id);
    if (!open) return;
    this.#touched.add(open);
    // By number where it came before, beginning with 1.
    const message = value > 0 && kind !== 'close' ? this.#shared[value - 1]! : bytes;
    open.waiting.push((socket) => {
      if (kind === 'ping') return socket.ping();
      if (kind === 'close') return socket.close(value, text);
      open.given += message.length;
      if (kind === 'text') socket.send(message);
      else socket.sendBytes(message);
    });
  }

  /** What came in this turn leaves. */
  flush(): void {
    for (const open of this.#touched) if (open.socket) this.#give(open, open.socket);
    this.#touched.clear();
  }

  #give(open: Open, socket: Socket): void {
    if (open.waiting.length === 0) return;
    const waiting = open.waiting.splice(0);
    socket.cork(() => {
      for (const work of waiting) work(socket);
    });
    this.#tellLeft(open, socket);
  }

  #tellLeft(open: Open, socket: Socket): void {
    const left = open.given - socket.bufferedBytes();
    if (left - open.told < STEP_BYTES) return;
    this.#out.send('left', open.id, { value: left - open.told });
    open.told = left;
  }
}
