/**
 * Reads the size that an image declares in its header. The page checks this size before decoding,
 * because an image of a few bytes may declare more pixels than fit in memory.
 */

interface Size {
  width: number;
  height: number;
}

type ImageKind = 'png' | 'jpeg' | 'gif' | 'webp';

/** Returns null for an unsupported format or a header without a size. */
export function readImageSize(bytes: Uint8Array): (Size & { kind: ImageKind }) | null {
  if (bytes.length < 30) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = (from: number, length: number) =>
    String.fromCharCode(...bytes.subarray(from, from + length));
  if (text(0, 3) === 'GIF') {
    return { kind: 'gif', width: view.getUint16(6, true), height: view.getUint16(8, true) };
  }
  if (text(1, 3) === 'PNG' && text(12, 4) === 'IHDR') {
    return { kind: 'png', width: view.getUint32(16), height: view.getUint32(20) };
  }
  if (text(0, 4) === 'RIFF' && text(8, 4) === 'WEBP') return webp(view, text(12, 4));
  return bytes[0] === 0xff && bytes[1] === 0xd8 ? jpeg(view) : null;
}

function webp(view: DataView, chunk: string): (Size & { kind: 'webp' }) | null {
  if (chunk === 'VP8X') {
    const width = 1 + (view.getUint16(24, true) | (view.getUint8(26) << 16));
    return {
      kind: 'webp',
      width,
      height: 1 + (view.getUint16(27, true) | (view.getUint8(29) << 16)),
    };
  }
  if (chunk === 'VP8L') {
    const bits = view.getUint32(21, true);
    return { kind: 'webp', width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
  }
  if (chunk !== 'VP8 ') return null;
  const [width, height] = [view.getUint16(26, true), view.getUint16(28, true)];
  return { kind: 'webp', width: width & 0x3fff, height: height & 0x3fff };
}

/** Skips to the start-of-frame segment. */
function jpeg(view: DataView): (Size & { kind: 'jpeg' }) | null {
  for (let at = 2; at + 9 < view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) {
      return { kind: 'jpeg', height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    }
    at += 2 + view.getUint16(at + 2);
  }
  return null;
}
