/** Reads the parts of an exported file: gzip in base64, in script elements that do not run. */
import { PageError, pageText } from '../messages.js';

/** @throws {PageError} if the part is missing */
function textOf(id: string): string {
  const text = document.getElementById(id)?.textContent;
  if (text) return text;
  throw new PageError('FILE_PART_MISSING', { part: id });
}

/** Returns the packed bytes of a part, and removes the element to free its memory. */
export function takeBytes(id: string): Uint8Array<ArrayBuffer> {
  const bytes = decodeBase64(textOf(id));
  document.getElementById(id)!.remove();
  return bytes;
}

export function decodeBase64(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
  return bytes;
}

export const unpack = (id: string) => gunzip(takeBytes(id));

export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Replaces the page with an error message. */
export function showFailure(error: Error): void {
  const page = document.getElementById('page')!;
  page.setAttribute('role', 'alert');
  page.textContent = pageText('FILE_NOT_SHOWN', { message: error.message });
}
