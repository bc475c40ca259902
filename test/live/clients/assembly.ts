/** A live network with many voters and many subscribers. */
import { composeDiscuss, type Signatory } from 'folkmoot';
import { counts } from '../../support/counts.js';
import { signatoryOf, temporaryFolder } from '../../support/fixture.js';
import { type Host, host } from '../../support/host.js';
import { stamp } from '../../support/service/signer.js';
import { meta, propose, registration, vote } from './actions.js';
import { Caller, inParallel } from './caller.js';
import { Subscriber } from './subscriber.js';
import type { Transcript } from './transcript.js';

/** Concurrent requests. */
const WIDTH = 32;
/** The longest discussion message: 2,048 characters of 3 bytes each. */
const LONG = '€'.repeat(2_048);

export class Assembly {
  readonly server: Host;
  readonly caller: Caller;
  readonly voters: readonly Signatory[];
  readonly #audience: Subscriber[] = [];

  private constructor(server: Host, voters: readonly Signatory[]) {
    this.server = server;
    this.caller = new Caller(server.url, WIDTH);
    this.voters = voters;
  }

  static async open(transport: string, size: number = counts.voters): Promise<Assembly> {
    // Under majority, a block stays open until the last vote, and its closing lists every voter.
    // The period is long enough for a busy machine.
    const args = [
      ...['--transport', transport, '--policy', 'majority', '--voting-period-ms', '3600000'],
    ];
    const server = await host({ data: temporaryFolder(), args });
    const voters = Array.from({ length: size }, (_, number) => signatoryOf(number));
    const assembly = new Assembly(server, voters);
    await inParallel(voters, WIDTH, (by) => assembly.caller.do(registration(by, 'Voter')));
    return assembly;
  }

  /**
   * Connects subscribers. An agent may have four connections, so each voter has four subscribers.
   */
  async watch(count: number, transcript: Transcript): Promise<Subscriber[]> {
    const before = this.#audience.length;
    const { event_seq } = await meta(this.caller);
    const numbers = Array.from({ length: count }, (_, index) => before + index);
    const watchers: Subscriber[] = [];
    await inParallel(numbers, 16, async (number) => {
      const by = this.voters[Math.floor(number / 4)]!;
      const watcher = await Subscriber.open(this.server.wsUrl, by);
      transcript.follow(watcher, `subscriber ${number}`);
      const { last_seq } = await watcher.subscribe(transcript.topics);
      expect(last_seq, 'nothing happens meanwhile').toBe(event_seq);
      watchers.push(watcher);
    });
    this.#audience.push(...watchers);
    return watchers;
  }

  /** Proposes a block on which all agents vote, and every third agent votes against it. */
  async decide(): Promise<string> {
    const hash = await propose(this.caller, this.voters[0]!);
    const ballots = this.voters.map((by, index) =>
      vote(by, hash, index % 3 === 0 ? 'reject' : 'approve'),
    );
    await inParallel(ballots, WIDTH, (ballot) => this.caller.do(ballot));
    return hash;
  }

  /** Publishes `count` events of 6 KB each. */
  async discuss(count: number): Promise<void> {
    const block_hash = await propose(this.caller, this.voters[1]!);
    const numbers = Array.from({ length: count }, (_, index) => index);
    await inParallel(numbers, WIDTH, (number) => {
      const by = this.voters[number % this.voters.length]!;
      const message = `${number} ${LONG}`.slice(0, 2_048);
      return this.caller.do(
        composeDiscuss(by, stamp(), { block_hash, message, sentiment: 'neutral' }),
      );
    });
  }

  /** Reads a value from /metrics. */
  async metric(name: string): Promise<number> {
    const { text } = await this.caller.call('GET', '/metrics');
    const [, value] = new RegExp(`^folkmoot_${name} (\\S+)$`, 'm').exec(text)!;
    return Number(value);
  }
}
