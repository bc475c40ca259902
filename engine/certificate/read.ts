/** From bytes to a certificate, or a refusal: size, UTF-8, JSON, shape, the one way to write it. */
import { parseJson } from '../protocol/json.js';
import { pointerStep } from '../protocol/pointer.js';
import { type Certificate, certificateText, Refused } from './format.js';
import { certificateShape, type Shape } from './schema.js';

const encoder = new TextEncoder();

/** @throws {Refused} */
export function readCertificate(given: string | Uint8Array, mostBytes: number): Certificate {
  // No character takes less than a byte: what is too long is not encoded first.
  const size = given.length > mostBytes ? given.length : bytesOf(given).length;
  if (size > mostBytes) {
    throw new Refused('', `it has ${size} bytes or more; at most ${mostBytes} are read`);
  }
  const parsed = parseJson(bytesOf(given));
  if ('message' in parsed) throw new Refused(parsed.pointer, `is refused: ${parsed.message}`);
  assertShape(certificateShape, parsed.value, '');
  const certificate = parsed.value as Certificate;
  if (!sameBytes(encoder.encode(certificateText(certificate)), bytesOf(given))) {
    throw new Refused('', 'it is not written as canonical JSON (RFC 8785) and one line feed');
  }
  return certificate;
}

const bytesOf = (given: string | Uint8Array) =>
  typeof given === 'string' ? encoder.encode(given) : given;

const sameBytes = (a: Uint8Array, b: Uint8Array) =>
  a.length === b.length && a.every((byte, index) => byte === b[index]);

function assertShape(shape: Shape, value: unknown, where: string): void {
  if (shape.type === 'string') return assertText(shape, value, where);
  if (shape.type === 'integer') {
    const { minimum, maximum } = shape;
    if (Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum) return;
    throw new Refused(where, `expected an integer from ${minimum} to ${maximum}`);
  }
  if (shape.type === 'array') return assertItems(shape, value, where);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refused(where, 'expected an object');
  }
  const lacking = shape.required.find((name) => !Object.hasOwn(value, name));
  if (lacking !== undefined) throw new Refused(where, `has no member ${lacking}`);
  for (const [name, member] of Object.entries(value)) {
    const inner = `${where}/${pointerStep(name)}`;
    const of = Object.hasOwn(shape.properties, name) ? shape.properties[name] : undefined;
    if (of === undefined) throw new Refused(inner, 'is a member that certificates do not have');
    assertShape(of, member, inner);
  }
}

function assertText(shape: Shape & { type: 'string' }, value: unknown, where: string): void {
  if (typeof value !== 'string') throw new Refused(where, 'expected a text');
  if (shape.enum && !shape.enum.includes(value)) {
    throw new Refused(where, `expected ${shape.enum.map((one) => `"${one}"`).join(' or ')}`);
  }
  if (shape.pattern !== undefined && !new RegExp(shape.pattern).test(value)) {
    throw new Refused(where, `does not match ${shape.pattern}`);
  }
}

function assertItems(shape: Shape & { type: 'array' }, value: unknown, where: string): void {
  if (!Array.isArray(value)) throw new Refused(where, 'expected an array');
  const { items, minItems, maxItems } = shape;
  if (value.length < minItems || value.length > maxItems) {
    throw new Refused(where, `expected ${minItems} to ${maxItems} items, found ${value.length}`);
  }
  for (const [index, item] of value.entries()) assertShape(items, item, `${where}/${index}`);
}
