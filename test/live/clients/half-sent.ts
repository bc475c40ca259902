/** Requests whose last bytes are sent later. */
import { carriage, type SignedRequest } from 'folkmoot';
import { Line } from '../../support/service/line.js';
import type { Answer } from './caller.js';

/** Timeout far above any response time. */
const MOST_MS = 150_000;

/** Encodes a request that is signed in its headers. */
function bytesOf(request: SignedRequest): Buffer {
  const { method } = carriage[request.kind];
  const head = [
    ...[`${method} ${request.target} HTTP/1.1`, 'Host: localhost'],
    ...['Content-Type: application/json', `Content-Length: ${request.body.length}`],
    ...[`X-Agent-Public-Key: ${request.public_key}`, `X-Timestamp: ${request.timestamp}`],
    `X-Agent-Signature: ${request.signature}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), request.body]);
}

/** A request without its last ten bytes. */
export class HalfSent {
  readonly request: SignedRequest;
  readonly #line: Line;

  private constructor(line: Line, request: SignedRequest) {
    this.#line = line;
    this.request = request;
    onTestFinished(() => line.cut());
    line.send(bytesOf(request).subarray(0, -10));
  }

  static async send(url: string, request: SignedRequest): Promise<HalfSent> {
    return new HalfSent(await Line.open(url), request);
  }

  /** Sends the remaining bytes, one at a time. Returns null if the connection ends instead. */
  async finish(): Promise<Answer | null> {
    for (const byte of bytesOf(this.request).subarray(-10)) this.#line.send(Buffer.of(byte));
    const came = await this.#line.answer(MOST_MS);
    return typeof came === 'string' ? null : { status: came.status, text: came.body.toString() };
  }
}
