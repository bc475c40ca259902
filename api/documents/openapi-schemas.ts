/** Schemas in the documents. Named schemas become references, and extensions are marked. */
import { eventData, eventShapes } from '../../engine/protocol/schema/event.js';
import {
  AgentId,
  AllianceId,
  AllianceStatus,
  BlockStatus,
  Capability,
  Decision,
  Duration,
  Hash,
  MemeId,
  MemeType,
  PublicKey,
  Role,
  Sentiment,
  Signature,
  Status,
  Tag,
  Timestamp,
} from '../../engine/protocol/schema/primitives.js';
import {
  AllianceProposeBody,
  AllianceRespondBody,
  DiscussBody,
  MemeContent,
  ProposalBody,
  RegisterBody,
  StateDiff,
  StatusBody,
  TransactionBody,
  VoteBody,
} from '../../engine/protocol/schema/request.js';
import {
  AgentList,
  AgentView,
  answers,
  BlockView,
  NetworkState,
  ReputationView,
  Tally,
} from '../../engine/protocol/schema/view.js';
import { agentId, allianceId, memeId, sha256Hex } from '../../engine/protocol/signing.js';
import { acknowledgements, ErrorBody, ErrorDetails } from '../contract/answers.js';
import { clientMessages } from '../contract/channels.js';
import { ClockView, ControlView, controlCommands } from '../contract/control.js';
import { LoadView } from '../contract/load.js';
import { reads } from '../contract/reads.js';
import {
  ClusterView,
  ConnectionView,
  DebugVerifyBody,
  Health,
  Meta,
  Verification,
} from '../contract/server.js';

export type Part = { [member: string]: unknown };

export const pascal = (name: string) =>
  name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const suffixed = (suffix: string, schemas: Record<string, object>) =>
  Object.fromEntries(Object.entries(schemas).map(([name, one]) => [pascal(name) + suffix, one]));

/** Schemas with names. If schemas are equal, the first name applies. */
const named: Record<string, object> = {
  PublicKey: PublicKey,
  Signature: Signature,
  Hash: Hash,
  AgentId: AgentId,
  MemeId: MemeId,
  AllianceId: AllianceId,
  Timestamp: Timestamp,
  Duration: Duration,
  Capability: Capability,
  AgentStatus: Status,
  Decision: Decision,
  Sentiment: Sentiment,
  MemeType: MemeType,
  BlockStatus: BlockStatus,
  AllianceStatus: AllianceStatus,
  Role: Role,
  Tag: Tag,
  Tally: Tally,
  RegisterBody: RegisterBody,
  StatusBody: StatusBody,
  VoteBody: VoteBody,
  TransactionBody: TransactionBody,
  StateDiffBody: StateDiff,
  MemeContentBody: MemeContent,
  ProposalBody: ProposalBody,
  DiscussBody: DiscussBody,
  AllianceProposeBody: AllianceProposeBody,
  AllianceRespondBody: AllianceRespondBody,
  DebugVerifyBody,
  NetworkState: NetworkState,
  AgentView: AgentView,
  AgentList: AgentList,
  ReputationView: ReputationView,
  BlockView: BlockView,
  BlockDetail: reads.block.answer,
  BlockPage: reads.blocks.answer,
  BlockVotes: reads.votes.answer,
  Transaction: reads.transactions.answer,
  StateValue: reads.stateValue.answer,
  AlliancePage: reads.alliances.answer,
  EventPage: reads.events.answer,
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
  ClusterView,
  LoadView,
  Error: ErrorBody,
  ErrorDetails,
};

/** Members that are not in the original interface, by schema name. */
const addedMembers: Record<string, readonly string[]> = {
  NetworkState: ['head_hash', 'network_id', 'server_time'],
  NetworkMetricsData: ['head_hash'],
  AllianceUpdateData: ['status'],
  TransactionBody: ['sender'],
  SubscribeMessage: ['since'],
};

/** Added members in all responses and events. */
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
  /** Replaces named schemas with references, and adds the schemas to `schemas`. */
  lift(schema: object): Part;
  readonly schemas: Record<string, Part>;
}

/** Pattern that TypeBox writes for members of any name. */
const ANY_NAME = '^.*$';

export const createComponents = (): Components => new Lifted();

class Lifted implements Components {
  readonly schemas: Record<string, Part> = {};

  readonly lift = (schema: object): Part => {
    const name = nameOf.get(JSON.stringify(schema));
    if (name === undefined) return this.#inner(schema);
    // Entered before it is filled, so that names appear in order of first use.
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
      // TypeBox omits the type of an enumeration.
      ...('enum' in rest && !('type' in rest) ? { type: 'string' } : {}),
      ...rest,
      ...(properties ? { properties: this.#members(properties) } : {}),
      ...(items ? { items: this.lift(items) } : {}),
      ...(Array.isArray(anyOf) ? { anyOf: anyOf.map(this.lift) } : {}),
      ...(patternProperties ? this.#anyNamed(patternProperties) : {}),
    };
  }

  /** Writes members of any name as `additionalProperties`; the viewer loops forever on patterns. */
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

/** Marks an addition to the original interface. */
export const extension = { 'x-extension': true } as const;

/** Wraps a reference, because not every reader accepts members alongside a `$ref`. */
function marked(schema: Part): Part {
  return '$ref' in schema ? { allOf: [schema], ...extension } : { ...schema, ...extension };
}
