/** One data folder, the servers on it that are killed, and their acknowledged writes. */
import { composeRegister, type SignedRequest } from 'folkmoot';
import { replayJson } from '../../support/command.js';
import { signatoryOf } from '../../support/fixture.js';
import { type Ending, type Host, host, startHost, stop } from '../../support/host.js';
import { stamp } from '../../support/service/signer.js';
import { meme, meta, proposal, registration, vote } from './actions.js';
import { Caller, expectCut, inParallel, type ReadEvent } from './caller.js';
import { Sightings } from './sightings.js';
import { everyTopic, Subscriber } from './subscriber.js';
import { Witness } from './witness.js';

const voters = Array.from({ length: 21 }, (_, number) => signatoryOf(number));

export interface Death {
  /**
   * Number of responses after which the test kills the server. Without it, the server dies at a
   * crash point.
   */
  after?: number;
  /** Time between SIGTERM and the kill. Without it, the server is killed at once. */
  stopMs?: number;
  env?: Record<string, string>;
  transport: string;
  /** Called when a server exits by itself, with its ending. */
  failed?: (ending: Ending, stderr: string) => void;
}

export class Endurance {
  readonly #witness = new Witness();
  readonly #sightings = new Sightings();
  #epoch = '';
  /** Number of the last event that a subscriber saw. */
  #seen = 0;
  #unchecked: ReadEvent[] = [];
  #drawn = 0;

  constructor(private readonly data: string) {}

  /** Number of acknowledged writes. */
  get promises(): number {
    return this.#witness.total;
  }

  /** Registers the network's voters. */
  async begin(): Promise<void> {
    const server = await host({ data: this.data });
    const caller = new Caller(server.url);
    await inParallel(voters, 8, (by) => this.#write(caller, registration(by, 'Voter')));
    this.#epoch = (await meta(caller)).epoch;
    caller.close();
    await stop(server);
  }

  /** Runs a server under load until it dies. */
  async die({ after, stopMs, env = {}, transport, failed }: Death): Promise<void> {
    const args = ['--transport', transport];
    const server = await startHost({ data: this.data, args, env });
    // Some crash points come before the first connection.
    if ('ending' in server) return failed?.(server.ending, server.stderr);
    const caller = new Caller(server.url);
    if (after !== undefined && !failed) await this.#expectKept(caller);
    const enough = this.promises + (after ?? Number.POSITIVE_INFINITY);
    let dying = false;
    const answered = () => {
      if (dying || this.promises < enough) return;
      dying = true;
      if (stopMs === undefined) return void server.kill('SIGKILL');
      void server.kill('SIGTERM');
      setTimeout(() => void server.kill('SIGKILL'), stopMs);
    };
    const loads = [this.#chair, this.#clerk, this.#artist].map(async (load) => {
      // The load ends with the connection. The server is dead, or the code below waits for its
      // ending.
      await load.call(this, caller, answered).catch(expectCut);
    });
    const watching = this.#sightings.watch(server);
    await Promise.all([this.#listen(server), ...loads]);
    const ending = await server.ended;
    await watching;
    caller.close();
    if (failed && ending.signal !== 'SIGKILL') return failed(ending, server.stderr());
    // A server that is stopping may exit before it is killed.
    if (stopMs === undefined || ending.signal !== null) {
      expect(ending, server.stderr()).toEqual({ code: null, signal: 'SIGKILL' });
    } else expect(ending, server.stderr()).toEqual({ code: 0, signal: null });
    if (after !== undefined) expect(this.promises).toBeGreaterThanOrEqual(enough);
  }

  /**
   * Checks all acknowledged writes on a healthy server. Returns the position at the end of the log.
   */
  async look(): Promise<{ digest: string; seq: number }> {
    const server = await host({ data: this.data });
    const caller = new Caller(server.url);
    await this.#expectKept(caller);
    const { digest, seq } = await meta(caller);
    caller.close();
    await stop(server);
    return { digest, seq };
  }

  /** Checks all acknowledged writes, and that the log replays to the same digest. */
  async end(): Promise<void> {
    const { digest, seq } = await this.look();
    expect(await replayJson(this.data)).toMatchObject({ match: true, first_divergence: null });
    expect(await replayJson(this.data, '--to', `${seq}`)).toMatchObject({ match: true, digest });
    expect(this.#sightings.shown).toBeGreaterThan(0);
  }

  /** Subscribes after the last seen event, until the connection is cut. */
  async #listen(server: Host): Promise<void> {
    const subscriber = await Subscriber.open(server.wsUrl, voters[0]!).catch(() => null);
    const since = { epoch: this.#epoch, seq: this.#seen };
    const answer = await subscriber?.subscribe(everyTopic, since).catch(() => null);
    if (!subscriber || !answer) return;
    expect(answer).toMatchObject({ epoch: this.#epoch, gap: false });
    await subscriber.closed;
    for (const event of subscriber.events) {
      this.#seen += 1;
      expect(event.seq).toBe(this.#seen);
      this.#unchecked.push(event);
    }
  }

  async #expectKept(caller: Caller): Promise<void> {
    const now = await meta(caller);
    expect(now.epoch).toBe(this.#epoch);
    await this.#sightings.expectKept(caller);
    await this.#witness.expectKept(caller);
    const told = this.#unchecked;
    this.#unchecked = [];
    const held = await caller.events(this.#seen - told.length);
    expect(held.slice(0, told.length)).toEqual(told);
  }

  /**
   * Proposes blocks one after the other, with all votes. Continues with an open block if there is
   * one.
   */
  async #chair(caller: Caller, answered: () => void): Promise<void> {
    for (;;) {
      const { blocks } = await caller.read<{ blocks: { block_hash: string }[] }>(
        '/api/v1/blocks?status=voting&limit=1',
      );
      const hash = blocks[0]?.block_hash;
      if (hash === undefined) {
        const by = voters[this.#next() % voters.length]!;
        await this.#write(caller, await proposal(caller, by), answered);
        continue;
      }
      const decision = this.#next() % 5 === 0 ? 'reject' : 'approve';
      await inParallel(voters, 6, (by) => this.#write(caller, vote(by, hash, decision), answered));
    }
  }

  /** Registers newcomers only as producers, so that they do not change the electorate. */
  async #clerk(caller: Caller, answered: () => void): Promise<void> {
    const fields = { name: 'New', personality: 'rational', capabilities: ['producer'] } as const;
    for (;;) {
      const by = signatoryOf(1_000 + this.#next());
      await this.#write(caller, composeRegister(by, stamp(), fields), answered);
    }
  }

  async #artist(caller: Caller, answered: () => void): Promise<void> {
    for (;;) {
      const number = this.#next();
      const by = voters[number % voters.length]!;
      await this.#write(caller, meme(by, `number ${number}`), answered);
    }
  }

  async #write(caller: Caller, request: SignedRequest, answered = () => {}): Promise<void> {
    const answer = await caller.send(request);
    const promised = this.#witness.note(request, answer);
    // The refusal is for a late vote, for a vote that contradicts a lost vote, or at the end.
    if (promised) answered();
    else if (answer.status !== 503) expect(answer.status, answer.text).toBe(409);
    else expect(answer.text).toContain('STOPPING');
  }

  #next(): number {
    this.#drawn += 1;
    return this.#drawn;
  }
}
