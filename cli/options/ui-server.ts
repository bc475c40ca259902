/** The page that a command shows of its work: the options for it, and the server behind it. */
import { InvalidArgumentError, Option } from 'commander';
import type { Server, ServerOptions } from '../../api/index.js';
import type { History } from '../../engine/history/history.js';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { ListenError, UsageError } from '../output/exit.js';
import { writeStderr } from '../output/output.js';
import { packageVersion } from '../output/provenance.js';
import { integer } from './options.js';

/** Where the page is served. */
export interface UiServerFlags {
  port?: number;
  host?: string;
}

/** Of a command whose server has no address of its own to be known by. */
export const uiServerOptions = (): Option[] => [
  new Option('--port <n>', 'port of the page; default: a free one').argParser(
    integer({ least: 0, most: 65_535 }),
  ),
  new Option('--host <address>', 'where the page is served; default: 127.0.0.1'),
];

/** Whether there is a page; `paused`: nothing begins until it is told to go on there. */
export interface WatchFlags extends UiServerFlags {
  watch?: true | 'paused';
}

/** Of a command that shows what it does while it does it. */
export const watchOption = (what: string): Option =>
  new Option('--watch [how]', `show ${what} on a page meanwhile; =paused: wait there first`)
    // What stands behind it is taken for its value.
    .argParser((text) => {
      if (text === 'paused') return text;
      throw new InvalidArgumentError('expected --watch, behind all else, or --watch=paused');
    });

/** @throws {UsageError} where there is an address and no page. */
export function assertUiServerFlags(flags: WatchFlags): void {
  if (flags.watch) return;
  const stray = (['port', 'host'] as const).find((name) => flags[name] !== undefined);
  if (stray) throw new UsageError(`--${stray} is for the page of --watch`);
}

const loopback = new Set(['127.0.0.1', 'localhost', '::1']);

/** Where the page is served, said where that is beyond this machine. */
export function resolveAddress({ port = 0, host = '127.0.0.1' }: UiServerFlags) {
  const isHere = loopback.has(host);
  if (!isHere)
    writeStderr('folkmoot: the page is served beyond this machine: TLS belongs in front');
  return { port, host, isHere };
}

/** Serves a network to be looked at, now and at any entry. @throws {ListenError} */
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
      // Who looks from this machine is whoever asked for it.
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
    throw new ListenError((error as Error).message);
  }
}

/** Null where there is none: in memory, or where the folder does not let itself be read. */
async function historyOf({ folder }: ServedNetwork): Promise<History | null> {
  if (folder === null) return null;
  const { History } = await import('../../engine/history/history.js');
  try {
    return History.open({ path: folder });
  } catch (error) {
    writeStderr(`folkmoot: earlier entries are shown in part: ${(error as Error).message}`);
    return null;
  }
}
