/**
 * Hosts of a test: network namespaces on a switch of their own, which the test can reach, and
 * between which it can lose what is sent, one way or both. Each is held by a process that ends with
 * the test, however that ends; then the kernel takes away all of it. It needs root, and `ip`.
 *
 * Nothing is added where the tests run: browsers there, of other tests, end all connections when an
 * address comes or goes. The way in is a socket of the file system.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../fixture.js';

/** Where a program of a test runs. */
export interface Host {
  address: string;
  /** What stands before a program and its arguments to run it there. */
  enter: readonly string[];
  /** The address and port at which the test reaches one of its ports; ends with the test. */
  reach(port: number): Promise<string>;
}

/** Where programs run that need no host of their own. */
export const here: Host = {
  address: '127.0.0.1',
  enter: [],
  reach: async (port) => `127.0.0.1:${port}`,
};

/** What a program and its arguments are, there. */
export function programAt({ enter }: Host, program: string, args: readonly string[]) {
  const [first, ...rest] = [...enter, program, ...args];
  return { program: first!, args: rest };
}

/** For measurements of networks (RFC 2544): nobody else uses them. */
const subnet = '198.18.0';
/** Nobody's: what is sent there is lost. */
const NOWHERE = '02:00:00:00:00:01';
/** Passes on what comes by a socket of the file system. */
const relay = join(import.meta.dirname, 'relay.mjs');
/** Only holds a namespace. */
const holder = ['sh', '-c', 'echo ready; exec cat >/dev/null'];

interface Namespace {
  pid: number;
  /** Runs commands of `ip` in it. */
  ip(...commands: string[]): void;
  end(): Promise<void>;
}

const entering = (pid: number) => ['nsenter', `--net=/proc/${pid}/ns/net`, '--'];

/**
 * One with a program in it that says when it is ready, and ends when its standard input does: with
 * the test, also with one that is killed.
 */
async function namespace(program: readonly string[]): Promise<Namespace> {
  const child: ChildProcess = spawn('unshare', ['--net', ...program], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const ready = once(child.stdout!, 'data').then(() => true);
  if (!(await Promise.race([ready, ended.then(() => false)]))) {
    throw new Error('no network namespace can be made here');
  }
  const pid = child.pid!;
  const [enter, ...rest] = [...entering(pid), 'ip', '-batch', '-'];
  return {
    pid,
    ip(...commands) {
      const input = commands.join('\n');
      execFileSync(enter!, rest, { input, stdio: ['pipe', 'ignore', 'pipe'] });
    },
    async end() {
      child.stdin!.end();
      await ended;
    },
  };
}

export interface Network {
  hosts: Host[];
  /** Loses what the one sends to the other, until `mend`. */
  lose(from: Host, to: Host): void;
  /** Nothing is lost any more. */
  mend(): void;
  end(): Promise<void>;
}

/** So many hosts, gone when the test ends. */
export async function network(count: number): Promise<Network> {
  const built = await build(count, temporaryFolder());
  onTestFinished(() => built.end());
  return built;
}

async function build(count: number, folder: string): Promise<Network> {
  const spaces: Namespace[] = [];
  const doors: Door[] = [];
  const socket = join(folder, 'hub');
  const end = async () => {
    for (const door of doors) door.close();
    for (const space of spaces) await space.end();
  };
  const add = async (program: readonly string[]) => {
    const space = await namespace(program);
    spaces.push(space);
    return space;
  };
  try {
    const hub = await add([process.execPath, relay, socket]);
    hub.ip('link add hub type bridge', `addr add ${subnet}.254/24 dev hub`, 'link set hub up');
    const byHost = new Map<Host, Namespace>();
    for (let at = 1; at <= count; at += 1) {
      const space = await add(holder);
      const address = `${subnet}.${at}`;
      space.ip(
        `link add eth0 type veth peer name host${at} netns ${hub.pid}`,
        `addr add ${address}/24 dev eth0`,
        'link set lo up',
        'link set eth0 up',
      );
      hub.ip(`link set host${at} master hub`, `link set host${at} up`);
      const reach = async (port: number) => {
        const door = await doorTo(socket, `${address} ${port}`);
        doors.push(door);
        return door.at;
      };
      byHost.set({ address, enter: entering(space.pid), reach }, space);
    }
    const lost: { space: Namespace; to: Host }[] = [];
    return {
      hosts: [...byHost.keys()],
      lose(from, to) {
        const space = byHost.get(from)!;
        space.ip(`neigh replace ${to.address} lladdr ${NOWHERE} nud permanent dev eth0`);
        lost.push({ space, to });
      },
      mend() {
        for (const { space, to } of lost.splice(0)) space.ip(`neigh del ${to.address} dev eth0`);
      },
      end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

interface Door {
  at: string;
  close(): void;
}

/** A port here that leads through the relay to what a line names. */
async function doorTo(socket: string, line: string): Promise<Door> {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    open.add(near.once('close', () => open.delete(near)));
    const far = connect(socket);
    far.write(`${line}\n`);
    pipeline(near, far, near, () => {});
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    at: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      for (const near of open) near.destroy();
    },
  };
}

/** Whether hosts can be made here. */
export const hasNamespaces = await canBuild();

async function canBuild(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'folkmoot-hosts-'));
  try {
    await (await build(1, folder)).end();
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
