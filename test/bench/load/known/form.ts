/** Parses a meme's form with the server's library. */
import { Readable } from 'node:stream';
import busboy from '@fastify/busboy';

export interface Form {
  caption: string;
  tags: string[];
  signature: string;
  file: Buffer;
}

export async function readForm(contentType: string, raw: Buffer): Promise<Form> {
  const form: Form = { caption: '', tags: [], signature: '', file: Buffer.alloc(0) };
  const parser = new busboy.Busboy({ headers: { 'content-type': contentType } });
  parser.on('field', (name, value) => {
    if (name === 'caption' || name === 'signature') form[name] = value;
    if (name === 'tags') form.tags.push(...tagsOf(value));
  });
  parser.on('file', (_, file) => {
    const chunks: Buffer[] = [];
    file.on('data', (chunk: Buffer) => chunks.push(chunk));
    file.on('end', () => {
      form.file = Buffer.concat(chunks);
    });
  });
  await new Promise((resolve, reject) => {
    parser.once('finish', resolve);
    parser.once('error', reject);
    Readable.from([raw]).pipe(parser);
  });
  return form;
}

/** Parses one tag, or all tags as a JSON array. */
const tagsOf = (value: string): string[] => (value.startsWith('[') ? JSON.parse(value) : [value]);
