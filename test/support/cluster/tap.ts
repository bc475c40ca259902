/**
 * A way to one etcd, whose answers can be kept from whoever asks through it: what is sent still
 * arrives. It reads the frames of HTTP/2 (RFC 9113, 4.1), in which gRPC speaks.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
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
  const server = createServer((near) => {
    const far = connect(Number(port), host);
    near.on('data', (chunk) => far.write(chunk));
    far.on(
      'data',
      byFrame((type, frame) => {
        if (!tap.silent || flow.has(type)) near.write(frame);
      }),
    );
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
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

/** Gives whole frames, each with its type. */
function byFrame(give: (type: number, frame: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      if (rest.length < FRAME_HEAD) return;
      const length = FRAME_HEAD + rest.readUIntBE(0, 3);
      if (rest.length < length) return;
      give(rest[3]!, rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  };
}
