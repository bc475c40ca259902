/** The server that a command opens to show what it works on: where it listens, and what it says. */
import { InvalidArgumentError, Option } from 'commander';
import type { Server, ServerOptions } from '../../../api/index.js';
import type { History, ServedNetwork } from '../../../engine/internal.js';
import { integer } from '../../options/options.js';
import { ListenError, UsageError } from '../../output/exit.js';
import { say } from '../../output/output.js';
import { packageVersion } from '../../output/version.js';

/** Where the page is served. */
export interface DoorFlags {
  port?: number;
  host?: string;
}

/** Of a command whose server has no address of its own to be known by. */
export const doorOptions = (): Option[] => [
  new Option('--port <n>', 'port of the page; default: a free one').argParser(
    integer({ least: 0, most: 65_535 }),
  ),
  new Option('--host <address>', 'where the page is served; default: 127.0.0.1'),
];

/** Whether there is a page; `paused`: nothing begins until it is told to go on there. */
export interface WatchFlags extends DoorFlags {
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
export function assertDoor(flags: WatchFlags): void {
  if (flags.watch) return;
  const stray = (['port', 'host'] as const).find((name) => flags[name] !== undefined);
  if (stray) throw new UsageError(`--${stray} is for the page of --watch`);
}

const loopback = new Set(['127.0.0.1', 'localhost', '::1']);

/** Where the page is served, said where that is beyond this machine. */
export function addressOf({ port = 0, host = '127.0.0.1' }: DoorFlags) {
  const isHere = loopback.has(host);
  if (!isHere) say('folkmoot: the page is served beyond this machine: TLS belongs in front');
  return { port, host, isHere };
}

/** Serves a network to be looked at, now and at any entry. @throws {ListenError} */
export async function openDoor(
  network: ServedNetwork,
  flags: DoorFlags,
  more: Partial<ServerOptions> = {},
): Promise<Server> {
  const { startServer } = await import('../../../api/index.js');
  const { port, host, isHere } = addressOf(flags);
  const history = await historyOf(network);
  try {
    const server = await startServer({
      network,
      port,
      host,
      // Who looks from this machine is whoever asked for it.
      limits: isHere ? 'bench' : 'spec',
      version: packageVersion(),
      onFault: (error) => say(`folkmoot: a request failed: ${(error as Error).message}`),
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
  const { History } = await import('../../../engine/internal.js');
  try {
    return History.open({ path: folder });
  } catch (error) {
    say(`folkmoot: earlier entries are shown in part: ${(error as Error).message}`);
    return null;
  }
}
