/** Texts at the edges of their rules: durations, timestamps, tags, names, hex in either case. */
import {
  type AnswerOf,
  composeAlliancePropose,
  composeMeme,
  composeProposal,
  composeRegister,
  composeStatus,
  composeTransaction,
  composeVote,
  type Signatory,
} from '../../../engine/internal.js';
import { actor, type Case, type Harness } from '../harness.js';

const durations = [
  'PT1H',
  'P1Y2M3W4DT5H6M7.123456789S',
  'PT0S',
  '',
  'Pt1.5h',
  'PT1,5M',
  'P4294967295Y',
  'PT9007199254740991S',
  'P',
  'PT',
  '-PT1H',
  '+PT1H',
  'pT1H',
  'PT1.5H1M',
  'PT1.0000000001S',
  'P1H',
  'PT1D',
  'P1D2W',
  'P1,5D',
  'PT1.S',
  'PT.5S',
  ' PT1H',
  'P4294967296W',
  'PT9007199254740992S',
];

const lengths = [
  'PT1M',
  'PT60.0009S',
  'PT0.016666667H',
  'P4W2D',
  'P30D',
  'P0Y1D',
  'PT59.9999999S',
  'P30DT0.001S',
  'P1M',
  'P1Y',
  'PT0.0166666666H',
  '',
];

const timestamps = [
  '2025-01-01T00:00:00Z',
  '2025-01-01t00:00:00.123456789z',
  '2025-01-01T00:00:00-00:00',
  '2024-02-29T23:59:59+23:59',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999-23:59',
  '2023-02-29T00:00:00Z',
  '2025-01-01T24:00:00Z',
  '2025-01-01T00:00:60Z',
  '2025-01-01 00:00:00Z',
  '2025-01-01T00:00:00',
  '2025-01-01T00:00:00+24:00',
  '2025-01-01T00:00:00+0100',
  '2025-01-01T00:00:00.Z',
  '2025-01-01T00:00:00.1234567890Z',
  '10000-01-01T00:00:00Z',
  '1',
  '',
];

const tags = [
  'GM',
  'ΣΟΦΟΣ',
  'İ',
  'ẞ',
  'Ⅷ',
  '²',
  '日本語',
  'हिन्दी',
  '𝒜',
  'a_-9',
  'x'.repeat(32),
  '𐐀'.repeat(32),
  '\u0301',
  '',
  'a b',
  '#a',
  'a.b',
  '🎉',
  '\u200d',
  '\u{1ad5}',
  '\ue000',
  'x'.repeat(33),
];

export const times: Case = {
  name: 'times',
  about: 'durations and timestamps',
  async play(harness) {
    const [ada, bob] = await harness.joinMany(2);
    for (const expected_duration of durations) {
      const fields = { status: 'active', expected_duration } as const;
      await harness.ask(composeStatus(ada!, harness.stamp(), ada!.id, fields), expected_duration);
    }
    for (const duration of lengths) {
      const fields = { target_ids: [bob!.id], purpose: 'p', duration };
      await harness.ask(composeAlliancePropose(ada!, harness.stamp(), fields), duration);
      await harness.pass(60_001);
    }
    for (const timestamp of timestamps) {
      const fields = { block_hash: 'a'.repeat(64), decision: 'approve' } as const;
      await harness.ask(composeVote(ada!, timestamp, fields), timestamp);
      await harness.ask(composeStatus(bob!, timestamp, bob!.id, { status: 'active' }), timestamp);
    }
  },
};

export const words: Case = {
  name: 'words',
  about: 'tags, names, personalities, by Unicode 16.0',
  async play(harness) {
    const ada = await harness.join();
    for (const [index, tag] of tags.entries()) {
      const fields = { caption: '', tags: ['A', tag, 'a'], file: Buffer.from(`${index}`) };
      await harness.ask(composeMeme(ada, harness.stamp(), fields), tag);
    }
    for (const name of [
      'n',
      '🎉'.repeat(64),
      '🎉'.repeat(65),
      '',
      'a\u0085',
      'a\u180e\ufdd0',
      '\u007f',
    ]) {
      await register(harness, { name });
    }
    for (const personality of ['Lawful', 'A-9_b', 'ä', '9', `x${'y'.repeat(32)}`, 'K\u212a']) {
      await register(harness, { personality });
    }
  },
};

async function register(harness: Harness, fields: object): Promise<void> {
  const profile = { name: 'n', personality: 'p', capabilities: ['validator'] as const };
  await harness.ask(composeRegister(harness.actor(), harness.stamp(), { ...profile, ...fields }));
}

const upper = (hex: string) => hex.toUpperCase();

export const cases: Case = {
  name: 'letter-case',
  about: 'every hex text in upper case',
  async play(harness) {
    const [ada, bob] = [1, 2].map((number): Signatory & { id: string } => {
      const { publicKey, sign, id } = actor(number);
      return { id, publicKey: upper(publicKey), sign: (input) => upper(sign(input)) };
    }) as [Signatory & { id: string }, Signatory & { id: string }];
    for (const by of [ada, bob]) {
      const profile = { name: 'n', personality: 'P', capabilities: ['validator', 'producer'] };
      await harness.do(composeRegister(by, harness.stamp(), profile as never));
    }
    await harness.ask(composeStatus(ada, harness.stamp(), ada.id, { status: 'active' }));
    const transactions = [
      composeTransaction(ada, harness.networkId, '{"type":"a"}', false),
      composeTransaction(bob, harness.networkId, '{"type":"b"}', true),
    ].map((one) => ({ ...one, hash: upper(one.hash) }));
    const fields = { parent_hash: upper(harness.head), transactions };
    const { block_hash } = await harness.do<AnswerOf['propose']>(
      composeProposal(ada, harness.stamp(), fields),
    );
    for (const by of [ada, bob]) {
      const ballot = { block_hash: upper(block_hash), decision: 'approve' } as const;
      await harness.ask(composeVote(by, harness.stamp(), ballot));
    }
  },
};
