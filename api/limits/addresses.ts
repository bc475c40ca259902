/**
 * Client addresses behind proxies, believing only trusted proxies, and the subjects under which
 * limits count them.
 */

/** Normalizes an address, by removing a port and converting IPv4-mapped IPv6 to IPv4. */
function plain(text: string): string {
  const address = withoutPort(text.trim());
  return address.includes(':') ? address.replace(MAPPED, '') : address;
}
const MAPPED = /^(?:0*:)*:?ffff:(?=\d+\.)/i;

/** Removes the port. Some proxies write `1.2.3.4:567`, `[::1]:567` or `[::1]`. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text);
  if (bracketed) return bracketed[1]!;
  return /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(text)?.[1] ?? text;
}

/**
 * Returns the nearest untrusted address: the peer's, or the rightmost untrusted address in
 * X-Forwarded-For.
 */
export function clientAddress(
  peer: string,
  forwarded: string | undefined,
  trusted: ReadonlySet<string>,
): string {
  if (trusted.size === 0) return plain(peer);
  const hops = [...(forwarded?.split(',') ?? []).map(plain), plain(peer)];
  let address = hops.pop()!;
  while (trusted.has(address) && hops.length > 0) address = hops.pop()!;
  return address;
}

/**
 * Returns an address's limit key. IPv6 addresses count by /64, because a client owns the whole /64.
 */
export function addressKey(address: string): string {
  if (!address.includes(':')) return `address:${address}`;
  const groups = groupsOf(address);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!mapped) {
    const network = groups.slice(0, 4).map((group) => group.toString(16));
    return `address:${network.join(':')}::/64`;
  }
  const [high = 0, low = 0] = groups.slice(6);
  return `address:${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/**
 * Returns the subject of an address's wider network, an IPv4 /24 or an IPv6 /48. Returns null for
 * other subjects.
 */
export function widerSubject(subject: string): string | null {
  if (subject.endsWith('::/64')) {
    return `${subject.slice(0, subject.lastIndexOf(':', subject.length - 6))}::/48`;
  }
  const dot = subject.lastIndexOf('.');
  return dot === -1 || subject.includes('/') ? null : `${subject.slice(0, dot)}.0/24`;
}

/** Parses an IPv6 address in any notation into eight groups. */
function groupsOf(address: string): number[] {
  const text = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) => {
    const group = (high: string, low: string) => (Number(high) * 256 + Number(low)).toString(16);
    return `${group(a, b)}:${group(c, d)}`;
  });
  const [left = '', right] = text.split('::');
  const numbers = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16) || 0);
  const head = numbers(left);
  const tail = right === undefined ? [] : numbers(right);
  return [
    ...head,
    ...new Array<number>(Math.max(0, 8 - head.length - tail.length)).fill(0),
    ...tail,
  ];
}
