/** Sends bytes to a server from several loopback addresses, as fast as the server responds. */
import { connect } from 'node:net';

interface Wanted {
  port: number;
  /** Local addresses, with one sender per address. */
  addresses: readonly string[];
  /** Requests in base64. */
  requests: readonly string[];
}

/** Number of responses by status. */
const counted = new Map<string, number>();

function send({ port, requests }: Wanted, localAddress: string): void {
  const all = requests.map((text) => Buffer.from(text, 'base64'));
  let next = 0;
  const open = () => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    const ask = () => socket.write(all[next++ % all.length]!);
    socket.on('connect', ask);
    socket.on('data', (chunk: Buffer) => {
      const status = /^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1'))?.[1];
      if (status === undefined) return;
      counted.set(status, (counted.get(status) ?? 0) + 1);
      if (/\r\nconnection: close/i.test(chunk.toString('latin1'))) socket.destroy();
      else ask();
    });
    socket.on('error', () => {});
    // Reconnects after a delay, so that refused connections do not keep this process busy.
    socket.on('close', () => setTimeout(open, 1));
  };
  open();
}

process.on('message', (message: Wanted | 'report') => {
  if (message === 'report') process.send!(Object.fromEntries(counted));
  else for (const address of message.addresses) send(message, address);
});
