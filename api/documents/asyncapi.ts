/** The AsyncAPI document: the WebSocket's messages, topics and close codes, out of their tables. */
import { eventRows, eventTypes } from '../../engine/protocol/event-types.js';
import { acknowledgements, ErrorBody, eventShapes, tellings } from '../contract/answers.js';
import {
  clientMessages,
  closeCodes,
  socketLimits,
  socketPath,
  topics as topicNames,
} from '../contract/channels.js';
import { info } from './openapi.js';
import { overAuth } from './openapi-requests.js';
import { type Components, createComponents, extension, type Part } from './openapi-schemas.js';

type ClientType = keyof typeof clientMessages;
type AckType = keyof typeof acknowledgements;
/** What a client may send, or be told, that has its members beside `type`. */
type TellingType = keyof typeof tellings;

const clientTexts: Record<
  ClientType,
  { text: string; ack: AckType | TellingType; extension?: true }
> = {
  auth: {
    text: `The first message, within ${socketLimits.authMs / 1000} seconds.
Signed: \`${overAuth}\`.`,
    ack: 'auth_ok',
  },
  subscribe: {
    text: `Adds topics, all or none. \`since\` (exclusive) goes on where an earlier connection
ended, in the first subscribe of a connection only.`,
    ack: 'subscribed',
  },
  unsubscribe: { text: 'Drops topics.', ack: 'unsubscribed', extension: true },
  watch: {
    text: `Looks on without a key, instead of \`auth\`: from now on frames come, each a span of
entries as bytes. \`since\` is the last entry that is known.`,
    ack: 'watching',
    extension: true,
  },
  ping: { text: 'Asks for a pong with the same id.', ack: 'pong', extension: true },
};

/** Topics and messages that the interface did not have. */
const addedTopics = ['proposals', 'outcomes'];
const addedAcks: readonly AckType[] = ['unsubscribed', 'pong'];

const closeText = `| close | meaning | retry? |
|---|---|---|
${Object.values(closeCodes)
  .map(({ code, meaning, retry }) => `| ${code} | ${meaning} | ${retry} |`)
  .join('\n')}`;

const description = `Connect, send \`auth\`, then \`subscribe\`. Each event has a \`seq\`, strictly
increasing on a connection; a client in two topics of an event gets it once. Messages are JSON texts
of at most ${socketLimits.messageBytes} bytes, ${socketLimits.messagesPerMinute} a minute, over
at most ${socketLimits.connectionsPerAgent} connections of one agent. The server pings every
${socketLimits.heartbeatMs / 1000} seconds; ${socketLimits.missedHeartbeats} missed pongs close the
connection.
Whatever the interface did not have at first is marked \`x-extension\`.

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
        description: 'the server that this document came from',
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
    components: { messages, schemas: components.schemas },
  };
}

const refs = (names: readonly string[], under: string) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `${under}/${name}` }]));

const inChannel = (name: string) => ({ $ref: `#/channels/live/messages/${name}` });

function topics(): Part[] {
  return [...topicNames].map((name) => ({
    name,
    events: eventTypes.filter((type) => eventRows[type].topics.includes(name)),
    ...(addedTopics.includes(name) ? extension : {}),
  }));
}

function allMessages({ lift }: Components): Record<string, Part> {
  const message = (name: string, payload: Part, summary: string, added = false): [string, Part] => [
    name,
    { name, summary, payload, ...(added ? extension : {}) },
  ];
  const clients = Object.entries(clientMessages).map(([type, schema]) => {
    const { text, extension: added } = clientTexts[type as ClientType];
    return message(type, lift(schema), text, added);
  });
  const acks = Object.entries(acknowledgements).map(([type, data]) =>
    message(
      type,
      typed(type, { data: lift(data) }),
      'An acknowledgement.',
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
    'What was wrong; before most closes.',
  );
  const told = Object.entries(tellings).map(([type, { text, shape }]) =>
    message(type, lift(shape), text, true),
  );
  const frame: [string, Part] = [
    'frame',
    {
      name: 'frame',
      contentType: 'application/octet-stream',
      summary: 'A span of entries, as bytes: a binary message.',
      payload: { type: 'string', contentMediaType: 'application/octet-stream' },
      ...extension,
    },
  ];
  return Object.fromEntries([...clients, ...acks, ...told, frame, ...events, error]);
}

const typed = (type: string, members: Part): Part => ({
  type: 'object',
  required: ['type', ...Object.keys(members)],
  properties: { type: { type: 'string', const: type }, ...members },
});

/** What clients send, each with its acknowledgement or an error. */
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

/** What the server sends by itself. */
function published(channel: Part): Part {
  return {
    event: {
      action: 'send',
      channel,
      summary: 'Events of the topics that were subscribed to.',
      messages: eventTypes.map(inChannel),
    },
    frame: {
      action: 'send',
      channel,
      summary: 'What happened, to who watches; what was left out; a clock that was paused.',
      messages: ['frame', 'skipped', 'clock'].map(inChannel),
      ...extension,
    },
    error: {
      action: 'send',
      channel,
      summary: 'An error that answers no message, such as no auth in time.',
      messages: [inChannel('error')],
    },
  };
}
