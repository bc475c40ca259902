/** The table of event types matches the schemas and the codes in stored files. */
import { expect, test } from 'vitest';
import { rowKinds, viewLimits, viewRows } from '../../../dist/api/view/model.js';
import { eventRows, eventTypes } from '../../../dist/engine/protocol/event-types.js';
import { eventData } from '../../../dist/engine/protocol/schema/event.js';
import { unsigned } from '../../../dist/engine/protocol/schema/request.js';

test('view: has a row kind for each event type and each fact without an event', () => {
  const untold = ['registered', 'dormancy'];
  expect([...rowKinds].sort()).toEqual([...eventTypes, ...untold].sort());
  expect(rowKinds.map((kind) => viewRows[kind].code)).toEqual([...rowKinds.keys()]);
});

test('view: keeps the row codes of stored files', () => {
  expect(rowKinds.slice(0, 11)).toEqual([
    ...['registered', 'block_proposal', 'block_validation', 'consensus_discussion'],
    ...['alliance_update', 'agent_status', 'network_metrics', 'meme_posted'],
    ...['reputation_update', 'block_status', 'dormancy'],
  ]);
});

test('events: have types in the order of their schemas', () => {
  expect(Object.keys(eventData)).toEqual(eventTypes);
});

test.each(eventTypes)('events: the row of %s refers to members of its data', (type) => {
  const { agent, row } = eventRows[type];
  const { properties } = eventData[type] as { properties: Record<string, { enum?: string[] }> };
  for (const member of [agent, row.value?.of, row.says?.of]) {
    if (member !== undefined) expect(properties).toHaveProperty(member);
  }
  if (!row.value) return;
  const { of, ...value } = row.value;
  expect(properties[of]!.enum).toEqual('words' in value ? value.words : undefined);
});

test('view: does not truncate text that the protocol allows', () => {
  const { vote, discuss, meme, alliance_propose: ally } = unsigned;
  const texts = [vote.properties.reason, discuss.properties.message, meme.properties.caption];
  for (const text of [...texts, ally.properties.purpose]) {
    expect((text as unknown as { maxLength: number }).maxLength).toBeLessThanOrEqual(
      viewLimits.textCharacters,
    );
  }
});
