/** A TCP connection for tests, with a hook for incoming bytes. */
import { connect, type Socket } from 'node:net';

/** @param localAddress a different loopback address, to act as a different client. */
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
  /** Called when bytes arrive and when the connection ends. */
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

  /** Ends only this side of the connection. */
  end(): void {
    this.#socket.end();
  }

  cut(): void {
    this.#socket.destroy();
  }

  /** Resets the connection, so that the peer's next read fails. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  pause(): void {
    this.#socket.pause();
  }
}
