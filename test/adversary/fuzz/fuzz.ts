/**
 * Random exchanges with one server, each judged when it ends. This is the oracle for the fuzz
 * tests.
 */
import { type Came, Line, type Reply } from '../../support/service/line.js';
import { checkResponse } from '../../support/service/openapi-check.js';
import type { Agent } from '../../support/service/signer.js';
import { opcodes, readFrame, upgradeOf } from '../draw/frames.js';
import { type Framed, framed, misframed, sliced } from '../draw/framing.js';
import { type AsyncApi, Messages, messageChecker } from '../draw/messages.js';
import { type Drawn, type OpenApi, Requests } from '../draw/requests.js';
import { Rng, seed } from '../draw/rng.js';
import type { Known } from '../draw/values.js';

export interface FuzzOptions {
  url: string;
  openapi: OpenApi;
  asyncapi: AsyncApi;
  agents: readonly Agent[];
  strangers: readonly Agent[];
  known: Known;
  /** Time after which every request must have a response or a closed connection. */
  deadlineMs: number;
  /** True to wait until unfinished requests end; false to abort them. */
  patient: boolean;
}

const MOMENT_MS = 300;

export class Fuzz {
  readonly #options: FuzzOptions;
  readonly #requests: Requests;
  readonly #messages: Messages;
  readonly #checked: (text: string) => string[];
  /** Outcomes by operation and status, because a run that reaches nothing proves nothing. */
  readonly seen = new Map<string, number>();
  /** Problems, each with the name of the exchange. The name is also the seed. */
  readonly problems: string[] = [];
  #number = 0;
  /** Exchanges that are waiting for the server to close. */
  readonly #waiting = new Set<Promise<void>>();

  constructor(options: FuzzOptions) {
    this.#options = options;
    this.#requests = new Requests(options.openapi, options);
    this.#messages = new Messages(options.asyncapi, options.agents, options.known);
    this.#checked = messageChecker(options.asyncapi);
  }

  get operations(): readonly string[] {
    return this.#requests.operations;
  }

