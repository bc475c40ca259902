/** One TCP connection of a test: bytes out, and whatever comes in is handed to who reads it. */
import { connect, type Socket } from 'node:net';

/** `localAddress`: one of the loopback's own, to be somebody else. */
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
  /** Called whenever something came, and when the connection is over. */
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

  /** Ends our side only. */
  end(): void {
    this.#socket.end();
  }

  cut(): void {
    this.#socket.destroy();
  }

  /** Ends it so that the peer's next read fails. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  pause(): void {
    this.#socket.pause();
  }
}
