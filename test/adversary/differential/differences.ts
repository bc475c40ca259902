/**
 * The rows in the protocol's table of transport differences, with the cases that show each
 * difference.
 */

/** The start of a row's first cell, and the names of the row's cases. */
export const rows: readonly (readonly [row: string, ...names: RegExp[]])[] = [
  [
    '`Transfer-Encoding` together with',
    /^(length and chunks|chunks and length) /,
    /^length (-1|\+2|0x2|x|1 1) /,
  ],
  ['`Content-Length` twice', /^two (equal )?lengths /, /^length (\u00b2)? ?at /],
  ['a `Transfer-Encoding` with a coding', /^encoding chunked, (gzip|chunked) /],
  [
    'a bare LF,',
    /^head[^:]*: (a blank|a tab|a folded|no colon|a high byte in a name|NUL|a control)/,
    /^head[^:]*: (a bare LF|a parenthesis|a quote)/,
    /^no host$|^a line feed last$|^encoding \.chunked/,
  ],
  ['an empty `Transfer-Encoding`', /^encoding {2}at /],
  ['`Host` twice', /: two (equal )?hosts$/],
  ['a bare CR', /: a bare CR in a value$/],
  ['DEL in the value', /: DEL in a value$/],
  ['a header with an empty name', /: no name$/],
  [
    'a malformed request line',
    /^method (G\u00c9T|G ET)/,
    /^version (HTTP\/1\.2|HTTP\/9|HTTP\/1\.1 |http|HTTP\/1\.1x|HTTP$|$|ICY)/,
    /^(no target|a tab|TLS|NULs|high bytes|line feeds only|a line feed first)$/,
    /^target (\/healthz\.|healthz|a:80|\?x)$/,
  ],
  ['HTTP/1.0', /^version HTTP\/1\.0$/, /^two blanks$/],
  ['a request line without a version', /^no version$/],
  ['the target `*`', /^target (\*|https?:)/],
  ['a target with bytes beyond', /^target \/healthz\u00ff$/],
  ['an empty line before', /empty lines? first$/],
  ['an unknown method', /^method (PRI|get|Get|BREW|)( at .*)?$/],
  ['`CONNECT`', /^method CONNECT/],
  ['further requests sent together', /^refused, and another$/],
  ['headers beyond 4 KiB', /: (101|1,000) headers$/, /: a header of (5|20) KiB$/],
  ['a request line in two segments', /^cut behind its target$/],
  ['a WebSocket handshake without', /^upgrade (without (Connection|Upgrade)|to )/],
  ['a WebSocket handshake whose', /^upgrade (key !|with two bad protocols)/],
];

/** Rows that depend on timing. test/api/transport/deadline.test.ts covers these rows. */
export const timed: readonly string[] = ['a body slower than'];
