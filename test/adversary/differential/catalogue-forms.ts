/** Malformed forms on which no parser may hang. */

export interface RawForm {
  name: string;
  type: string;
  body: string;
}

const TYPE = 'multipart/form-data; boundary=v';
const part = (head: string, body: string) => `--v\r\n${head}\r\n\r\n${body}\r\n`;
const named = (name: string, body: string) =>
  part(`Content-Disposition: form-data; name="${name}"`, body);
const file = (body: string, more = '; filename="m"') =>
  part(`Content-Disposition: form-data; name="meme_file"${more}`, body);
const END = '--v--\r\n';
const signature = named('signature', '0'.repeat(128));
const whole = `${named('caption', 'c')}${named('tags', 'a')}${signature}${file('GIF89a')}${END}`;

const bodies: Record<string, string> = {
  whole,
  empty: '',
  'an end only': END,
  'an end without line ends': '--v--',
  'a beginning only': '--v',
  'a beginning and an end': '--v\r\n--v--',
  'another boundary': whole.replaceAll('--v', '--w'),
  'no end': whole.slice(0, -END.length),
  'half an end': whole.slice(0, -3),
  'a preamble': `before\r\n${whole}`,
  'an epilogue': `${whole}after`,
  'line feeds': whole.replaceAll('\r\n', '\n'),
  'no file': `${signature}${END}`,
  'no signature': `${file('GIF89a')}${END}`,
  'no blank line': `--v\r\nContent-Disposition: form-data; name="a"\r\nb\r\n${END}`,
  'no disposition': part('X: y', 'b') + END,
  'no name': part('Content-Disposition: form-data', 'b') + END,
  'an empty name': named('', 'b') + END,
  attachment: part('Content-Disposition: attachment; name="a"', 'b') + END,
  'a file without a name': file('GIF89a', '') + signature + END,
  'a file of nothing': file('') + signature + END,
  'a file without filename': file('GIF89a', '; filename=""') + signature + END,
  'two files': `${signature}${file('GIF89a')}${file('GIF89a')}${END}`,
  'a tags array': `${named('tags', '["a","b"]')}${signature}${file('GIF89a')}${END}`,
  'a tags array of numbers': `${named('tags', '[1]')}${signature}${file('GIF89a')}${END}`,
  'a broken tags array': `${named('tags', '["a"')}${signature}${file('GIF89a')}${END}`,
  '33 parts without an end': named('a', 'b').repeat(33),
  '33 parts': named('a', 'b').repeat(33) + END,
  '500 parts without an end': named('a', 'b').repeat(500),
  'a field of 17 KiB': named('caption', 'x'.repeat(17_000)) + signature + file('GIF89a') + END,
  'a header of 9 KiB': part(`X: ${'x'.repeat(9_000)}`, 'b') + END,
  'a header of 17 KiB': part(`X: ${'x'.repeat(17_000)}`, 'b') + END,
  '2,000 headers': part('X: y\r\n'.repeat(2_000), 'b') + END,
  'a part in a part':
    part('Content-Type: multipart/mixed; boundary=w', '--w\r\n\r\nb\r\n--w--') + END,
  base64:
    part('Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64', 'eA==') +
    END,
  'utf-7':
    part(
      'Content-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=utf-7',
      '+ADw-',
    ) + END,
  NULs: '\u0000'.repeat(100),
  'a bare CR at the end': `${whole.slice(0, -2)}\r`,
  hyphens: '-'.repeat(3_000),
  boundaries: '--v\r\n'.repeat(300),
  __proto__: named('__proto__', 'x') + whole,
  'a name that is extended': part("Content-Disposition: form-data; name*=utf-8''%ff", 'b') + END,
  'a quote in a name': part('Content-Disposition: form-data; name="a\\"b"', 'b') + END,
  'a path as filename': file('GIF89a', '; filename="../../etc/passwd"') + signature + END,
};

const types: Record<string, string> = {
  'no boundary': 'multipart/form-data',
  'an empty boundary': 'multipart/form-data; boundary=',
  'a quoted boundary': 'multipart/form-data; boundary="v"',
  'a quote that does not end': 'multipart/form-data; boundary="v',
  'charset first': 'multipart/form-data; charset=utf-8; boundary=v',
  'two boundaries': 'multipart/form-data; boundary=v; boundary=w',
  'upper case': 'MULTIPART/FORM-DATA; BOUNDARY=v',
  'a long boundary': `multipart/form-data; boundary=${'v'.repeat(500)}`,
  mixed: 'multipart/mixed; boundary=v',
  urlencoded: 'application/x-www-form-urlencoded',
  json: 'application/json',
};

/**
 * The shortest forms that once got no response: a boundary of two letters, and a line made of these
 * letters.
 */
const short: RawForm[] = [
  { name: 'of 11 bytes', type: 'multipart/form-data; boundary=X', body: '--Xv\r\n--X--' },
  { name: 'of 4 bytes', type: 'multipart/form-data; boundary=X', body: '--X-' },
];

export const forms: readonly RawForm[] = [
  ...Object.entries(bodies).map(([name, body]) => ({ name, type: TYPE, body })),
  ...Object.entries(types).map(([name, type]) => ({ name, type, body: whole })),
  ...short,
];
