/** What names a request in its answer, in refusals and in the log of whoever runs the server. */
import { randomUUID } from 'node:crypto';

const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Ids share all but their last four digits: to draw each by itself takes four times as long. */
let drawn = '';
let count = 0xffff;

/** A UUID that no other request has. */
export function requestId(): string {
  count = (count + 1) & 0xffff;
  if (count === 0) drawn = randomUUID().slice(0, -4);
  return `${drawn}${digits[count >> 8]}${digits[count & 0xff]}`;
}
