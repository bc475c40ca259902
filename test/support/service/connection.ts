/** A TCP connection of a test, with a hook for incoming bytes. */
import { connect, type Socket } from 'node:net';

/** @param localAddress another loopback address, to act as another client. */
export function dial(url: string, localAddress?: string): Promise<Socket> {
  const { hostname: host, port } = new URL(url);
  const from = localAddress === undefined ? {} : { localAddress };
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), ...from }, () => resolve(socket));
    socket.once('error', reject);
  });
}

export abstract class Connection {
  readonly #socket: Socket;
  #isOver = false;
  /** Called at incoming bytes and at the end of the connection. */
  protected wake: () => void = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.received(chunk);
      this.wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#isOver = true;
      this.wake();
    });
  }

  protected abstract received(chunk: Buffer): void;

  get isOver(): boolean {
    return this.#isOver;
  }

  send(bytes: Uint8Array | string): void {
    if (!this.#isOver) this.#socket.write(bytes);
  }

  /** Ends this side only. */
  end(): void {
    this.#socket.end();
  }

  cut(): void {
    this.#socket.destroy();
  }

  /** Resets the connection, so that the next read of the peer fails. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  pause(): void {
    this.#socket.pause();
  }
}
