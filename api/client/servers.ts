/** The servers of one network, each as good as the others: one is left for the next. */
export class Servers {
  readonly #urls: readonly string[];
  #at = 0;

  /** @throws {TypeError} when there is none, or one that is none of HTTP. */
  constructor(url: string | readonly string[]) {
    const urls = typeof url === 'string' ? [url] : url;
    if (urls.length === 0)
      throw new TypeError('url: expected one server, or several of one network');
    for (const one of urls) {
      if (!URL.canParse(one) || !/^https?:$/.test(new URL(one).protocol)) {
        throw new TypeError(`url: expected http:// or https://, got ${one}`);
      }
    }
    this.#urls = urls.map((one) => one.replace(/\/+$/, ''));
  }

  get count(): number {
    return this.#urls.length;
  }

  /** Who is asked; without a slash at its end. */
  get current(): string {
    return this.#urls[this.#at]!;
  }

  /** The next one is asked, unless somebody left it already. */
  leave(url: string): void {
    if (this.current === url) this.#at = (this.#at + 1) % this.#urls.length;
  }
}
