/** WebSocket messages drawn from the AsyncAPI document, and validation of the server's messages. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isDuration, parseInstant } from 'folkmoot';
import type { Agent } from '../../support/service/signer.js';
import { frame, opcodes, textFrame } from './frames.js';
import type { Rng } from './rng.js';
import { type Signing, signatureOf, stampOf } from './signing.js';
import { type Known, type Schema, spoilt, Values, wounded } from './values.js';

interface Message {
  name: string;
  payload: Schema;
}

export interface AsyncApi {
  operations: Record<string, { action: 'send' | 'receive'; messages: { $ref: string }[] }>;
  components: { messages: Record<string, Message>; schemas: Record<string, Schema> };
}

/** Draws documented client messages, and other frames. */
export class Messages {
  readonly #values: Values;
  readonly #received: readonly Message[];
  readonly #known: Known;
  readonly #agents: readonly Agent[];

  constructor(document: AsyncApi, agents: readonly Agent[], known: Known) {
    const { operations, components } = document;
    this.#values = new Values(document, known);
    this.#known = known;
    this.#agents = agents;
    this.#received = Object.values(operations)
      .filter(({ action }) => action === 'receive')
      .flatMap(({ messages }) => messages)
      .map(({ $ref }) => components.messages[$ref.slice($ref.lastIndexOf('/') + 1)]!);
  }

  auth(rng: Rng, signing: Signing): Buffer {
    const by = rng.pick(this.#agents);
    const timestamp = stampOf(rng, signing);
    const input = `auth:${by.publicKey}:${timestamp}`;
    const signature = signatureOf(rng, by, input, signing);
    const message = { type: 'auth', public_key: by.publicKey, timestamp, signature };
    return textFrame(JSON.stringify(message));
  }

  /** Draws a message or frame: documented, similar, or arbitrary. */
  draw(rng: Rng): Buffer {
    if (rng.once(12)) return this.auth(rng, rng.pick(['right', 'wrong', 'other']));
    const value = this.#valid(rng);
    if (rng.once(2)) return this.#sent(rng, Buffer.from(JSON.stringify(value)));
    if (rng.once(2)) return textFrame(JSON.stringify(spoilt(rng, value)) ?? '');
    const payload = wounded(rng, JSON.stringify(value));
    if (rng.once(2)) return frame({ opcode: opcodes.text, payload });
    return rng.pick(oddities)(rng, payload);
  }

  #valid(rng: Rng): Record<string, unknown> {
    const { payload } = rng.pick(this.#received);
    const value = this.#values.valid(rng, payload) as Record<string, unknown>;
    const { topics = [] } = this.#known;
    if ('topics' in value && !rng.once(5)) {
      value.topics = Array.from({ length: 1 + rng.int(6) }, () => rng.pick(topics));
    }
    if ('since' in value && !rng.once(4)) {
      const seq = rng.pick([0, rng.int(200), 2 ** 40, Number.MAX_SAFE_INTEGER]);
      value.since = { epoch: rng.pick(this.#known.epoch ?? ['x']), seq };
    }
    return value;
  }

  /** Frames a payload as a whole, or in fragments with a ping in between. */
  #sent(rng: Rng, payload: Buffer): Buffer {
    if (!rng.once(5)) return frame({ opcode: opcodes.text, payload });
    const at = rng.int(payload.length + 1);
    return Buffer.concat([
      frame({ opcode: opcodes.text, payload: payload.subarray(0, at), final: false }),
      frame({ opcode: opcodes.ping, payload: rng.bytes(rng.int(126)) }),
      frame({ opcode: opcodes.more, payload: payload.subarray(at) }),
    ]);
  }
}

const oddities: readonly ((rng: Rng, payload: Buffer) => Buffer)[] = [
  (_, payload) => frame({ opcode: opcodes.binary, payload }),
  (rng) => frame({ opcode: opcodes.ping, payload: rng.bytes(rng.size(125)) }),
  (rng) => frame({ opcode: opcodes.pong, payload: rng.bytes(rng.size(125)) }),
  (rng) => frame({ opcode: opcodes.ping, payload: rng.bytes(126 + rng.int(200)) }),
  (rng, payload) => frame({ opcode: 3 + rng.int(13), payload }),
  (rng, payload) => frame({ opcode: opcodes.text, payload, reserved: 1 + rng.int(7) }),
  (_, payload) => frame({ opcode: opcodes.text, payload, masked: false }),
  (_, payload) => frame({ opcode: opcodes.more, payload }),
  (_, payload) => frame({ opcode: opcodes.ping, payload: payload.subarray(0, 9), final: false }),
  (_, payload) => {
    const part = frame({ opcode: opcodes.text, payload, final: false });
    return Buffer.concat([part, part]);
  },
  (rng, payload) => {
    const promised = rng.pick([2n ** 63n, 2n ** 40n, 1_000_000n, BigInt(payload.length + 1)]);
    return frame({ opcode: opcodes.text, payload, promised });
  },
  (rng) => {
    const size = rng.pick([16_384, 16_385, 65_536, 65_537, 300_000]);
    return frame({ opcode: opcodes.text, payload: Buffer.alloc(size, 'x') });
  },
  (rng) => frame({ opcode: opcodes.close, payload: rng.bytes(rng.size(125)) }),
  (rng) => {
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(rng.pick([0, 999, 1000, 1005, 1006, 1015, 3000, 4999, 5000]));
    return frame({ opcode: opcodes.close, payload });
  },
  (rng) => rng.bytes(1 + rng.int(300)),
];

/** Returns a function that lists the problems with a server message. */
export function messageChecker(document: AsyncApi): (text: string) => string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  ajv.addFormat('date-time', (text: string) => parseInstant(text) !== null);
  ajv.addFormat('duration', isDuration);
  ajv.addSchema(document, 'asyncapi');
  const check = (name: string) =>
    ajv.compile({ $ref: `asyncapi#/components/messages/${name}/payload` });
  const checks = new Map(Object.keys(document.components.messages).map((one) => [one, check(one)]));
  return (text) => {
    const message = JSON.parse(text) as { type?: string };
    const known = checks.get(String(message.type));
    if (!known) return [`no message of the document has the type ${message.type}`];
    if (known(message)) return [];
    return (known.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  };
}
