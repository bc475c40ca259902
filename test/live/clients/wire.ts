/** A plain connection: partial requests, their remaining bytes, and the received bytes. */
import type { Socket } from 'node:net';
import { carriage, type SignedRequest } from 'folkmoot';
import { onTestFinished } from 'vitest';
import { Connection, dial } from '../../support/service/connection.js';
import type { Answer } from './caller.js';

export class Wire extends Connection {
  #text = '';
  /** Resolves to all received bytes when the connection has ended. */
  readonly over: Promise<string>;

  private constructor(socket: Socket) {
    super(socket);
    this.over = new Promise((resolve) => socket.on('close', () => resolve(this.#text)));
    onTestFinished(() => void socket.destroy());
  }

  static async open(url: string): Promise<Wire> {
    return new Wire(await dial(url));
  }

  protected received(chunk: Buffer): void {
    this.#text += chunk.toString('latin1');
  }

  /** Returns the first response; null if the connection ended without a response. */
  async answer(): Promise<Answer | null> {
    return (await this.answers(1))[0] ?? null;
  }

  /** Returns the first `count` responses, or fewer if the connection ended earlier. */
  async answers(count: number): Promise<Answer[]> {
    for (;;) {
      const found = parse(this.#text);
      if (found.length >= count || this.isOver) return found;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

/** Parses all complete responses. One character represents one byte. */
function parse(text: string): Answer[] {
  const found: Answer[] = [];
  for (let rest = text; ; ) {
    const end = rest.indexOf('\r\n\r\n') + 4;
    const [, length = ''] = /\r\ncontent-length: (\d+)\r\n/i.exec(rest.slice(0, end)) ?? [];
    const next = end + Number(length);
    if (end < 4 || rest.length < next) return found;
    const body = Buffer.from(rest.slice(end, next), 'latin1').toString();
    found.push({ status: Number(rest.split(' ', 2)[1]), text: body });
    rest = rest.slice(next);
  }
}

/** Encodes a request that is signed in its headers. */
function bytesOf(request: SignedRequest): Buffer {
  const { method } = carriage[request.kind];
  const head = [
    `${method} ${request.target} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${request.body.length}`,
    `X-Agent-Public-Key: ${request.public_key}`,
    `X-Timestamp: ${request.timestamp}`,
    `X-Agent-Signature: ${request.signature}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), request.body]);
}

/** A request without its last ten bytes. */
export class HalfSent {
  readonly request: SignedRequest;
  readonly #wire: Wire;

  private constructor(wire: Wire, request: SignedRequest) {
    this.#wire = wire;
    this.request = request;
    wire.send(bytesOf(request).subarray(0, -10));
  }

  static async send(url: string, request: SignedRequest): Promise<HalfSent> {
    return new HalfSent(await Wire.open(url), request);
  }

  /** Sends the remaining bytes, one at a time. */
  finish(): Promise<Answer | null> {
    for (const byte of bytesOf(this.request).subarray(-10)) this.#wire.send(Buffer.of(byte));
    return this.#wire.answer();
  }
}
