/** Plays the vectors on an engine with one seeded bug at a time, and prints their digests. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [package_, file] = process.argv.slice(2);
const { mutant, cases } = JSON.parse(readFileSync(file, 'utf8'));
let reached = 0;
globalThis.seeded = (was, is) => {
  if (was !== is) reached += 1;
  return is;
};
if (mutant) {
  const path = join(package_, 'dist/engine', mutant.file);
  const parts = readFileSync(path, 'utf8').split(mutant.find);
  if (parts.length !== 2) throw new Error(`${mutant.name}: ${parts.length - 1} matches`);
  writeFileSync(path, parts.join(mutant.becomes));
}
const load = (name) => import(pathToFileURL(join(package_, 'dist/sim/conformance', name)).href);
const [{ playCase }, { vectorCases }] = await Promise.all([load('harness.js'), load('cases.js')]);
const digests = {};
for (const one of vectorCases().filter(({ name }) => cases.includes(name))) {
  // A case that the bug ends early is identified by its error.
  digests[one.name] = await playCase(one).then(
    ({ digest }) => digest,
    (error) => `failed: ${error.message}`,
  );
}
process.stdout.write(JSON.stringify({ reached, digests }));
