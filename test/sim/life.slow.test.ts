/** Requests of scripted agents: every kind occurs in a run, and agents vote. */
import { join } from 'node:path';
import type { CommandKind } from 'folkmoot';
import { personalities } from 'folkmoot/sim';
import { beforeAll, expect, test } from 'vitest';
import { type SimJson, simJson } from '../support/command.js';
import { bodyOf, type Line, logLines, suiteFolder } from '../support/runs.js';

const kinds: CommandKind[] = [
  'register',
  'propose',
  'vote',
  'meme',
  'discuss',
  'alliance_propose',
  'alliance_respond',
  'alliance_leave',
  'status',
];

let run: SimJson;
let lines: Line[];

beforeAll(async () => {
  const out = join(suiteFolder(), 'run');
  const args = ['--seed', '7', '--agents', '300', '--blocks', '30', '--out', out];
  run = (await simJson(...args)).json;
  lines = await logLines(out);
});

const ofKind = (kind: CommandKind) => lines.filter((line) => line.kind === kind);

test.each(kinds)('life: %s occurs in a run of 300 agents', (kind) => {
  expect(ofKind(kind).length).toBeGreaterThan(0);
});

test('life: every agent registers once', () => {
  const registered = ofKind('register');
  expect(registered).toHaveLength(300);
  expect(new Set(registered.map(({ public_key }) => public_key)).size).toBe(300);
});

test('life: agents of every personality vote, for and against', () => {
  const registered = ofKind('register').map(({ public_key, body }) => {
    return [public_key, bodyOf<{ personality: string }>(body).personality] as const;
  });
  const personalityOf = new Map(registered);
  const voting = new Set(ofKind('vote').map(({ public_key }) => personalityOf.get(public_key)));
  expect([...voting].sort()).toEqual(Object.keys(personalities).sort());
  const decisions = ofKind('vote').map(({ body }) => bodyOf<{ decision: string }>(body).decision);
  expect(new Set(decisions)).toEqual(new Set(['approve', 'reject']));
});

test('life: nearly all agents vote, and no agent twice on one block', () => {
  const votes = ofKind('vote').map(({ public_key, body }) => {
    return `${public_key} ${bodyOf<{ block_hash: string }>(body).block_hash}`;
  });
  expect(new Set(votes).size).toBe(votes.length);
  const voters = new Set(ofKind('vote').map(({ public_key }) => public_key));
  expect(voters.size).toBeGreaterThan(270);
  expect(votes).toHaveLength(run.measures.votes!);
});

test('life: every meme has its file, and some votes refer to memes', () => {
  expect(ofKind('meme').every(({ file }) => file !== undefined)).toBe(true);
  const referring = ofKind('vote').filter(
    ({ body }) => bodyOf<{ meme_references: string[] }>(body).meme_references.length > 0,
  );
  expect(referring.length).toBeGreaterThan(0);
});

test('life: some invitations are accepted and others declined', () => {
  const answers = ofKind('alliance_respond').map(
    ({ body }) => bodyOf<{ accepted: boolean }>(body).accepted,
  );
  expect(new Set(answers)).toEqual(new Set([true, false]));
});

test('life: timestamps never decrease, and sequence numbers have no gap', () => {
  for (const [index, { seq, at }] of lines.entries()) {
    expect(seq).toBe(index);
    if (index > 0) expect(at).toBeGreaterThanOrEqual(lines[index - 1]!.at);
  }
});
