/**
 * Hosts for a test: network namespaces on a virtual switch, with packet loss in one or both
 * directions. A process holds each namespace and ends with the test, even if the test is killed.
 * Requires root and `ip`.
 *
 * The machine's own network does not change, because browsers in other tests close all connections
 * when an address appears or disappears. Unix sockets connect the test to the hosts.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { temporaryFolder } from '../fixture.js';

export interface Host {
  address: string;
  /** Command prefix that runs a program on the host. */
  enter: readonly string[];
  /** Opens a local address for a port on the host, until the test ends. */
  reach(port: number): Promise<string>;
}

/** This machine. */
export const here: Host = {
  address: '127.0.0.1',
  enter: [],
  reach: async (port) => `127.0.0.1:${port}`,
};

/** Returns the program and arguments to run on a host. */
export function programAt({ enter }: Host, program: string, args: readonly string[]) {
  const [first, ...rest] = [...enter, program, ...args];
  return { program: first!, args: rest };
}

/** Benchmark addresses (RFC 2544), unused elsewhere. */
const subnet = '198.18.0';
/** Unused address. Packets sent to this address are lost. */
const NOWHERE = '02:00:00:00:00:01';
/** Forwards connections from a Unix socket. */
const relay = join(import.meta.dirname, 'relay.mjs');
/** Program that only holds a namespace. */
const holder = ['sh', '-c', 'echo ready; exec cat >/dev/null'];

interface Namespace {
  pid: number;
  /** Runs `ip` commands in the namespace. */
  ip(...commands: string[]): void;
  end(): Promise<void>;
}

const entering = (pid: number) => ['nsenter', `--net=/proc/${pid}/ns/net`, '--'];

/**
 * Creates a namespace with a program that reports when it is ready. The program exits at the end of
 * its standard input, and so ends with the test, even if the test is killed.
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
  /** Drops packets from one host to another until `mend`. */
  lose(from: Host, to: Host): void;
  /** Ends all packet loss. */
  mend(): void;
  end(): Promise<void>;
}

/** Creates hosts that are removed at the end of the test. */
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

/** Opens a local port that forwards through the relay to an address. */
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

/** True if this machine can create hosts. */
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
