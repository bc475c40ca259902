/** Schemas as documents have them: named parts stand once, what was added is marked. */
import * as engine from '../../../engine/internal.js';
import { agentId, allianceId, memeId, sha256Hex } from '../../../engine/protocol/signing.js';
import {
  acknowledgements,
  ConnectionView,
  DebugVerifyBody,
  ErrorBody,
  ErrorDetails,
  eventShapes,
  Health,
  Meta,
  readAnswers,
  Verification,
} from '../../contract/answers.js';
import { clientMessages } from '../../contract/channels.js';
import { ClusterView } from '../../contract/cluster.js';
import { ClockView, ControlView, controlCommands } from '../../contract/control.js';
import { LoadView } from '../../contract/load.js';
import { ProofView } from '../../contract/proof.js';

/** A part of a document: JSON. */
export type Part = { [member: string]: unknown };

const { answers, eventData } = engine;

/** `block_proposal` as `BlockProposal`. */
const pascal = (name: string) =>
  name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const suffixed = (suffix: string, schemas: Record<string, object>) =>
  Object.fromEntries(Object.entries(schemas).map(([name, one]) => [pascal(name) + suffix, one]));

/** What stands under its own name. Of equal shapes the first name is taken. */
const named: Record<string, object> = {
  PublicKey: engine.PublicKey,
  Signature: engine.Signature,
  Hash: engine.Hash,
  AgentId: engine.AgentId,
  MemeId: engine.MemeId,
  AllianceId: engine.AllianceId,
  Timestamp: engine.Timestamp,
  Duration: engine.Duration,
  Capability: engine.Capability,
  AgentStatus: engine.Status,
  Decision: engine.Decision,
  Sentiment: engine.Sentiment,
  MemeType: engine.MemeType,
  BlockStatus: engine.BlockStatus,
  AllianceStatus: engine.AllianceStatus,
  Role: engine.Role,
  Tag: engine.Tag,
  Tally: engine.Tally,
  RegisterBody: engine.RegisterBody,
  StatusBody: engine.StatusBody,
  VoteBody: engine.VoteBody,
  TransactionBody: engine.TransactionBody,
  StateDiffBody: engine.StateDiff,
  MemeContentBody: engine.MemeContent,
  ProposalBody: engine.ProposalBody,
  DiscussBody: engine.DiscussBody,
  AllianceProposeBody: engine.AllianceProposeBody,
  AllianceRespondBody: engine.AllianceRespondBody,
  DebugVerifyBody,
  NetworkState: engine.NetworkState,
  AgentView: engine.AgentView,
  AgentList: engine.AgentList,
  ReputationView: engine.ReputationView,
  BlockView: engine.BlockView,
  BlockDetail: readAnswers.block,
  BlockPage: readAnswers.blocks,
  BlockVotes: readAnswers.votes,
  Transaction: readAnswers.transactions,
  StateValue: readAnswers.stateValue,
  AlliancePage: readAnswers.alliances,
  EventPage: readAnswers.events,
  AllianceAnswer: answers.alliance_propose,
  ...suffixed('Answer', answers),
  ...suffixed('Data', eventData),
  ...suffixed('Event', eventShapes),
  ...suffixed('Message', clientMessages),
  ...suffixed('Acknowledgement', acknowledgements),
  ...suffixed('World', controlCommands),
  ClockView,
  ControlView,
  Meta,
  Health,
  ConnectionView,
  Verification,
  ProofView,
  ClusterView,
  LoadView,
  Error: ErrorBody,
  ErrorDetails,
};

/** Members that the interface did not have, by the name of their shape. */
const addedMembers: Record<string, readonly string[]> = {
  NetworkState: ['head_hash', 'network_id', 'server_time'],
  NetworkMetricsData: ['head_hash'],
  AllianceUpdateData: ['status'],
  TransactionBody: ['sender'],
  SubscribeMessage: ['since'],
};

/** Members that are added wherever they stand in an answer or an event. */
const addedAnywhere = new Set(['duplicate']);

const key = '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c';
const timestamp = '2025-01-01T00:00:00.000Z';
const meme = { caption: '', content_sha256: sha256Hex('gm'), tags: [], timestamp };
const examples: Record<string, unknown> = {
  PublicKey: key,
  Hash: sha256Hex('gm'),
  AgentId: agentId(key),
  MemeId: memeId(key, meme),
  AllianceId: allianceId(key, sha256Hex('gm')),
  Timestamp: timestamp,
  Duration: 'PT1H',
  Tag: 'gm',
};

const nameOf = new Map<string, string>();
for (const [name, schema] of Object.entries(named)) {
  const text = JSON.stringify(schema);
  if (!nameOf.has(text)) nameOf.set(text, name);
}

export interface Components {
  /** A schema with its named parts as references; what is referred to joins `schemas`. */
  lift(schema: object): Part;
  readonly schemas: Record<string, Part>;
}

/** How TypeBox writes a member of any name. */
const ANY_NAME = '^.*$';

export const createComponents = (): Components => new Lifted();

class Lifted implements Components {
  readonly schemas: Record<string, Part> = {};

  readonly lift = (schema: object): Part => {
    const name = nameOf.get(JSON.stringify(schema));
    if (name === undefined) return this.#inner(schema);
    // Entered before it is filled, so that names stand in the order of first use.
    if (!this.schemas[name]) {
      this.schemas[name] = {};
      Object.assign(this.schemas[name], this.#component(name, schema));
    }
    return { $ref: `#/components/schemas/${name}` };
  };

  #component(name: string, schema: object): Part {
    const shape = this.#inner(schema);
    const properties = shape.properties as Record<string, Part> | undefined;
    for (const member of addedMembers[name] ?? []) {
      properties![member] = marked(properties![member]!);
    }
    if (name.endsWith('Event')) properties!.seq = marked(properties!.seq!);
    return name in examples ? { ...shape, examples: [examples[name]] } : shape;
  }

  #inner(schema: object): Part {
    const { properties, items, anyOf, patternProperties, ...rest } = schema as Part;
    return {
      // TypeBox leaves the type of an enumeration to its values; readers like to see it.
      ...('enum' in rest && !('type' in rest) ? { type: 'string' } : {}),
      ...rest,
      ...(properties ? { properties: this.#members(properties) } : {}),
      ...(items ? { items: this.lift(items) } : {}),
      ...(Array.isArray(anyOf) ? { anyOf: anyOf.map(this.lift) } : {}),
      ...(patternProperties ? this.#anyNamed(patternProperties) : {}),
    };
  }

  /** Members of any name as readers know them: the reference page never ends at the pattern. */
  #anyNamed(patterns: object): Part {
    const { [ANY_NAME]: any } = patterns as Part;
    if (any) return { additionalProperties: this.lift(any) };
    return { patternProperties: this.#members(patterns) };
  }

  #members(schemas: object): Part {
    const lifted = Object.entries(schemas).map(([name, schema]) => {
      const shape = this.lift(schema as object);
      return [name, addedAnywhere.has(name) ? marked(shape) : shape];
    });
    return Object.fromEntries(lifted);
  }
}

/** Beyond the interface. */
export const extension = { 'x-extension': true } as const;

/** A reference takes no members beside it in every reader: it is wrapped. */
function marked(schema: Part): Part {
  return '$ref' in schema ? { allOf: [schema], ...extension } : { ...schema, ...extension };
}
