/**
 * Connections of a server whose clients have not proved yet that they know its secret. There are
 * at most so many, each for a limited time. One more closes the oldest connection of the address
 * that has most of them, so that strangers cannot keep out a client that knows the secret.
 */
import type { Server, Socket } from 'node:net';

interface Stranger {
  socket: Socket;
  address: string;
  late: NodeJS.Timeout;
}

export class Strangers {
  readonly #limits: { most: number; ms: number };
  /** Oldest first. */
  readonly #waiting = new Map<string, Stranger>();

  constructor(server: Server, limits: { most: number; ms: number }) {
    this.#limits = limits;
    server.on('connection', (socket: Socket) => this.#came(socket));
  }

  /** The client of this connection has proved that it knows the secret. */
  isKnown(socket: Socket): void {
    this.#forget(nameOf(socket));
  }

  #came(socket: Socket): void {
    if (this.#waiting.size >= this.#limits.most) this.#closeOne();
    const name = nameOf(socket);
    const late = setTimeout(() => socket.destroy(), this.#limits.ms);
    this.#waiting.set(name, { socket, address: socket.remoteAddress ?? '', late });
    socket.once('close', () => this.#forget(name));
  }

  #forget(name: string): void {
    clearTimeout(this.#waiting.get(name)?.late);
    this.#waiting.delete(name);
  }

  #closeOne(): void {
    const counts = new Map<string, number>();
    for (const { address } of this.#waiting.values()) {
      counts.set(address, (counts.get(address) ?? 0) + 1);
    }
    const most = Math.max(...counts.values());
    for (const [name, { socket, address }] of this.#waiting) {
      if (counts.get(address) !== most) continue;
      this.#forget(name);
      return void socket.destroy();
    }
  }
}

/** The same for a connection and for the TLS connection in it. */
const nameOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
