/** Options for a command's local page, and the server for that page. */
import { InvalidArgumentError, Option } from 'commander';
import type { Server, ServerOptions } from '../../api/index.js';
import type { History } from '../../engine/history/history.js';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { listenError, UsageError } from '../output/exit.js';
import { writeStderr } from '../output/output.js';
import { packageVersion } from '../output/provenance.js';
import { integer, typed } from './options.js';

export interface UiServerFlags {
  port?: number;
  host?: string;
}

export const uiServerOptions = (): Option[] => [
  new Option('--port <n>', 'port to serve the page on (default: a free port)').argParser(
    integer(0, 65_535),
  ),
  new Option('--host <address>', 'address to serve the page on (default: 127.0.0.1)'),
];

/** With `paused`, the command waits until the reader starts it on the page. */
export interface WatchFlags extends UiServerFlags {
  watch?: true | 'paused';
}

export const watchOption = (): Option =>
  new Option('--watch [how]', 'show the run on a live page (=paused: wait for start)')
    // Commander treats the next argument as the value.
    .argParser(
      typed({ const: 'paused' }, (text): string | boolean => {
        if (text === 'paused') return text;
        if (text === 'true' || text === 'false') return text === 'true';
        throw new InvalidArgumentError('expected --watch as the last argument, or --watch=paused');
      }),
    );

/** @throws {UsageError} if an address is given without --watch. */
export function assertUiServerFlags(flags: WatchFlags): void {
  if (flags.watch) return;
  const stray = (['port', 'host'] as const).find((name) => flags[name] !== undefined);
  if (stray) throw new UsageError('OPTION_REQUIRES', { option: `--${stray}`, required: '--watch' });
}

export const loopback: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);

/** Returns the page address. Warns if other machines can reach the page. */
export function resolveAddress({ port = 0, host = '127.0.0.1' }: UiServerFlags) {
  const isHere = loopback.has(host);
  if (!isHere) {
    writeStderr('folkmoot: warning: other machines can reach the page; put TLS in front of it');
  }
  return { port, host, isHere };
}

/** Serves a network read-only, at the current and at earlier entries. @throws {Failure} */
export async function openUiServer(
  network: ServedNetwork,
  flags: UiServerFlags,
  more: Partial<ServerOptions> = {},
): Promise<Server> {
  const { startServer } = await import('../../api/index.js');
  const { port, host, isHere } = resolveAddress(flags);
  const history = await historyOf(network);
  try {
    const server = await startServer({
      network,
      port,
      host,
      // A client on this machine is assumed to be the user who runs the command.
      limits: isHere ? 'bench' : 'spec',
      version: packageVersion(),
      onFault: (error) => writeStderr(`folkmoot: a request failed: ${(error as Error).message}`),
      ...(history ? { history } : {}),
      ...more,
    });
    return {
      ...server,
      async close() {
        await server.close();
        await history?.close();
      },
    };
  } catch (error) {
    await history?.close();
    throw listenError('CANNOT_SERVE', { reason: (error as Error).message });
  }
}

/** Returns null if the network is in memory, or if the folder cannot be read. */
async function historyOf({ folder }: ServedNetwork): Promise<History | null> {
  if (folder === null) return null;
  const { History } = await import('../../engine/history/history.js');
  try {
    return History.open({ path: folder });
  } catch (error) {
    writeStderr(`folkmoot: warning: earlier entries are incomplete: ${(error as Error).message}`);
    return null;
  }
}
