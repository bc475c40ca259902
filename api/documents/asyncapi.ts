/** The AsyncAPI document, built from the tables of messages, topics and close codes. */
import { eventRows, eventTypes } from '../../engine/protocol/event-types.js';
import { eventShapes } from '../../engine/protocol/schema/event.js';
import { acknowledgements, ErrorBody, tellings } from '../contract/answers.js';
import {
  clientMessages,
  closeCodes,
  socketLimits,
  socketPath,
  topics as topicNames,
} from '../contract/channels.js';
import { info } from './openapi.js';
import { overAuth } from './openapi-requests.js';
import {
  type Components,
  createComponents,
  extension,
  type Part,
  pascal,
} from './openapi-schemas.js';

type ClientType = keyof typeof clientMessages;
type AckType = keyof typeof acknowledgements;
/** Watch messages carry their members alongside `type`, without `data`. */
type TellingType = keyof typeof tellings;

const clientTexts: Record<
  ClientType,
  { text: string; ack: AckType | TellingType; extension?: true }
> = {
  auth: {
    text: `Authenticates the connection. Must be the first message, within
${socketLimits.authMs / 1000} seconds. Signing input:
\`${overAuth}\`.`,
    ack: 'auth_ok',
  },
  subscribe: {
    text: `Adds topics, all or none. \`since\` (exclusive) resumes after the last event of an
earlier connection. Only the first subscribe of a connection may have it.`,
    ack: 'subscribed',
  },
  unsubscribe: { text: 'Removes topics.', ack: 'unsubscribed', extension: true },
  watch: {
    text: `Watches without a key, instead of \`auth\`. The server then sends binary frames, each a
range of entries. \`since\` is the last known entry.`,
    ack: 'watching',
    extension: true,
  },
  ping: { text: 'Requests a pong with the same id.', ack: 'pong', extension: true },
};

const ackTexts: Record<AckType, string> = {
  auth_ok: 'The connection is authenticated.',
  subscribed: 'All subscribed topics. `replay` missed events follow; `gap`: some are unavailable.',
  unsubscribed: 'The remaining topics.',
  pong: 'The response to a ping.',
};

/** Topics of the original interface, and messages that it does not have. */
const originalTopics = ['blocks', 'consensus', 'network', 'social', 'memes'];
const addedAcks: readonly AckType[] = ['unsubscribed', 'pong'];

const closeText = `| close | meaning | retry? |
|---|---|---|
${Object.values(closeCodes)
  .map(({ code, meaning, retry }) => `| ${code} | ${meaning} | ${retry} |`)
  .join('\n')}`;

const description = `Connect, send \`auth\`, then \`subscribe\`. Each event has a \`seq\`, which
increases strictly on a connection. A client that subscribes to several topics of an event receives
the event once. Messages are JSON texts of at most ${socketLimits.messageBytes} bytes. A client may
send ${socketLimits.messagesPerMinute} messages a minute. An agent may have
${socketLimits.connectionsPerAgent} connections (neither limit applies with
\`serve --limits off\`). The server pings every
${socketLimits.heartbeatMs / 1000} seconds and closes the connection after
${socketLimits.missedHeartbeats} missed pongs.
Additions to the original interface are marked \`x-extension\`.

${closeText}
`;

export function buildAsyncapi(version: string): Part {
  const components = createComponents();
  const messages = allMessages(components);
  const channel = { $ref: '#/channels/live' };
  return {
    asyncapi: '3.0.0',
    info: {
      title: info.title,
      version,
      description: 'Live events of a network of voting agents, over one WebSocket.',
      license: { name: info.license.name, url: 'https://spdx.org/licenses/MIT.html' },
    },
    defaultContentType: 'application/json',
    servers: {
      here: {
        host: '{host}',
        protocol: 'ws',
        description: 'the server that serves this document',
        variables: { host: { default: '127.0.0.1:8080' } },
      },
    },
    channels: {
      live: {
        address: socketPath,
        title: 'Live',
        description,
        messages: refs(Object.keys(messages), '#/components/messages'),
        bindings: { ws: { method: 'GET' } },
        'x-close-codes': Object.values(closeCodes),
        'x-topics': topics(),
      },
    },
    operations: { ...asked(channel), ...published(channel) },
    components: { messages, schemas: mapMembers(components.schemas, titled) },
  };
}

