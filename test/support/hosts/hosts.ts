/**
 * Hosts of a test: network namespaces on a switch of their own, which the test can reach, and
 * between which it can lose what is sent, one way or both. Each is held by a process that ends with
 * the test, however that ends; then the kernel takes away all of it. It needs root, and `ip`.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';

/** Where a program of a test runs. */
export interface Host {
  address: string;
  /** What stands before a program and its arguments to run it there. */
  enter: readonly string[];
}

/** Where programs run that need no host of their own. */
export const here: Host = { address: '127.0.0.1', enter: [] };

/** What a program and its arguments are, there. */
export function programAt({ enter }: Host, program: string, args: readonly string[]) {
  const [first, ...rest] = [...enter, program, ...args];
  return { program: first!, args: rest };
}

/** For measurements of networks (RFC 2544): nobody else uses them. */
const subnet = `198.18.${process.pid % 250}`;
/** Nobody's: what is sent there is lost. */
const NOWHERE = '02:00:00:00:00:01';
let made = 0;

interface Namespace {
  pid: number;
  /** Runs commands of `ip` in it. */
  ip(...commands: string[]): void;
  end(): Promise<void>;
}

/** Runs commands of `ip`. */
function ip(enter: readonly string[], commands: readonly string[]): void {
  const [first, ...rest] = [...enter, 'ip', '-batch', '-'];
  execFileSync(first!, rest, { input: commands.join('\n'), stdio: ['pipe', 'ignore', 'pipe'] });
}

const entering = (pid: number) => ['nsenter', `--net=/proc/${pid}/ns/net`, '--'];

/** One that ends when its standard input does: with the test, also with one that is killed. */
async function namespace(): Promise<Namespace> {
  const script = 'echo ready; exec cat >/dev/null';
  const holder: ChildProcess = spawn('unshare', ['--net', 'sh', '-c', script], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => {
    holder.once('exit', () => resolve());
    holder.once('error', () => resolve());
  });
  const ready = once(holder.stdout!, 'data').then(() => true);
  if (!(await Promise.race([ready, ended.then(() => false)]))) {
    throw new Error('no network namespace can be made here');
  }
  const pid = holder.pid!;
  return {
    pid,
    ip: (...commands) => ip(entering(pid), commands),
    async end() {
      holder.stdin!.end();
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
  const built = await build(count);
  onTestFinished(() => built.end());
  return built;
}

async function build(count: number): Promise<Network> {
  const spaces: Namespace[] = [];
  const end = async () => {
    for (const space of spaces) await space.end();
  };
  const add = async () => {
    const space = await namespace();
    spaces.push(space);
    return space;
  };
  try {
    const hub = await add();
    made += 1;
    const own = `fm${process.pid}.${made}`;
    hub.ip('link add hub type bridge', 'link set hub up');
    ip(here.enter, [
      `link add ${own} type veth peer name test netns ${hub.pid}`,
      `addr add ${subnet}.254/24 dev ${own}`,
      `link set ${own} up`,
    ]);
    hub.ip('link set test master hub', 'link set test up');
    const byHost = new Map<Host, Namespace>();
    for (let at = 1; at <= count; at += 1) {
      const space = await add();
      const address = `${subnet}.${at}`;
      space.ip(
        `link add eth0 type veth peer name host${at} netns ${hub.pid}`,
        `addr add ${address}/24 dev eth0`,
        'link set lo up',
        'link set eth0 up',
      );
      hub.ip(`link set host${at} master hub`, `link set host${at} up`);
      byHost.set({ address, enter: entering(space.pid) }, space);
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

/** Whether hosts can be made here, and reached. */
export const hasNamespaces = await canReach();

async function canReach(): Promise<boolean> {
  try {
    const { hosts, end } = await build(1);
    const answers = await new Promise<boolean>((resolve) => {
      const socket = connect({ host: hosts[0]!.address, port: 9, timeout: 10_000 });
      // Refused by who is there.
      socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'));
      socket.once('timeout', () => {
        socket.destroy();
        resolve(false);
      });
    });
    await end();
    return answers;
  } catch {
    return false;
  }
}
