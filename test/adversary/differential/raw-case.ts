/** A raw request: name and bytes. */

export interface RawCase {
  name: string;
  bytes: Buffer;
  /** Bytes sent a moment after the first bytes. */
  later?: Buffer;
}

export const HOST = 'Host: 127.0.0.1';

/** Builds a request from head lines, joined by CR LF, and a body. */
export function rawCase(name: string, lines: readonly string[], body: string | Buffer = '') {
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  const shown = name.replaceAll(/[^ -~\u0080-\u{10ffff}]/gu, '.');
  return { name: shown, bytes: Buffer.concat([head, Buffer.from(body as string)]) };
}

export const get = (target: string, ...more: string[]) => [`GET ${target} HTTP/1.1`, HOST, ...more];
export const post = (target: string, ...more: string[]) => [
  `POST ${target} HTTP/1.1`,
  HOST,
  ...more,
];

export const REGISTER = '/api/v1/agents/register';
export const JSON_TYPE = 'Content-Type: application/json';
export const sized = (body: string | Buffer) => `Content-Length: ${Buffer.byteLength(body)}`;