  /** Runs exchanges until time is up, `width` at a time. */
  async run(seconds: number, width: number, refusedOnly: boolean): Promise<void> {
    const end = performance.now() + seconds * 1_000;
    const worker = async () => {
      let line: Line | null = null;
      while (performance.now() < end && this.problems.length < 20) {
        this.#number += 1;
        const name = `${seed}/${refusedOnly ? 'refused' : 'any'}/${this.#number}`;
        try {
          line = await this.exchange(name, refusedOnly, line);
        } catch (error) {
          this.problems.push(`${name}: ${error}`);
          line = null;
        }
      }
      line?.cut();
    };
    await Promise.all(Array.from({ length: width }, worker));
    await Promise.all(this.#waiting);
  }

  /** Runs the exchange with the given name. Returns the connection if it can be reused. */
  async exchange(name: string, refusedOnly: boolean, line: Line | null): Promise<Line | null> {
    const rng = new Rng(name);
    if (rng.once(6)) {
      await this.#socket(rng);
      return line;
    }
    const drawn = this.#requests.draw(rng, refusedOnly);
    if (rng.once(5)) {
      const wrong = misframed(rng, drawn);
      const work = this.#unsound(rng, drawn, wrong);
      if (!wrong.unfinished || this.#waiting.size > 64) await work;
      else {
        this.#waiting.add(work);
        void work.finally(() => this.#waiting.delete(work));
      }
      return line;
    }
    const right = framed(drawn);
    const sent = rng.once(6) ? sliced(rng, right) : right;
    return this.#sound(rng, drawn, sent, refusedOnly, line);
  }

  async #sound(
    rng: Rng,
    drawn: Drawn,
    { pieces }: Framed,
    refusedOnly: boolean,
    known: Line | null,
  ): Promise<Line | null> {
    const line = known && !known.isOver ? known : await Line.open(this.#options.url);
    for (const piece of pieces) line.send(piece);
    const came = await line.answer(this.#options.deadlineMs, drawn.method === 'HEAD');
    if (typeof came === 'string') {
      line.cut();
      // The server may close an idle connection during a request, or after a refused body.
      const lost = came === 'closed' && (known !== null || drawn.body.length > 4_000);
      if (!lost && !isOdd(drawn)) this.#problem(rng, drawn, came);
      return null;
    }
    this.#judge(rng, drawn, came, refusedOnly);
    const last = /close/i.test(came.headers.get('connection') ?? '');
    if (!last && !line.isOver) return line;
    line.cut();
    return null;
  }

  #judge(rng: Rng, drawn: Drawn, reply: Reply, refusedOnly: boolean): void {
    const { method, target } = drawn;
    const { status, headers, body } = reply;
    const key = `${drawn.operationId} ${status}`;
    this.seen.set(key, (this.seen.get(key) ?? 0) + 1);
    if (isOdd(drawn)) return this.#judgeStatus(rng, drawn, reply);
    this.#judgeStatus(rng, drawn, reply);
    const contentType = headers.get('content-type') ?? null;
    const problems = checkResponse({ method, target, status, contentType, body });
    for (const problem of problems) this.#problem(rng, drawn, problem);
    const done = status < 300 && !['GET', 'HEAD', 'OPTIONS'].includes(method);
    if (!done || drawn.operationId === 'verifyRequest') return;
    if (refusedOnly) this.#problem(rng, drawn, `was done, with ${status}`);
    this.#learn(body);
  }

  /** Allows no faults, and only documented refusals from an overloaded server. */
  #judgeStatus(rng: Rng, drawn: Drawn, { status, body }: Reply, unfinished = false): void {
    if (status < 500 || status === 505) return;
    const [, reason = ''] = /"reason":"(\w+)"/.exec(body.toString()) ?? [];
    // An unfinished request ends with a timeout.
    const late = unfinished && (reason === 'DEADLINE' || drawn.method === 'HEAD');
    const documented = noRoom.has(reason) || late;
    if (status !== 503 || !documented) this.#problem(rng, drawn, `${status} ${body}`);
  }

  /** Collects ids from responses for later draws. */
  #learn(body: Buffer): void {
    const { data } = JSON.parse(body.toString()) as { data: Record<string, unknown> };
    const { known } = this.#options;
    for (const [member, name] of learnt) {
      const id = data[member];
      if (typeof id === 'string') known[name] = [...(known[name] ?? []).slice(-40), id];
    }
  }

  /**
   * Expects a response or a close, at the latest after the deadline or after the client ends its
   * side.
   */
  async #unsound(rng: Rng, drawn: Drawn, { pieces, unfinished }: Framed): Promise<void> {
    const line = await Line.open(this.#options.url);
    for (const piece of pieces) line.send(piece);
    const how = rng.int(4);
    if (how === 0) return void (rng.once(2) ? line.cut() : line.reset());
    if (how === 1) line.end();
    const { patient, deadlineMs } = this.#options;
    const came: Came = await line.answer(patient ? deadlineMs : MOMENT_MS, drawn.method === 'HEAD');
    if (came === 'silent' && !patient) return line.reset();
    if (came === 'silent') this.#problem(rng, drawn, 'neither answered nor closed');
    else if (came !== 'closed') this.#judgeStatus(rng, drawn, came, unfinished);
    line.cut();
  }

  /** Sends frames on a WebSocket, and validates the server's messages. */
  async #socket(rng: Rng): Promise<void> {
    const line = await Line.open(this.#options.url);
    const first = rng.once(4) ? null : this.#messages.auth(rng, rng.once(6) ? 'wrong' : 'right');
    line.send(upgradeOf('/ws/v1'));
    if (!rng.once(5)) {
      const came = await line.answer(this.#options.deadlineMs, true);
      if (typeof came === 'string' || came.status !== 101) {
        this.problems.push(`${rng.name}: got ${typeof came === 'string' ? came : came.status}`);
        return line.cut();
      }
      this.seen.set('socket 101', (this.seen.get('socket 101') ?? 0) + 1);
    }
    if (first) line.send(first);
    for (let left = rng.size(30); left > 0; left -= 1) line.send(this.#messages.draw(rng));
    const how = rng.int(4);
    if (how === 0) return line.reset();
    if (how > 1) line.end();
    await line.more(how === 1 ? 20 : 200);
    this.#listen(rng, line.take());
    line.cut();
  }

  #listen(rng: Rng, bytes: Buffer): void {
    // Removes the response to the upgrade, if the client did not wait for it.
    const head = bytes.subarray(0, 5).toString() === 'HTTP/' ? bytes.indexOf('\r\n\r\n') + 4 : 0;
    let one = readFrame(bytes.subarray(head));
    for (; one; one = readFrame(one.rest)) {
      if (one.opcode !== opcodes.text) continue;
      const text = one.payload.toString();
      const type = `socket ${(JSON.parse(text) as { type: string }).type}`;
      this.seen.set(type, (this.seen.get(type) ?? 0) + 1);
      for (const problem of this.#checked(text)) {
        this.problems.push(`${rng.name}: ${problem} in ${text.slice(0, 300)}`);
      }
    }
  }

  #problem(rng: Rng, { method, target, headers, body }: Drawn, what: string): void {
    const sent = `${method} ${target.slice(0, 200)} ${JSON.stringify(headers).slice(0, 500)}`;
    const shown = body.subarray(0, 200).toString();
    this.problems.push(`${rng.name}: ${what.slice(0, 500)}; sent ${sent} ${shown}`);
  }
}

const noRoom = new Set(['QUEUE_FULL', 'DISK_FULL', 'STOPPING']);

const learnt = [
  ['block_hash', 'Hash'],
  ['meme_id', 'MemeId'],
  ['alliance_id', 'AllianceId'],
] as const;

/** Requests that a transport may refuse, because not every library accepts them. */
function isOdd({ method, target, headers }: Drawn): boolean {
  if (!/^(GET|HEAD|OPTIONS|POST|PUT|PATCH|DELETE|TRACE)$/.test(method)) return true;
  const text = [target, ...headers.flat()].join('');
  return text.length > 3_000 || /[^\x20-\x7e\t]/.test(text);
}
