/** TCP connections for tests: with a hook for incoming bytes, and through a door. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

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

type DoorState = 'open' | 'silent' | 'shut' | 'mute';

/**
 * Starts a proxy in front of a server. `open` forwards everything. `silent` accepts connections and
 * bytes without responding. `shut` resets connections. `mute` forwards requests but not responses.
 */
export async function door(url: string) {
  const port = Number(new URL(url).port);
  let state: DoorState = 'open';
  const pairs = new Set<Socket>();
  const listener = createServer((near) => {
    if (state === 'shut') return void near.destroy();
    const far = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      pairs.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        pairs.delete(one);
        other.destroy();
      });
      one.on('data', (bytes) => {
        if (state === 'open' || (state === 'mute' && one === near)) other.write(bytes);
      });
    }
  });
  await new Promise<void>((resolve) => {
    listener.listen(0, '127.0.0.1', resolve);
  });
  const set = (now: DoorState) => {
    state = now;
    if (now === 'shut') for (const one of pairs) one.destroy();
  };
  onTestFinished(() => {
    set('shut');
    listener.close();
  });
  return { url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`, set };
}
