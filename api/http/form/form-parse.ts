/** The multipart form of a meme: its fields as sent and its file, by a library that reads forms. */
import { Busboy } from '@fastify/busboy';

export interface MemeUpload {
  caption: string;
  tags: string[];
  signature: string;
  file: Uint8Array;
  /** Names of other fields. */
  unknown: string[];
}

export interface FormTask {
  contentType: string;
  body: Uint8Array;
  /** A file may have so many; of a larger one, one more is read. */
  fileBytes: number;
}

/** What is wrong with a form, and of which field. */
export interface FormProblem {
  problem: string;
  pointer: string;
}

export type ParsedForm = MemeUpload | FormProblem;

const known = new Set(['caption', 'tags', 'signature']);
const FIELD_BYTES = 16 * 1024;
const MOST_FIELDS = 32;
/** Turns of the event loop in which the library has done all that it will, for it has all bytes. */
const TURNS = 4;

/** Always settles; what the library throws in a later turn is for the thread that calls. */
export function parseForm({ contentType, body, fileBytes }: FormTask): Promise<ParsedForm> {
  return new Promise((resolve) => {
    const bad = (problem: string, pointer = '') => resolve({ problem, pointer });
    const parser = open(contentType, fileBytes, bad);
    if (!parser) return;
    const fields = new Map<string, string[]>();
    const unknown = new Set<string>();
    let file: Buffer | null = null;
    // The library gives undefined for a part without a name, against its types.
    parser.on('field', (given: string | undefined, value, _nameTruncated, valueTruncated) => {
      const name = given ?? '';
      if (valueTruncated) bad(`the field ${name} is too large`, `/${name}`);
      if (!known.has(name)) unknown.add(name);
      fields.set(name, [...(fields.get(name) ?? []), value]);
    });
    parser.on('file', (name, stream) => {
      const chunks: Buffer[] = [];
      stream.on('error', (error: Error) => bad(`the file cannot be read: ${error.message}`));
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (name === 'meme_file') file = Buffer.concat(chunks);
        else unknown.add(name ?? '');
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
      const [caption, signature] = [first('caption'), first('signature')];
      resolve({ caption, tags, signature, file, unknown: [...unknown] });
    });
    parser.end(body);
    afterTurns(TURNS, () => bad('the form has no end'));
  });
}

function open(
  contentType: string,
  fileBytes: number,
  bad: (problem: string) => void,
): InstanceType<typeof Busboy> | null {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: {
        fieldSize: FIELD_BYTES,
        fields: MOST_FIELDS,
        files: 1,
        fileSize: fileBytes + 1,
        parts: MOST_FIELDS,
      },
    });
  } catch (error) {
    bad(`the form cannot be read: ${(error as Error).message}`);
    return null;
  }
}

function afterTurns(turns: number, then: () => void): void {
  if (turns === 0) then();
  else setImmediate(() => afterTurns(turns - 1, then));
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
