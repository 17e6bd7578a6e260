// Checks and bundles the pages, and writes them as one C++ source file that the broker is linked with.
//
//   node build.mjs [--out DIRECTORY] [--no-check] [--watch]
//
// DIRECTORY (build/web) receives files/ (what is served), web_assets.bin (the same, compressed),
// web_assets.gen.cc (which includes it) and sizes.json (for the test of the sizes).
import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync, readdirSync, existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const option = (name) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const out = resolve(option('--out') ?? join(here, '../build/web'));
const watch = process.argv.includes('--watch');

// npm ci, but only when the lock file has changed since the last time.
async function install() {
  const lock = readFileSync(join(here, 'package-lock.json'));
  const digest = createHash('sha256').update(lock).digest('hex');
  const stamp = join(here, 'node_modules/.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, digest);
}

function run(program, args) {
  return new Promise((done, failed) => {
    execFile(program, args, { cwd: here, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (!error) return done();
      process.stderr.write(stdout + stderr);
      failed(new Error(`${program} failed`));
    });
  });
}

function compressed(bytes) {
  const gz = gzipSync(bytes, { level: 9 });
  gz[9] = 255; // the system that compressed it does not matter
  return gz;
}

const types = {
  html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml', txt: 'text/plain; charset=utf-8',
};

// What the authors of the packages in the bundle ask everybody to pass on.
function licenses() {
  return ['preact', 'uplot', '@dagrejs/dagre', '@dagrejs/graphlib'].map((name) => {
    const text = readFileSync(join(here, 'node_modules', name, 'LICENSE'), 'utf8');
    return `The web pages contain ${name}:\n\n${text.trim()}\n`;
  }).join('\n\n');
}

function page(outputs) {
  const named = (entry) => Object.keys(outputs).find((path) => outputs[path].entryPoint === entry).split('/').pop();
  return readFileSync(join(here, 'index.html'), 'utf8')
    .replace('@STYLE@', named('src/style.css')).replace('@SCRIPT@', named('src/main.tsx'));
}

// The bytes that must arrive before anything is shown, and all bytes; both compressed.
function sizes(files, outputs) {
  const needed = new Set(['index.html']);
  const follow = (path) => {
    const name = path.split('/').pop();
    if (needed.has(name)) return;
    needed.add(name);
    for (const imported of outputs[path]?.imports ?? []) {
      if (imported.kind === 'import-statement') follow(imported.path);
    }
  };
  for (const path of Object.keys(outputs)) if (['src/style.css', 'src/main.tsx'].includes(outputs[path].entryPoint)) follow(path);
  const result = { first: 0, all: 0, files: {} };
  for (const file of files) {
    result.all += file.gz.length;
    if (needed.has(file.name)) result.first += file.gz.length;
    result.files[file.name] = file.gz.length;
  }
  return result;
}

function source(files, binary) {
  const rows = [];
  let offset = 0;
  for (const file of files) {
    const lasting = /-[A-Z0-9]{8}\./.test(file.name);
    const tag = createHash('sha256').update(file.bytes).digest('hex').slice(0, 16);
    rows.push(`    {"${file.name}", "${types[file.name.split('.').pop()]}", "\\"${tag}\\"", ${lasting},\n` +
      `     part(${offset}, ${file.gz.length}), ${file.bytes.length}},`);
    offset += file.gz.length;
  }
  return `// Written by web/build.mjs.
#include "http/web/web_assets.h"

#include <array>

asm(".pushsection .rodata\\n"
    "revenant_web_assets_bytes:\\n"
    ".incbin \\"${binary}\\"\\n"
    ".byte 0\\n"
    ".popsection\\n");
extern "C" const char revenant_web_assets_bytes[];

namespace revenant::http {
namespace {

std::string_view part(std::size_t offset, std::size_t size) {
    return {&revenant_web_assets_bytes[offset], size};
}

}  // namespace

std::span<const WebAsset> web_assets() {
    static const std::array<WebAsset, ${files.length}> assets = {{
${rows.join('\n')}
    }};
    return assets;
}

}  // namespace revenant::http
`;
}

// A file that is the same as before keeps its time, so that nothing is compiled in vain.
function write(path, content) {
  if (existsSync(path) && readFileSync(path).equals(Buffer.from(content))) return;
  writeFileSync(path, content);
}

function finish(metafile) {
  const folder = join(out, 'files');
  writeFileSync(join(folder, 'index.html'), page(metafile.outputs));
  writeFileSync(join(folder, 'favicon.svg'), readFileSync(join(here, 'favicon.svg')));
  writeFileSync(join(folder, 'licenses.txt'), licenses());
  const files = readdirSync(folder).sort().map((name) => {
    const bytes = readFileSync(join(folder, name));
    return { name, bytes, gz: compressed(bytes) };
  });
  const binary = join(out, 'web_assets.bin');
  write(binary, Buffer.concat(files.map((file) => file.gz)));
  write(join(out, 'web_assets.gen.cc'), source(files, binary));
  const size = sizes(files, metafile.outputs);
  writeFileSync(join(out, 'sizes.json'), JSON.stringify(size, null, 1) + '\n');
  console.log(`web: first load ${(size.first / 1024).toFixed(1)} KB, all ${(size.all / 1024).toFixed(1)} KB, compressed`);
}

async function main() {
  await install();
  const esbuild = await import('esbuild');
  const folder = join(out, 'files');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const options = {
    absWorkingDir: here, entryPoints: ['src/main.tsx', 'src/style.css'], outdir: folder, bundle: true, splitting: true,
    format: 'esm', target: 'es2022', minify: !watch, metafile: true, legalComments: 'none', jsx: 'automatic',
    jsxImportSource: 'preact', entryNames: '[name]-[hash]', chunkNames: '[name]-[hash]', logLevel: 'warning',
  };
  if (watch) {
    const context = await esbuild.context({ ...options, plugins: [{
      name: 'finish', setup: (build) => build.onEnd((result) => { if (result.metafile) finish(result.metafile); }),
    }] });
    await context.watch();
    return;
  }
  const check = process.argv.includes('--no-check') ? null
    : run(process.execPath, [join(here, 'node_modules/typescript/bin/tsc'), '--noEmit', '--pretty', 'false']);
  const built = await esbuild.build(options);
  await check;
  finish(built.metafile);
}

main().catch((error) => {
  console.error(`web/build.mjs: ${error.message}`);
  process.exit(1);
});
