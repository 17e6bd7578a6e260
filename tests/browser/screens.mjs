// Pictures of every screen: light and dark, wide and narrow. usage: node screens.mjs URL DIRECTORY
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { open, token, Window } from './chromium.mjs';
import { fill } from './places.mjs';

const [base, directory] = process.argv.slice(2);
mkdirSync(directory, { recursive: true });
const browser = await open();
const ask = async (path) => (await fetch(`${base}api${path}`, { headers: { authorization: `Basic ${token('guest')}` } })).json();
let pictures = 0;
for (const theme of ['light', 'dark']) {
  for (const width of [1400, 400]) {
    const first = await Window.open(browser, base, { theme, width, login: false });
    await first.page.goto(base);
    await first.page.getByRole('button', { name: 'Log in' }).waitFor();
    await first.page.screenshot({ path: join(directory, `login-${theme}-${width}.png`) });
    await first.close();
    const window = await Window.open(browser, base, { theme, width });
    for (const [name, hash, text] of await fill(ask)) {
      await window.go(hash);
      await window.page.locator('main').getByText(text).first().waitFor({ state: 'attached' });
      await window.page.waitForTimeout(500);
      await window.page.screenshot({ path: join(directory, `${name}-${theme}-${width}.png`), fullPage: true });
      pictures += 1;
    }
    await window.close();
  }
}
await browser.close();
console.log(`${pictures + 4} pictures in ${directory}`);
