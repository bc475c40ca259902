/**
 * A way to one etcd, whose answers can be kept from whoever asks through it: what is sent still
 * arrives. It reads the frames of HTTP/2 (RFC 9113, 4.1), in which gRPC speaks.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { onTestFinished } from 'vitest';

export interface Tap {
  /** In place of the endpoint that it leads to. */
  endpoint: string;
  /** Whether answers are kept back, and lost. */
  silent: boolean;
}

const FRAME_HEAD = 9;
/** SETTINGS, PING and WINDOW_UPDATE: with these whoever sends can go on sending. */
const flow = new Set([0x4, 0x6, 0x8]);

/** Ends with the test. */
export async function tapBefore(endpoint: string): Promise<Tap> {
  const [host, port] = endpoint.split(':') as [string, string];
  const sockets = new Set<Socket>();

  async function* heard(answers: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const frame of frames(answers)) {
      if (!tap.silent || flow.has(frame[3]!)) yield frame;
    }
  }

  const server = createServer((near) => {
    sockets.add(near);
    // One that ends, or breaks, takes the other with it.
    pipeline(near, connect(Number(port), host), heard, near, () => sockets.delete(near));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const tap = {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    silent: false,
  };
  return tap;
}

/** Whole frames; the type of each is its fourth byte. */
async function* frames(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const chunk of bytes) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= FRAME_HEAD) {
      const length = FRAME_HEAD + rest.readUIntBE(0, 3);
      if (rest.length < length) break;
      yield rest.subarray(0, length);
      rest = rest.subarray(length);
    }
  }
}