const refs = (names: readonly string[], under: string) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `${under}/${name}` }]));

const inChannel = (name: string) => ({ $ref: `#/channels/live/messages/${name}` });

function topics(): Part[] {
  return [...topicNames].map((name) => ({
    name,
    events: eventTypes.filter((type) => eventRows[type].topics.includes(name)),
    ...(originalTopics.includes(name) ? {} : extension),
  }));
}

function allMessages({ lift }: Components): Record<string, Part> {
  const message = (name: string, payload: Part, summary: string, added = false): [string, Part] => [
    name,
    {
      name,
      summary,
      payload: titled(payload, `${pascal(name)}Message`),
      ...(added ? extension : {}),
    },
  ];
  const clients = Object.entries(clientMessages).map(([type, schema]) => {
    const { text, extension: added } = clientTexts[type as ClientType];
    return message(type, lift(schema), text, added);
  });
  const acks = Object.entries(acknowledgements).map(([type, data]) =>
    message(
      type,
      typed(type, { data: lift(data) }),
      ackTexts[type as AckType],
      addedAcks.includes(type as AckType),
    ),
  );
  const events = eventTypes.map((type) => {
    const { topics: under, added } = eventRows[type];
    const summary = `Topics: ${under.join(', ')}.`;
    const [name, shown] = message(type, lift(eventShapes[type]), summary, added);
    return [name, { ...shown, 'x-topics': under }] as const;
  });
  const error = message(
    'error',
    typed('error', { error: lift(ErrorBody) }),
    'An error. Precedes most closes.',
  );
  const told = Object.entries(tellings).map(([type, { text, shape }]) =>
    message(type, lift(shape), text, true),
  );
  const frame: [string, Part] = [
    'frame',
    {
      name: 'frame',
      contentType: 'application/octet-stream',
      summary: 'A range of entries as a binary message.',
      payload: {
        title: 'FrameMessage',
        type: 'string',
        contentMediaType: 'application/octet-stream',
      },
      ...extension,
    },
  ];
  return Object.fromEntries([...clients, ...acks, ...told, frame, ...events, error]);
}

const mapMembers = (members: object, change: (part: Part, name: string) => Part): Part =>
  Object.fromEntries(Object.entries(members).map(([name, part]) => [name, change(part, name)]));

/** Adds titles to a schema and the shapes in it, because generators name models by titles. */
function titled(schema: Part, title: string): Part {
  if ('$ref' in schema) return schema;
  const { properties, items, anyOf } = schema;
  const inner = (part: Part, name: string) => {
    const { title: added, ...shape } = titled(part, title + pascal(name));
    return 'enum' in part || 'properties' in part ? { title: added, ...shape } : shape;
  };
  return {
    title,
    ...schema,
    ...(properties ? { properties: mapMembers(properties, inner) } : {}),
    ...(items ? { items: inner(items as Part, 'item') } : {}),
    ...(anyOf ? { anyOf: (anyOf as Part[]).map((part, at) => inner(part, `${at || ''}`)) } : {}),
  };
}

const typed = (type: string, members: Part): Part => ({
  type: 'object',
  required: ['type', ...Object.keys(members)],
  properties: { type: { type: 'string', const: type }, ...members },
});

/** Lists client operations. The server answers each message with an acknowledgement or error. */
function asked(channel: Part): Part {
  return Object.fromEntries(
    Object.entries(clientTexts).map(([type, { text, ack, extension: added }]) => [
      type,
      {
        action: 'receive',
        channel,
        summary: text,
        messages: [inChannel(type)],
        reply: { channel, messages: [inChannel(ack), inChannel('error')] },
        ...(added ? extension : {}),
      },
    ]),
  );
}

/** Lists messages that the server sends unprompted. */
function published(channel: Part): Part {
  return {
    event: {
      action: 'send',
      channel,
      summary: 'Events of the subscribed topics.',
      messages: eventTypes.map(inChannel),
    },
    frame: {
      action: 'send',
      channel,
      summary: 'To watchers: new entries, skipped entries and clock changes.',
      messages: ['frame', 'skipped', 'clock'].map(inChannel),
      ...extension,
    },
    error: {
      action: 'send',
      channel,
      summary: 'An error without a client message, such as an authentication timeout.',
      messages: [inChannel('error')],
    },
  };
}
