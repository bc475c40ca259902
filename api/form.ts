/** The multipart form of a meme: its fields as sent and its file, by a library that reads forms. */
import busboy from '@fastify/busboy';
import { limits, type Refusal, refuse } from '../engine/index.js';

export interface MemeUpload {
  caption: string;
  tags: string[];
  signature: string;
  file: Uint8Array;
}

const FIELD_BYTES = 16 * 1024;
const MOST_FIELDS = 32;

export function readForm(
  contentType: string,
  body: Uint8Array,
): Promise<MemeUpload | { refusal: Refusal }> {
  return new Promise((resolve) => {
    const bad = (message: string, pointer = '') =>
      resolve({ refusal: refuse('SCHEMA', message, { pointer }) });
    const fields = new Map<string, string[]>();
    let file: Buffer | null = null;
    let parser: busboy.Busboy;
    try {
      parser = new busboy.Busboy({
        headers: { 'content-type': contentType },
        limits: {
          fieldSize: FIELD_BYTES,
          fields: MOST_FIELDS,
          files: 1,
          fileSize: limits.memeFileBytes + 1,
          parts: MOST_FIELDS,
        },
      });
    } catch (error) {
      return bad(`the form cannot be read: ${(error as Error).message}`);
    }
    parser.on('field', (name, value, _nameTruncated, valueTruncated) => {
      if (valueTruncated) bad(`the field ${name} is too large`, `/${name}`);
      fields.set(name, [...(fields.get(name) ?? []), value]);
    });
    parser.on('file', (name, stream) => {
      const chunks: Buffer[] = [];
      // A part that ends early is told here; unheard, it would end the process.
      stream.on('error', (error: Error) => bad(`the file cannot be read: ${error.message}`));
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (name === 'meme_file') file = Buffer.concat(chunks);
      });
    });
    parser.on('error', (error: Error) => bad(`the form cannot be read: ${error.message}`));
    parser.on('partsLimit', () => bad('the form has too many parts'));
    parser.on('fieldsLimit', () => bad('the form has too many fields'));
    parser.on('finish', () => {
      const tags = tagsOf(fields.get('tags') ?? []);
      if (!tags) return bad('tags is neither a repeated field nor a JSON array of texts', '/tags');
      if (!file) return bad('the file meme_file is missing', '/meme_file');
      const first = (name: string) => fields.get(name)?.[0] ?? '';
      resolve({ caption: first('caption'), tags, signature: first('signature'), file });
    });
    parser.end(body);
  });
}

/** `tags` is a repeated field, or one field with a JSON array. */
function tagsOf(values: string[]): string[] | null {
  const [only] = values;
  if (values.length !== 1 || !only?.trimStart().startsWith('[')) return values;
  try {
    const parsed: unknown = JSON.parse(only);
    return Array.isArray(parsed) && parsed.every((tag) => typeof tag === 'string') ? parsed : null;
  } catch {
    return null;
  }
}
