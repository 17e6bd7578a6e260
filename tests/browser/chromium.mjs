// A Chromium browser, pages that collect errors, and assertions for the cases.
import { chromium } from 'playwright-core';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const options = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

export const open = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: options,
  downloadsPath: mkdtempSync(join(tmpdir(), 'revenant-browser-')) });

export const token = (user, password = user) => Buffer.from(`${user}:${password}`).toString('base64');

export class Failure extends Error {}

export function equal(actual, wanted, what) {
  if (JSON.stringify(actual) !== JSON.stringify(wanted)) {
    throw new Failure(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(wanted)}`);
  }
}

export function holds(condition, what) {
  if (!condition) throw new Failure(what);
}

/** A browser window that is logged in and collects all errors. */
export class Window {
  static async open(browser, base, { user = 'guest', login = true, width = 1400, height = 900, theme = 'light', ...more } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, acceptDownloads: true, ...more });
    await context.addInitScript(() => { if (localStorage.getItem('revenant.vhost') === null) localStorage.setItem('revenant.vhost', '/'); });
    if (login) await context.addInitScript((value) => { if (!sessionStorage.getItem('revenant.token')) sessionStorage.setItem('revenant.token', value); }, token(user));
    const page = await context.newPage();
    page.setDefaultTimeout(15000);
    return new Window(context, page, base);
  }

  constructor(context, page, base) {
    this.context = context;
    this.page = page;
    this.base = base;
    this.wrong = [];
    this.requests = 0;
    page.on('console', (message) => {
      if (message.type() === 'error' || /Content Security Policy|Refused to/.test(message.text())) this.wrong.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => this.wrong.push(`error: ${error.message}`));
    page.on('requestfailed', (request) => {
      if (!/ABORTED/.test(request.failure()?.errorText ?? '')) this.wrong.push(`failed: ${request.url()} ${request.failure()?.errorText}`);
    });
    page.on('request', (request) => {
      this.requests += 1;
      if (!request.url().startsWith(base) && !/^(blob|data):/.test(request.url())) this.wrong.push(`elsewhere: ${request.url()}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 400) this.wrong.push(`${response.status()}: ${response.url()}`);
    });
  }

  async go(hash) {
    await this.page.goto(this.base + hash);
    await this.page.locator('main h1').first().waitFor();
  }

  text(locator = 'main') {
    return this.page.locator(locator).first().innerText();
  }

  async sees(text, locator = 'body') {
    await this.page.locator(locator).getByText(text).first().waitFor();
  }

  /** Removes collected errors that match the pattern. */
  forgive(pattern) {
    this.wrong = this.wrong.filter((one) => !pattern.test(one));
  }

  async close() {
    await this.context.close();
    if (this.wrong.length > 0) throw new Failure([...new Set(this.wrong)].slice(0, 5).join('; '));
  }
}
