/** Response bytes: valid, without data, truncated, and endless. */
import type { ServerResponse } from 'node:http';
import type { Answer } from './network.js';

const json = { 'Content-Type': 'application/json; charset=utf-8' };

export function writeAnswer(response: ServerResponse, answer: Answer): void {
  const text = textOf(answer);
  const wait = answer.status === 503 ? { 'Retry-After': '1' } : {};
  response.writeHead(answer.status, {
    ...json,
    ...wait,
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

/** Announces the whole response, sends half of it and closes the connection. */
export function writeHalf(response: ServerResponse, answer: Answer): void {
  const text = textOf(answer);
  response.writeHead(answer.status, { ...json, 'Content-Length': Buffer.byteLength(text) });
  response.write(text.slice(0, text.length / 2), () => response.destroy());
}

/** Success responses without data. */
const lies: readonly string[] = [
  ...['', '{}', '{"success":true}', '{"success":true,"data":null}'],
  ...['{"success":true,"data":"done"}', '{"data":{}}', '{"success":true,"data":{"agent_id":"age'],
  '<!doctype html><title>200 OK</title>',
];

export function writeLie(response: ServerResponse, ordinal: number): void {
  const text = lies[ordinal % lies.length]!;
  response.writeHead(200, { ...json, 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}

const CHUNK = Buffer.alloc(65_536, ' ');
const CHUNK_EVERY_MS = 10;

/** Sends whitespace before a JSON text that never arrives, until the client closes. */
export function pour(response: ServerResponse): void {
  response.writeHead(200, json);
  const timer = setInterval(() => response.write(CHUNK), CHUNK_EVERY_MS);
  response.on('close', () => clearInterval(timer));
}

function textOf(answer: Answer): string {
  if ('data' in answer) return JSON.stringify({ success: true, data: answer.data });
  const { code, reason } = answer;
  const message = `${reason}: as this server was told to answer`;
  return JSON.stringify({ success: false, error: { code, message, details: { reason } } });
}
