/**
 * A proxy in front of an etcd member that can drop responses while requests still arrive. Parses
 * gRPC's HTTP/2 frames (RFC 9113, 4.1).
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';

export interface Tap {
  /** Address of the proxy. */
  endpoint: string;
  /** True to drop responses. */
  silent: boolean;
}

const FRAME_HEAD = 9;
/** SETTINGS, PING and WINDOW_UPDATE, which the sender needs to continue. */
const flow = new Set([0x4, 0x6, 0x8]);

/** Starts a proxy that ends with the test. */
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
    // When one side ends, the other side closes.
    pipeline(near, connect(Number(port), host), heard, near, () => sockets.delete(near));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const tap = { endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`, silent: false };
  return tap;
}

/** Yields whole frames with their types. The fourth byte contains the type. */
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
