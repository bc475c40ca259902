/** Whose request it is, where proxies stand in between: only trusted ones are believed. */

/** As a socket shows it: an IPv4 address inside IPv6 is that IPv4 address. */
const plain = (address: string) =>
  address.includes(':') ? address.trim().replace(MAPPED, '') : address.trim();
const MAPPED = /^(?:0*:)*:?ffff:(?=\d+\.)/i;

/**
 * The nearest address that is no trusted proxy: the peer's own, or that of X-Forwarded-For from the
 * right, for as long as each is trusted.
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
