/**
 * Relay into a network namespace, run inside the namespace. `node relay.mjs SOCKET` listens on a
 * Unix socket and forwards each connection to the `address port` in its first line. Exits at the
 * end of standard input.
 */
import { connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';

createServer((near) => {
  near.once('error', () => near.destroy());
  near.once('data', (first) => {
    near.pause();
    const end = first.indexOf('\n');
    const [host, port] = first.toString('latin1', 0, end).split(' ');
    const far = connect(Number(port), host);
    if (first.length > end + 1) far.write(first.subarray(end + 1));
    // When one side ends, the other side closes.
    pipeline(near, far, near, () => {});
  });
}).listen(process.argv[2], () => process.stdout.write('ready\n'));

process.stdin.on('end', () => process.exit()).resume();
