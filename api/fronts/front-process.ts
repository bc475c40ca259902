/** The process of one front, seen from the engine's: started, spoken to, ended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Duplex, Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Where } from '../transport/listen-problem.js';
import type { Application } from '../transport/transport.js';
import { Carrier } from './carrier.js';
import type { FrontSettings } from './front-application.js';
import { CHANNEL, Outgoing, type Record, receive } from './records.js';

const program = fileURLToPath(new URL('./front.js', import.meta.url));
/** Young objects of many requests at a time, in MiB: docs/decisions/0019-young-objects.md. */
const nodeFlags = ['--max-semi-space-size=32'];

export class Front {
  /** Null once it listens, or why it does not. */
  readonly listening: Promise<Error | null>;
  /** How it ended, once it did and all of its connections are over. */
  readonly ended: Promise<string>;
  /** As it said last. */
  usage = { cpuSeconds: 0, residentBytes: 0 };
  readonly #child: ChildProcess;
  readonly #out: Outgoing;
  readonly #carrier: Carrier;
  #listens: (problem: Error | null) => void = () => {};

  /** `folder` is what the fronts of a port share. */
  constructor(application: Application, { host, port }: Where, folder: string) {
    this.#child = spawn(process.execPath, [...nodeFlags, program], {
      stdio: ['ignore', 'inherit', 'pipe', 'pipe'],
    });
    passOn(this.#child.stderr!);
    const channel = this.#child.stdio[CHANNEL] as Duplex;
    // What is wrong with it ends it, and with it the front.
    channel.on('error', () => {});
    this.#out = new Outgoing(channel);
    this.#carrier = new Carrier(application, this.#out);
    this.listening = new Promise((resolve) => {
      this.#listens = resolve;
    });
    this.ended = new Promise((resolve) => {
      const end = (how: string) => {
        this.#carrier.end();
        this.#listens(new Error(`a front ended before it listened (${how})`));
        resolve(how);
      };
      this.#child.on('error', (error) => end(error.message));
      // After the last of what it said.
      this.#child.on('close', (code, signal) => end(signal ?? `exit code ${code}`));
    });
    receive(channel, (record) => this.#take(record));
    const { limits, verifiesFor, connectionPolicy } = application;
    const settings: FrontSettings = { host, port, limits, connectionPolicy, folder, verifiesFor };
    this.#out.send('settings', 0, { text: JSON.stringify(settings) });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** What is in flight is answered; whatever is left after so many milliseconds is cut. */
  stop(afterMs: number): void {
    this.#out.send('stop', 0);
    const cut = setTimeout(() => this.#child.kill('SIGKILL'), afterMs);
    void this.ended.then(() => clearTimeout(cut));
  }

  #take(record: Record): void {
    if (record.kind === 'listening') this.#listens(null);
    else if (record.kind === 'deaf') this.#deaf(record.text);
    else if (record.kind === 'usage') this.usage = JSON.parse(record.text) as Front['usage'];
    else this.#carrier.take(record);
  }

  #deaf(why: string): void {
    this.#listens(new Error(`a front cannot listen: ${why}`));
    this.#child.kill('SIGKILL');
  }
}

/**
 * The library warns of a handshake that is answered outside of a cork, which costs a write more. In
 * a cork it may take the new WebSocket for a request that is answered, and end it.
 */
const KNOWN_WARNING = 'Warning: uWS.HttpResponse writes must be made from within a corked callback';

/** Standard error of a front is that of this process, but for what is known. */
function passOn(stream: Readable): void {
  createInterface(stream).on('line', (line) => {
    if (!line.startsWith(KNOWN_WARNING)) process.stderr.write(`${line}\n`);
  });
}
