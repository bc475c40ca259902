/** The words that rows have numbers for are those of the protocol, in their order. */
import { expect, test } from 'vitest';
import {
  allianceStatuses,
  blockStatuses,
  rowKinds,
  sentiments,
  statuses,
  viewLimits,
} from '../../../dist/api/view/index.js';
import {
  AllianceStatus,
  BlockStatus,
  eventData,
  Sentiment,
  Status,
  unsigned,
} from '../../../dist/engine/internal.js';

test('view: its words are those of the protocol', () => {
  expect(statuses).toEqual(Status.enum);
  expect(sentiments).toEqual(Sentiment.enum);
  expect(blockStatuses).toEqual(BlockStatus.enum);
  expect(allianceStatuses).toEqual(AllianceStatus.enum);
});

test('view: there is a kind of row for each event, and for what no event tells', () => {
  const untold = ['registered', 'dormancy'];
  expect([...rowKinds].sort()).toEqual([...Object.keys(eventData), ...untold].sort());
});

test('view: no text that the protocol allows is cut', () => {
  const { vote, discuss, meme, alliance_propose: ally } = unsigned;
  const texts = [vote.properties.reason, discuss.properties.message, meme.properties.caption];
  for (const text of [...texts, ally.properties.purpose]) {
    expect((text as unknown as { maxLength: number }).maxLength).toBeLessThanOrEqual(
      viewLimits.textCharacters,
    );
  }
});
