/** The files that the build packed ahead: those of the page, and the viewer of the reference. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Coding, kept, type ServedFile } from './served-file.js';

/** A line of the list that `tools/page/pack.mjs` writes beside the files. */
interface Listed {
  file: string;
  type: string;
  digest: string;
  immutable: boolean;
}

const require = createRequire(import.meta.url);
const endings: Record<Coding, string> = { br: '.br', gzip: '.gz', identity: '' };

/** @param policy of the documents among them */
export function builtFiles(list: '#page' | '#viewer', policy: string): Map<string, ServedFile> {
  const path = require.resolve(list);
  const listed = JSON.parse(readFileSync(path, 'utf8')) as Listed[];
  return new Map(
    listed.map(({ file, type, digest, immutable }) => {
      const read = (coding: Coding) => readFileSync(join(dirname(path), file + endings[coding]));
      const served = { type, digest, immutable, bytes: kept(read) };
      return [file, type.startsWith('text/html') ? { ...served, policy } : served];
    }),
  );
}
