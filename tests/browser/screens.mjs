// Screenshots of every screen: light and dark, wide and narrow. usage: node screens.mjs URL DIRECTORY [PATTERN_OF_NAMES]
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { open, token, Window } from './chromium.mjs';
import { fill, parkedScreens, readDamaged } from './places.mjs';

const [base, directory, only = ''] = process.argv.slice(2);
const wanted = ([name]) => new RegExp(`^(${only || '.*'})$`).test(name);
mkdirSync(directory, { recursive: true });
const browser = await open();
const ask = async (path, method = 'GET', body = undefined) =>
  (await fetch(`${base}api${path}`, { method, body: body && JSON.stringify(body), headers: { authorization: `Basic ${token('guest')}` } })).json();
let pictures = 0;

async function inEveryLook(run) {
  for (const theme of ['light', 'dark']) for (const width of [1400, 400]) await run({ theme, width }, (name) => {
    pictures += 1;
    return join(directory, `${name}-${theme}-${width}.png`);
  });
}

// Charts show the last minute, with continuous traffic.
const lastMinute = (hash) => hash + (hash.includes('?') ? '&' : '?') + 'range=60';

async function take(window, file, [name, hash, text]) {
  await window.go(lastMinute(hash));
  await window.page.locator('main').getByText(text).first().waitFor({ state: 'attached' });
  await window.page.waitForTimeout(500);
  await window.page.screenshot({ path: file(name), fullPage: true });
}

// The broker samples an object from the first request on, so every page is opened a minute before its screenshot.
const early = await Window.open(browser, base);
for (const [, hash] of [...await fill(ask), ...parkedScreens].filter(wanted)) await early.go(lastMinute(hash));
await early.close();
await new Promise((done) => setTimeout(done, 70_000));

await inEveryLook(async (look, file) => {
  const first = await Window.open(browser, base, { ...look, login: false });
  await first.page.goto(base);
  await first.page.getByRole('button', { name: 'Log in' }).waitFor();
  if (wanted(['login'])) await first.page.screenshot({ path: file('login') });
  await first.close();
  const window = await Window.open(browser, base, look);
  for (const screen of (await fill(ask)).filter(wanted)) await take(window, file, screen);
  await window.close();
});

await readDamaged(ask);
await inEveryLook(async (look, file) => {
  const window = await Window.open(browser, base, look);
  for (const screen of parkedScreens.filter(wanted)) await take(window, file, screen);
  if (wanted(['parked-discard'])) await takeDiscard(window, file);
  await window.close();
});

async function takeDiscard(window, file) {
  await window.go('#/queues/%2F/shipping.labels');
  await window.page.getByRole('button', { name: /^Discard/ }).click();
  await window.page.getByRole('dialog').waitFor();
  await window.page.screenshot({ path: file('parked-discard') });
}

await browser.close();
console.log(`${pictures} pictures in ${directory}`);
