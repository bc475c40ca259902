/** Files that a server sends as they are: packed ahead, as small as they get, and listed. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Files named by what is in them end in eight letters of a hash. */
const IMMUTABLE = /-[A-Z0-9]{8}\.\w+$/;

export function writeList(folder, files) {
  const listed = files.map((file) => {
    const bytes = readFileSync(join(folder, file));
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(join(folder, `${file}.br`), brotliCompressSync(bytes, { params }));
    writeFileSync(join(folder, `${file}.gz`), gzipSync(bytes, { level: 9 }));
    const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
    return { file, type: types[extname(file)], digest, immutable: IMMUTABLE.test(file) };
  });
  writeFileSync(join(folder, 'files.json'), `${JSON.stringify(listed, null, 1)}\n`);
}
