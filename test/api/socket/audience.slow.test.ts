/** Many subscribers to the same topics. Subscribers that lag or change topics miss nothing. */
import type { Live } from '../../support/service/live.js';
import { connect } from '../../support/service/live.js';
import { transports, world } from '../../support/service/server.js';
import { debugSocket, discuss, status } from '../../support/service/signer.js';

/** Events of 6 KB, which together exceed the buffers of a loopback connection. */
const FLOOD = 1_200;
const LONG = '€'.repeat(2_000);
const AT_A_TIME = 40;

const eventsOf = ({ received }: Live) => received.filter(({ seq }) => seq !== undefined);
const seqsOf = (live: Live) => eventsOf(live).map(({ seq }) => seq);
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe.each(transports)('audience over %s', (transport) => {
  test('sends a paused subscriber all events afterwards', async () => {
    // The block must stay open for the whole flood, even on a busy machine.
    const there = await world({ transport, genesis: { voting_period_ms: 600_000 } });
    const [ada, bob] = await there.joinAll('Ada', 'Bob');
    const block_hash = await there.propose(ada!);
    const quick = await there.listen(ada!, ['consensus', 'network']);
    const slow = await there.listen(bob!, ['network', 'consensus']);
    const { event_seq } = await there.read('/api/v1/meta');
    slow.socket.pause();
    for (let sent = 0; sent < FLOOD; sent += AT_A_TIME) {
      const numbers = range(sent, sent + AT_A_TIME - 1);
      await Promise.all(
        numbers.map((one) => there.do(discuss(ada!, { block_hash, message: `${one} ${LONG}` }))),
      );
    }
    await quick.settled();
    expect(seqsOf(slow).length).toBeLessThan(FLOOD);
    slow.socket.resume();
    await there.do(status(ada!, { status: 'active' }), 200);
    for (const live of [quick, slow]) await live.until('agent_status');
    const first = Number(event_seq) + 1;
    expect([seqsOf(quick), eventsOf(slow)]).toEqual([range(first, first + FLOOD), eventsOf(quick)]);
    // The subscriber has caught up.
    await there.join('Eve');
    for (const live of [quick, slow]) await live.until('agent_status');
    expect(eventsOf(slow)).toEqual(eventsOf(quick));
  });

  test('applies topic changes between two events, and counts the events sent', async () => {
    const there = await world({ transport });
    const [ada, bob] = await there.joinAll('Ada', 'Bob');
    const stays = await there.listen(bob!, ['network']);
    const changes = await connect(there.wsUrl);
    const { connection_id } = await changes.auth(ada!);
    await changes.subscribe(['network']);
    const update = () => there.do(status(bob!, { status: 'active' }), 200);
    await update();
    expect(await changes.subscribe(['proposals'])).toMatchObject({ last_seq: 3 });
    await update();
    await there.propose(ada!);
    changes.send({ type: 'unsubscribe', topics: ['network'] });
    await changes.until('unsubscribed');
    await update();
    await changes.settled();
    await stays.settled();
    expect([seqsOf(stays), seqsOf(changes)]).toEqual([
      [3, 4, 6],
      [3, 4, 5],
    ]);
    const bytes = changes.received.reduce((sum, one) => sum + JSON.stringify(one).length, 0);
    expect(await there.do(debugSocket(ada!, String(connection_id)), 200)).toMatchObject({
      ...{ topics: ['proposals'], last_seq_sent: 5, messages_out: changes.received.length },
      bytes_out: bytes,
    });
  });
});
