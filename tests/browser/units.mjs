// Unit tests of the pages: the model of the topology, and the formatting of numbers, times and names. The last line is
// {"passed", "failed"}.
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const web = join(dirname(fileURLToPath(import.meta.url)), '../../web');
const esbuild = createRequire(join(web, 'package.json'))('esbuild');
const folder = mkdtempSync(join(tmpdir(), 'revenant-units-'));
const load = async (path) => {
  const outfile = join(folder, path.replaceAll('/', '-') + '.mjs');
  await esbuild.build({ entryPoints: [join(web, 'src', path)], outfile, bundle: true, format: 'esm', target: 'es2022', logLevel: 'error' });
  return import(pathToFileURL(outfile).href);
};
const { build, focusOn, overview, topicMatches } = await load('pages/topology_model.ts');
const { bytes, count, duration, rate, visible } = await load('format.ts');
const { steps, topOf } = await load('parts/scale.ts');

let passed = 0, failed = 0;
function equal(actual, wanted, what) {
  const good = JSON.stringify(actual) === JSON.stringify(wanted);
  good ? (passed += 1) : (failed += 1);
  if (!good) console.log(`FAILED  ${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(wanted)}`);
}

const queue = (name, more = {}, messages = 0) => ({ name, type: 'classic', messages, consumers: 0, arguments: more, effective_policy_definition: {} });
const dead = (exchange, key) => ({ 'x-dead-letter-exchange': exchange, ...(key === undefined ? {} : { 'x-dead-letter-routing-key': key }) });
const exchange = (name, type) => ({ name, type, arguments: {} });
const binding = (source, destination, routing_key, destination_type = 'queue') => ({ source, destination, destination_type, routing_key });

for (const [pattern, key, wanted] of [['a.b', 'a.b', true], ['a.*', 'a.b', true], ['a.*', 'a.b.c', false], ['#', '', true], ['a.#', 'a', true], ['a.#.z', 'a.b.c.z', true], ['*.z', 'z', false], ['#.#', 'x', true], ['a.#', 'b', false]]) {
  equal(topicMatches(pattern, key), wanted, `topic ${pattern} and ${key}`);
}

// work → dlx → dead; the exchange of lost does not exist; the key of astray has no binding.
const graph = build([queue('work', dead('dlx', 'k'), 3), queue('dead', {}, 7), queue('lost', dead('nosuch')), queue('astray', dead('dlx', 'x'))],
  [exchange('', 'direct'), exchange('dlx', 'direct'), exchange('in', 'topic')], [binding('', 'work', 'work'), binding('dlx', 'dead', 'k'), binding('in', 'work', 'a.#')]);
equal(graph.findings.map((one) => `${one.queue} ${one.kind}`).sort(), ['astray no-route', 'lost exchange-missing'], 'findings');
equal([graph.vertices.get('q dead').rests, graph.vertices.get('q work').rests, graph.vertices.get('x nosuch').missing], [true, false, true], 'marks');
equal(graph.edges.filter((edge) => edge.dead).map((edge) => `${edge.from} ${edge.to}`).sort(), ['q astray x dlx', 'q lost x nosuch', 'q work x dlx'], 'dead-letter paths');
equal(focusOn(graph, 'q dead', 1).vertices.map((vertex) => vertex.id), ['q dead', 'x dlx'], 'one step');
equal(overview(graph).vertices.length, 7, 'what is connected');

// Cycles: out → dlx → retry → in → out, and a queue that dead-letters to itself.
const circle = build([queue('out', dead('dlx')), queue('retry', dead('in', 'o')), queue('self', dead('', 'self'))],
  [exchange('dlx', 'fanout'), exchange('in', 'direct')], [binding('dlx', 'retry', ''), binding('in', 'out', 'o')]);
equal(circle.findings.map((one) => one.kind), ['cycle', 'cycle'], 'cycles');
equal(circle.edges.filter((edge) => edge.cycle).length, 5, 'edges of cycles');

// Above 500 queues, similar queues share a box, and at most 500 boxes are drawn.
const many = build([...Array.from({ length: 3000 }, (_, number) => queue(`w${number}`, dead('dlx', 'k'))), queue('dead')], [exchange('dlx', 'direct')], [binding('dlx', 'dead', 'k')]);
equal(overview(many).vertices.map((vertex) => vertex.name).sort(), ['3,000 queues', 'dead', 'dlx'], 'alike queues');
const apart = build(Array.from({ length: 3000 }, (_, number) => queue(`w${number}`, dead('', `w${(number + 1) % 3000}`))), [], []);
equal(overview(apart).vertices.length <= 500, true, 'never more than 500');
equal(focusOn(many, 'x dlx', 2).vertices.length, 500, 'nor around one');

for (const [high, wanted] of [[0, [0, 0.5, 1]], [null, [0, 0.5, 1]], [2.2, [0, 1, 2, 3]], [4, [0, 1, 2, 3, 4]], [5.1, [0, 2, 4, 6]], [26, [0, 10, 20, 30]], [810, [0, 250, 500, 750, 1000]], [1100, [0, 500, 1000, 1500]]]) {
  equal(steps(0, topOf(high)), wanted, `steps of a chart up to ${high}`);
}

equal([count(12932), count(12_900_000), count(undefined), count(0)], ['12,932', '12.9 M', '–', '0'], 'counts');
equal([rate(0), rate(0.01), rate(5.55), rate(12345.6)], ['0', '<0.1/s', '5.5/s', '12,346/s'], 'rates');
equal([bytes(0), bytes(1536), bytes(120 * 1024 * 1024)], ['0 B', '1.5 KiB', '120 MiB'], 'sizes');
equal([duration(250), duration(30000), duration(18 * 60000), duration(292 * 3600000)], ['250 ms', '30 s', '18 min', '12 d 4 h'], 'durations');
equal(visible('a\u001b[31m\u202Eb\u0000'), 'a⟨ESC⟩[31m⟨U+202E⟩b⟨NUL⟩', 'names');

rmSync(folder, { recursive: true });
console.log(`${failed ? 'FAILED ' : 'ok     '} ${passed} sums of the pages`);
console.log(JSON.stringify({ passed: failed ? 0 : 1, failed: failed ? 1 : 0 }));
