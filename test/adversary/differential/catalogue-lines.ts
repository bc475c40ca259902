/** Request lines and targets for the differential run: unusual, invalid, and ordinary. */
import { get, HOST, type RawCase, REGISTER, rawCase } from './raw-case.js';

const methods = [
  ...'GET HEAD OPTIONS POST PUT PATCH DELETE TRACE CONNECT PRI LOCK'.split(' '),
  ...['get', 'Get', 'BREW', 'G\u00c9T', 'G ET', '', 'M-SEARCH', 'QUERY'],
];
const versions = [
  ...['HTTP/0.9', 'HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/9.9', 'HTTP/1.1 ', 'http/1.1'],
  ...['HTTP/1.1x', 'HTTP', '', 'ICY'],
];

export const requestLines: RawCase[] = [
  ...methods.map((method) => rawCase(`method ${method}`, [`${method} /healthz HTTP/1.1`, HOST])),
  ...methods.map((method) =>
    rawCase(`method ${method} at a write`, [`${method} ${REGISTER} HTTP/1.1`, HOST]),
  ),
  ...methods.map((method) =>
    rawCase(`method ${method} at nothing`, [`${method} /nothing HTTP/1.1`, HOST]),
  ),
  ...versions.map((version) => rawCase(`version ${version}`, [`GET /healthz ${version}`, HOST])),
  rawCase('no version', ['GET /healthz', HOST]),
  rawCase('no target', ['GET HTTP/1.1', HOST]),
  rawCase('two blanks', ['GET  /healthz  HTTP/1.1', HOST]),
  rawCase('a tab', ['GET\t/healthz\tHTTP/1.1', HOST]),
  rawCase('an empty line first', ['', 'GET /healthz HTTP/1.1', HOST]),
  rawCase('three empty lines first', ['', '', '', 'GET /healthz HTTP/1.1', HOST]),
  rawCase('TLS', ['\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003']),
  rawCase('NULs', ['\u0000'.repeat(40)]),
  rawCase('high bytes', ['\u00ff'.repeat(40)]),
];

const targets = [
  ...'/ * // //healthz /healthz/ /healthz? /healthz#x /./healthz /x/../healthz'.split(' '),
  ...[
    '/%68ealthz',
    '/healthz%00',
    '/healthz\u0000',
    '/healthz\u00ff',
    '/healthz\u0001',
    '/healthz"',
    '/<>',
  ],
  ...[
    '/\\',
    '/a|b',
    '/{x}',
    '/[x]',
    '/^',
    '/`',
    '/healthz;x',
    '/%',
    '/%zz',
    '/%ff',
    '/%c3%a4',
    'healthz',
  ],
  ...'http://127.0.0.1/healthz https://a/healthz a:80 ?x /? /docs /docs/ /api'.split(' '),
  ...['/api/v1', '/api/v1/', '/api/v1/meta/', '/API/V1/META', '/ws/v1', '/ws/v1?x', '/ws/v1/'],
  `/${'x'.repeat(1_000)}`,
];

const reads = [
  ...['network/agents', 'blocks', 'social/alliances', 'events', `blocks/${'0'.repeat(64)}/votes`],
];
const queries = [
  ...'limit=0 limit=1 limit=1000 limit=1001 limit=-1 limit=1.5 limit=1e2 limit='.split(' '),
  ...'limit=%31 limit=1&limit=2 limit=+1 limit=0x1 limit=%00 cursor=%00 cursor=x'.split(' '),
  ...[`cursor=${'x'.repeat(513)}`, 'cursor=', 'after=-1', 'after=1e9', 'after=9007199254740993'],
  ...['topics=x', 'topics=', 'topics=,', 'status=x', 'status=voting', '%', '=', '&&', 'unknown=1'],
];
const paths = [
  ...['agents/x', `agents/agent_${'0'.repeat(32)}`, `agents/AGENT_${'0'.repeat(32)}`, 'agents/%00'],
  ...[
    'blocks/x',
    `blocks/${'F'.repeat(64)}`,
    'blocks/%00',
    'transactions/x',
    'state/%00',
    'state/%ff',
  ],
  ...['state/a%2Fb', 'state/a/b', `state/${'x'.repeat(129)}`, 'state/__proto__', 'state/%E0%A4%A'],
  ...['social/memes/x/content', 'social/reputation/x', 'debug/ws/x', 'debug/ws/constructor'],
];

export const targetLines: RawCase[] = [
  ...targets.map((target) => rawCase(`target ${target.slice(0, 40)}`, get(target))),
  ...reads.flatMap((read) =>
    queries.map((query) =>
      rawCase(`${read.slice(0, 12)}?${query.slice(0, 40)}`, get(`/api/v1/${read}?${query}`)),
    ),
  ),
  ...paths.map((path) => rawCase(`path ${path.slice(0, 40)}`, get(`/api/v1/${path}`))),
];
