/**
 * Many concurrent subscribers. Subscribers that read receive all events. The others are
 * disconnected and never miss an event silently.
 */
import { counts, full } from '../../support/counts.js';
import { meta } from '../clients/actions.js';
import { Assembly } from '../clients/assembly.js';
import { everyTopic, Subscriber } from '../clients/subscriber.js';
import { Transcript } from '../clients/transcript.js';

/**
 * Number of events retained for slow subscribers. A subscriber further behind may be disconnected.
 */
const RING = 16_384;
/** Number of long events that fill a loopback connection's buffers: 6 MB, of which 4 MB fit. */
const FLOOD = 1_000;

describe.each(full ? ['uws', 'node'] : ['uws'])('subscribers: over %s', (transport) => {
  const { subscribers, voters } = counts;

  test(`subscribers: ${subscribers} see a block of ${voters} voters close`, async () => {
    const assembly = await Assembly.open(transport);
    const { event_seq: since } = await meta(assembly.caller);
    const transcript = new Transcript(everyTopic);
    const watchers = await assembly.watch(subscribers, transcript);
    const hash = await assembly.decide();
    expect(await assembly.caller.read(`/api/v1/blocks/${hash}`)).toMatchObject({
      status: 'finalized',
    });
    const { event_seq } = await meta(assembly.caller);
    await Promise.all(watchers.map((watcher) => watcher.took(event_seq - since)));
    expect(await transcript.expectComplete(assembly.caller, since)).toBeGreaterThan(2 * voters);
    expect(await assembly.metric('ws_dropped_total')).toBe(0);
    expect(watchers.filter(({ endedWith }) => endedWith !== null)).toEqual([]);
  });

  test('subscribers: one that never reads is disconnected and resumes', async () => {
    const assembly = await Assembly.open(transport);
    const { event_seq: since, epoch } = await meta(assembly.caller);
    const whole = new Transcript(everyTopic);
    const outcomes = new Transcript(['proposals', 'outcomes']);
    const watchers = await assembly.watch(12, whole);
    const narrow = await assembly.watch(subscribers - 13, outcomes);
    const [slow] = await assembly.watch(1, new Transcript(everyTopic));
    slow!.pause();
    const texts: number[] = [];
    slow!.onEvent = (text) => texts.push(JSON.parse(text.toString()).seq);

    await assembly.discuss(FLOOD);
    const enough = since + FLOOD + 2 * RING;
    while ((await assembly.metric('ws_dropped_total')) === 0) {
      expect((await meta(assembly.caller)).event_seq, 'the slow one is not cut').toBeLessThan(
        enough,
      );
      await assembly.decide();
    }
    expect(await assembly.metric('ws_dropped_total')).toBe(1);
    slow!.resume();
    expect([1013, 1006]).toContain((await slow!.closed).code);

    const again = await Subscriber.open(assembly.server.wsUrl, assembly.voters.at(-1)!);
    const last = since + slow!.count;
    expect(texts).toEqual(texts.map((_, index) => since + 1 + index));
    const answer = await again.subscribe(everyTopic, { epoch, seq: last });
    expect(answer).toMatchObject({ epoch, gap: false });
    await assembly.decide();
    const { event_seq } = await meta(assembly.caller);
    await again.took(event_seq - last);
    const missed = await assembly.caller.events(last);
    expect(again.events).toEqual(missed.slice(0, again.count));

    await Promise.all(watchers.map((watcher) => watcher.took(event_seq - since)));
    await whole.expectComplete(assembly.caller, since);
    const told = await assembly.caller.events(since, 'proposals,outcomes');
    await Promise.all(narrow.map((watcher) => watcher.took(told.length)));
    await outcomes.expectComplete(assembly.caller, since);
    expect([...watchers, ...narrow].filter(({ endedWith }) => endedWith !== null)).toEqual([]);
  });
});
