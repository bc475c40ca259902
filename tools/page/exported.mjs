/** The page of a run in one file, into dist/ui/exported: one script, with all views in it. */
import { join } from 'node:path';
import { build } from 'esbuild';

/** @returns what went into it, for its licences */
export const buildExported = (root, common) =>
  build({
    ...common,
    // A script inside of a document, or of a worker that is made of a text, is no module.
    format: 'iife',
    charset: 'ascii',
    outdir: join(root, 'dist/ui/exported'),
    entryPoints: ['begin', 'page', 'player'].map((name) => ({
      in: join(root, 'ui/exported', `${name}.ts`),
      out: name,
    })),
  });
