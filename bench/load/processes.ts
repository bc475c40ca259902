/**
 * The servers that a load file starts, and their faults. Commands run without a shell, in process
 * groups, so that a signal also reaches the children of a wrapper such as npx.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadError } from './messages.js';
import type { FaultPlan, ServerPlan } from './options.js';

const READY_MS = 60_000;
const POLL_MS = 50;
/** Time in which a server must end after SIGTERM. */
const END_MS = 5_000;
/** A slow server runs for half of this period. */
const PERIOD_MS = 20;
/** Characters of the output that an error shows. */
const MOST_OUTPUT = 2_000;

class Process {
  readonly #name: string;
  readonly #plan: Pick<ServerPlan, 'command' | 'ready'>;
  readonly #folder: string;
  #child: ChildProcess | null = null;
  #output = '';
  #slowing: NodeJS.Timeout | null = null;

  constructor(name: string, plan: Pick<ServerPlan, 'command' | 'ready'>, folder: string) {
    this.#name = name;
    this.#plan = plan;
    this.#folder = folder;
  }

  get runs(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  start(): void {
    const [program, ...args] = this.#plan.command;
    this.#output = '';
    this.#child = spawn(program!, args, {
      ...{ cwd: this.#folder, detached: process.platform !== 'win32' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child.stderr!.on('data', (bytes: Buffer) => {
      this.#output = (this.#output + bytes.toString()).slice(-MOST_OUTPUT);
    });
    this.#child.on('error', ({ message }) => {
      this.#output = message;
      this.#child = null;
    });
  }

  /** Resolves once the server answers. @throws {Failure} `NOT_STARTED` */
  async ready(signal: AbortSignal): Promise<void> {
    const { ready } = this.#plan;
    for (const endMs = Date.now() + READY_MS; ready !== null && !signal.aborted; ) {
      const answer = await fetch(ready).catch(() => null);
      if (await answer?.text().then(() => true)) return;
      if (!this.runs || Date.now() > endMs) throw this.#failure();
      await sleep(POLL_MS);
    }
  }

  /** Waits until a command ends. @throws {Failure} `NOT_STARTED` unless it succeeds. */
  async finish(): Promise<void> {
    this.start();
    await new Promise((resolve) => this.#child!.once('close', resolve).once('error', resolve));
    if (this.#child?.exitCode !== 0) throw this.#failure();
  }

  /** Sends a signal to the process and its children. */
  send(signal: NodeJS.Signals): void {
    const { pid } = this.#child ?? {};
    if (pid === undefined || !this.runs) return;
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, signal);
    } catch {
      // It ended in the meantime.
    }
  }

  slow(isSlow: boolean): void {
    if (this.#slowing) clearInterval(this.#slowing);
    this.#slowing = null;
    this.send('SIGCONT');
    if (!isSlow) return;
    let pauses = false;
    this.#slowing = setInterval(() => {
      pauses = !pauses;
      this.send(pauses ? 'SIGSTOP' : 'SIGCONT');
    }, PERIOD_MS / 2);
  }

  async end(): Promise<void> {
    this.slow(false);
    if (!this.runs) return;
    const ended = once(this.#child!, 'exit');
    this.send('SIGTERM');
    const late = setTimeout(() => this.send('SIGKILL'), END_MS);
    await ended;
    clearTimeout(late);
  }

  #failure() {
    const [command, reason] = [this.#plan.command.join(' '), this.#output.trim() || 'no output'];
    return loadError('NOT_STARTED', { name: this.#name, command, reason });
  }
}

type Step = (server: Process, fault: FaultPlan) => void | Promise<void>;
const restart: Step = (server) => server.start();

/** Steps of each kind of fault, at its begin and at its end. */
const steps: Record<Exclude<FaultPlan['action'], 'run'>, { begin: Step; end: Step }> = {
  kill: { begin: (server) => server.send('SIGKILL'), end: restart },
  stop: { begin: (server) => server.send('SIGTERM'), end: restart },
  pause: { begin: (server) => server.send('SIGSTOP'), end: (server) => server.send('SIGCONT') },
  slow: { begin: (server) => server.slow(true), end: (server) => server.slow(false) },
  start: { begin: restart, end: (server) => server.end() },
  signal: { begin: (server, { signal }) => server.send(signal as NodeJS.Signals), end: () => {} },
};

export class Processes {
  readonly #servers: ReadonlyMap<string, Process>;
  readonly #folder: string;

  private constructor(servers: ReadonlyMap<string, Process>, folder: string) {
    this.#servers = servers;
    this.#folder = folder;
  }

  /** Starts the servers, and waits until they answer. @throws {Failure} `NOT_STARTED` */
  static async start(
    plans: Readonly<Record<string, ServerPlan>>,
    folder: string,
    signal: AbortSignal,
  ): Promise<Processes> {
    const entries = Object.entries(plans);
    const servers = entries.map(([name, plan]) => [name, new Process(name, plan, folder)] as const);
    const processes = new Processes(new Map(servers), folder);
    const first = servers.filter(([name]) => plans[name]!.autostart).map(([, server]) => server);
    for (const server of first) server.start();
    try {
      await Promise.all(first.map((server) => server.ready(signal)));
    } catch (error) {
      await processes.close();
      throw error;
    }
    return processes;
  }

  /** Carries a fault out, or undoes it. @throws {Failure} `NOT_STARTED` if a command fails. */
  readonly act = async (fault: FaultPlan, which: 'begin' | 'end'): Promise<void> => {
    if (fault.action !== 'run') {
      return steps[fault.action][which](this.#servers.get(fault.server!)!, fault);
    }
    const command = which === 'begin' ? fault.command : fault.undo;
    if (command) await new Process(fault.name, { command, ready: null }, this.#folder).finish();
  };

  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.end()));
  }
}
