/** Heads of requests and of answers as texts: their parts one under the other. */
import type { Refusal } from '../../engine/internal.js';
import type { RequestHead } from '../transport/transport.js';

/** No part of a head that was parsed has a line end in it; one that has is written as JSON. */
const joined = (parts: readonly string[]): string =>
  parts.some((part) => part.includes('\n')) ? `[${JSON.stringify(parts)}` : ` ${parts.join('\n')}`;

const partsOf = (text: string): string[] =>
  text[0] === '[' ? (JSON.parse(text.slice(1)) as string[]) : text.slice(1).split('\n');

export function headText(head: Omit<RequestHead, 'address'>, address: string): string {
  const { method, target, fault, headers } = head;
  const parts = [method, target, address, fault === null ? '' : JSON.stringify(fault)];
  for (const [name, value] of headers) parts.push(name, value);
  return joined(parts);
}

export function headFrom(text: string): RequestHead {
  const parts = partsOf(text);
  const [method = '', target = '', address = '', fault = ''] = parts;
  const headers = new Map<string, string>();
  for (let at = 4; at < parts.length; at += 2) headers.set(parts[at]!, parts[at + 1]!);
  const query = target.indexOf('?');
  return {
    method,
    target,
    path: query < 0 ? target : target.slice(0, query),
    headers,
    address,
    fault: fault === '' ? null : (JSON.parse(fault) as Refusal),
  };
}

export function headersText(headers: Readonly<Record<string, string>>): string {
  const parts: string[] = [];
  for (const name in headers) parts.push(name, headers[name]!);
  return joined(parts);
}

export function headersFrom(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  if (text === ' ') return headers;
  const parts = partsOf(text);
  for (let at = 0; at < parts.length; at += 2) headers[parts[at]!] = parts[at + 1]!;
  return headers;
}
