/**
 * A way into a network namespace, run in it: `node relay.mjs SOCKET` listens at a socket of the
 * file system, which is the same everywhere, and passes each connection on to the `address port`
 * that its first line names. It ends when its standard input does.
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
    // One that ends, or breaks, takes the other with it.
    pipeline(near, far, near, () => {});
  });
}).listen(process.argv[2], () => process.stdout.write('ready\n'));

process.stdin.on('end', () => process.exit()).resume();
