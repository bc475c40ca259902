/** What stands in the file: gzip in base64, in a script element that is none. */

/** @throws {Error} where it is not there */
function textOf(id: string): string {
  const text = document.getElementById(id)?.textContent;
  if (text) return text;
  throw new Error(`its part “${id}” is missing`);
}

/** Its bytes as they are packed; no copy of it is left in the document. */
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

/** Says that nothing can be shown: of the page there may be nothing yet. */
export function showFailure(error: Error): void {
  document.getElementById('page')!.textContent =
    `This file cannot be shown: ${error.message}. It may not be whole, or the browser is too old.`;
}
