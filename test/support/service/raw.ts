/** Requests as raw bytes. */
import { connect } from 'node:net';

/** Timeout far above any response time. */
const MOST_MS = 300_000;

/**
 * Sends bytes, and returns everything received until the server closes the connection or `enough`
 * returns true.
 */
export function raw(
  url: string,
  bytes: string | Uint8Array,
  enough: (text: string) => boolean = answered,
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let text = '';
    const timer = setTimeout(() => end('no answer: '), MOST_MS);
    const end = (prefix = '') => {
      clearTimeout(timer);
      socket.destroy();
      resolve(prefix + text);
    };
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (enough(text)) end();
    });
    socket.on('close', () => end());
    // A reset after a response also closes the connection.
    socket.on('error', () => {});
    socket.write(bytes);
  });
}

/** Returns true for a complete response. */
function answered(text: string): boolean {
  const [head, ...body] = text.split('\r\n\r\n');
  const length = /content-length: (\d+)/i.exec(head!)?.[1];
  return body.length > 0 && length !== undefined && body.join('\r\n\r\n').length >= Number(length);
}

/** Parses the status of the first response. */
export const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);

/** Parses the statuses of all responses. */
export const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

/** Sends bytes and disconnects. */
export function abandon(url: string, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.on('close', () => resolve());
    socket.write(bytes, () => socket.resetAndDestroy());
  });
}
