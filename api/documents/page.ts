/** The page at /ui/: the files that its build made, by name. */
import { builtFiles } from './built-files.js';
import type { ServedFile } from './served-file.js';

/**
 * Everything comes from this server, nothing stands inline, and no text becomes markup or a script:
 * what strangers wrote is only ever text.
 */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types folkmoot',
].join('; ');

let files: Map<string, ServedFile> | null = null;

/** @returns null where there is no such file. */
export function pageFile(name: string): ServedFile | null {
  files ??= builtFiles('#page', pagePolicy);
  return files.get(name) ?? null;
}
