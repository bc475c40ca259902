/** Graceful shutdown: no busy, silent or slow client delays it. */
import { describe, expect, test } from 'vitest';
import { full } from '../../support/counts.js';
import { signatoryOf, temporaryFolder } from '../../support/fixture.js';
import { host, stop } from '../../support/host.js';
import { registration } from '../clients/actions.js';
import { Caller } from '../clients/caller.js';
import { everyTopic, Subscriber } from '../clients/subscriber.js';
import { Wire } from '../clients/wire.js';

const half = 'POST /api/v1/consensus/vote HTTP/1.1\r\nHost: localhost\r\n';

describe.each(['uws', 'node'])('stop: over %s', (transport) => {
  const stalls: [string, string][] = [
    ['says nothing', ''],
    ['sends half a head', half],
    // The rest may still arrive, so the server waits up to the grace period.
    ...(full
      ? [['sends half a body', `${half}Content-Length: 9\r\n\r\n{`] as [string, string]]
      : []),
  ];

  test.each(stalls)('stop: is not delayed by a connection that %s', async (_, text) => {
    const server = await host({ data: temporaryFolder(), args: ['--transport', transport] });
    const wire = await Wire.open(server.url);
    wire.send(text);
    // The server has read the bytes by the time it responds on a different connection.
    expect((await new Caller(server.url).call('GET', '/healthz')).status).toBe(200);
    await stop(server);
    await wire.over;
  });

  test('stop: closes with 1001, and is not delayed by a subscriber that never reads', async () => {
    const server = await host({ data: temporaryFolder(), args: ['--transport', transport] });
    const caller = new Caller(server.url);
    const by = signatoryOf(1);
    await caller.do(registration(by, 'Ada'));
    const [asleep, awake] = [
      await Subscriber.open(server.wsUrl, by),
      await Subscriber.open(server.wsUrl, by),
    ];
    await asleep.subscribe(everyTopic);
    await awake.subscribe(everyTopic);
    asleep.pause();
    await stop(server);
    expect(await awake.closed).toBe(1001);
  });
});
