/** WebSocket messages drawn from the AsyncAPI document, and a check of all that a server says. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isDuration, parseInstant } from 'folkmoot';
import type { Agent } from '../../support/service/signer.js';
import { frame, opcodes, textFrame } from './frames.js';
import type { Chance } from './rng.js';
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

/** What the document says that a client sends; and frames that are none of it. */
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

  auth(chance: Chance, signing: Signing): Buffer {
    const by = chance.pick(this.#agents);
    const timestamp = stampOf(chance, signing);
    const input = `auth:${by.publicKey}:${timestamp}`;
    const signature = signatureOf(chance, by, input, signing);
    const message = { type: 'auth', public_key: by.publicKey, timestamp, signature };
    return textFrame(JSON.stringify(message));
  }

  /** One message or frame: of the document, near it, or far from it. */
  draw(chance: Chance): Buffer {
    if (chance.once(12)) return this.auth(chance, chance.pick(['right', 'wrong', 'other']));
    const value = this.#valid(chance);
    if (chance.once(2)) return this.#sent(chance, Buffer.from(JSON.stringify(value)));
    if (chance.once(2)) return textFrame(JSON.stringify(spoilt(chance, value)) ?? '');
    const payload = wounded(chance, JSON.stringify(value));
    if (chance.once(2)) return frame({ opcode: opcodes.text, payload });
    return chance.pick(oddities)(chance, payload);
  }

  #valid(chance: Chance): Record<string, unknown> {
    const { payload } = chance.pick(this.#received);
    const value = this.#values.valid(chance, payload) as Record<string, unknown>;
    const { topics = [] } = this.#known;
    if ('topics' in value && !chance.once(5)) {
      value.topics = Array.from({ length: 1 + chance.int(6) }, () => chance.pick(topics));
    }
    if ('since' in value && !chance.once(4)) {
      const seq = chance.pick([0, chance.int(200), 2 ** 40, Number.MAX_SAFE_INTEGER]);
      value.since = { epoch: chance.pick(this.#known.epoch ?? ['x']), seq };
    }
    return value;
  }

  /** Whole, or in fragments with a ping between. */
  #sent(chance: Chance, payload: Buffer): Buffer {
    if (!chance.once(5)) return frame({ opcode: opcodes.text, payload });
    const at = chance.int(payload.length + 1);
    return Buffer.concat([
      frame({ opcode: opcodes.text, payload: payload.subarray(0, at), final: false }),
      frame({ opcode: opcodes.ping, payload: chance.bytes(chance.int(126)) }),
      frame({ opcode: opcodes.more, payload: payload.subarray(at) }),
    ]);
  }
}

const oddities: readonly ((chance: Chance, payload: Buffer) => Buffer)[] = [
  (_, payload) => frame({ opcode: opcodes.binary, payload }),
  (chance) => frame({ opcode: opcodes.ping, payload: chance.bytes(chance.size(125)) }),
  (chance) => frame({ opcode: opcodes.pong, payload: chance.bytes(chance.size(125)) }),
  (chance) => frame({ opcode: opcodes.ping, payload: chance.bytes(126 + chance.int(200)) }),
  (chance, payload) => frame({ opcode: 3 + chance.int(13), payload }),
  (chance, payload) => frame({ opcode: opcodes.text, payload, reserved: 1 + chance.int(7) }),
  (_, payload) => frame({ opcode: opcodes.text, payload, masked: false }),
  (_, payload) => frame({ opcode: opcodes.more, payload }),
  (_, payload) => frame({ opcode: opcodes.ping, payload: payload.subarray(0, 9), final: false }),
  (_, payload) => {
    const part = frame({ opcode: opcodes.text, payload, final: false });
    return Buffer.concat([part, part]);
  },
  (chance, payload) => {
    const promised = chance.pick([2n ** 63n, 2n ** 40n, 1_000_000n, BigInt(payload.length + 1)]);
    return frame({ opcode: opcodes.text, payload, promised });
  },
  (chance) => {
    const size = chance.pick([16_384, 16_385, 65_536, 65_537, 300_000]);
    return frame({ opcode: opcodes.text, payload: Buffer.alloc(size, 'x') });
  },
  (chance) => frame({ opcode: opcodes.close, payload: chance.bytes(chance.size(125)) }),
  (chance) => {
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(chance.pick([0, 999, 1000, 1005, 1006, 1015, 3000, 4999, 5000]));
    return frame({ opcode: opcodes.close, payload });
  },
  (chance) => chance.bytes(1 + chance.int(300)),
];

/** Names what is wrong with a message of the server; empty where it is as documented. */
export function messageChecker(document: AsyncApi): (text: string) => string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  ajv.addFormat('date-time', (text: string) => parseInstant(text) !== null);
  ajv.addFormat('duration', isDuration);
  ajv.addSchema(document, 'asyncapi');
  const check = (name: string) =>
    ajv.compile({ $ref: `asyncapi#/components/messages/${name}/payload` });
  const checks = new Map(
    Object.keys(document.components.messages).map((name) => [name, check(name)]),
  );
  return (text) => {
    const message = JSON.parse(text) as { type?: string };
    const known = checks.get(String(message.type));
    if (!known) return [`no message of the document has the type ${message.type}`];
    if (known(message)) return [];
    return (known.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  };
}
