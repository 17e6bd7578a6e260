// The web pages of Revenant. START READING HERE: the address selects the page (router.ts), a page requests
// its data from the broker (resource.ts), and shared components are in parts/.
import { render, type ComponentType, type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { place } from './router';
import { resume, session } from './session';
import { Shell } from './shell';
import { Login } from './pages/login';
import { Failed, Loading, State } from './parts/states';
import { ApiError } from './api';

type PageModule = { [name: string]: ComponentType<PageProps> };
export interface PageProps {
  path: string[];
}

// Maps the first part of the address to the module with the page. Most modules are loaded on demand.
interface Route {
  first: string;
  parts: [number, number];
  load: () => Promise<PageModule>;
  page: string;
  title: (path: string[]) => string;
}

const admin = () => import('./pages/admin') as unknown as Promise<PageModule>;
const lists = () => import('./pages/lists') as unknown as Promise<PageModule>;
const named = (title: string) => () => title;
const routes: Route[] = [
  { first: '', parts: [0, 1], load: () => import('./pages/overview') as never, page: 'OverviewPage', title: named('Overview') },
  { first: 'queues', parts: [1, 1], load: () => import('./pages/queues') as never, page: 'QueuesPage', title: named('Queues') },
  { first: 'queues', parts: [3, 3], load: () => import('./pages/queue') as never, page: 'QueuePage', title: (path) => path[2]! },
  { first: 'streams', parts: [1, 1], load: lists, page: 'StreamsPage', title: named('Streams') },
  { first: 'exchanges', parts: [1, 1], load: lists, page: 'ExchangesPage', title: named('Exchanges') },
  { first: 'exchanges', parts: [3, 3], load: () => import('./pages/exchange') as never, page: 'ExchangePage', title: (path) => path[2]! },
  { first: 'connections', parts: [1, 1], load: lists, page: 'ConnectionsPage', title: named('Connections') },
  { first: 'connections', parts: [2, 2], load: () => import('./pages/connection') as never, page: 'ConnectionPage', title: (path) => path[1]! },
  { first: 'channels', parts: [1, 1], load: lists, page: 'ChannelsPage', title: named('Channels') },
  { first: 'channels', parts: [2, 2], load: () => import('./pages/connection') as never, page: 'ChannelPage', title: (path) => path[1]! },
  { first: 'dead-letters', parts: [1, 1], load: () => import('./pages/dead_letters') as never, page: 'DeadLettersPage', title: named('Dead letters') },
  { first: 'dead-letters', parts: [2, 2], load: () => import('./pages/dead_letters') as never, page: 'DeathsPage', title: named('Where messages die') },
  { first: 'topology', parts: [1, 2], load: () => import('./pages/topology') as never, page: 'TopologyPage', title: named('Topology') },
  { first: 'policies', parts: [1, 3], load: () => import('./pages/policies') as never, page: 'PoliciesPage', title: named('Policies') },
  { first: 'users', parts: [1, 1], load: admin, page: 'UsersPage', title: named('Users') },
  { first: 'users', parts: [2, 2], load: admin, page: 'UserPage', title: (path) => path[1]! },
  { first: 'vhosts', parts: [1, 1], load: admin, page: 'VhostsPage', title: named('Virtual hosts') },
  { first: 'vhosts', parts: [2, 2], load: admin, page: 'VhostPage', title: (path) => path[1]! },
  { first: 'limits', parts: [1, 1], load: admin, page: 'LimitsPage', title: named('Limits') },
  { first: 'cluster-name', parts: [1, 1], load: admin, page: 'ClusterPage', title: named('Cluster name') },
  { first: 'nodes', parts: [1, 1], load: admin, page: 'NodesPage', title: named('Nodes') },
  { first: 'nodes', parts: [2, 2], load: admin, page: 'NodePage', title: (path) => path[1]! },
  { first: 'feature-flags', parts: [1, 1], load: admin, page: 'FeatureFlagsPage', title: named('Feature flags') },
  { first: 'deprecated-features', parts: [1, 1], load: admin, page: 'DeprecatedPage', title: named('Deprecated features') },
  { first: 'definitions', parts: [1, 1], load: admin, page: 'DefinitionsPage', title: named('Definitions') },
];

function findRoute(path: string[]): Route | undefined {
  return routes.find((one) => one.first === (path[0] ?? '') && path.length >= one.parts[0] && path.length <= one.parts[1]);
}

const loaded = new Map<string, ComponentType<PageProps>>();

function Page(): JSX.Element {
  const { path } = place.use();
  const route = findRoute(path);
  const [, drawAgain] = useState(0);
  const [failed, setFailed] = useState(false);
  const key = route?.page ?? '';
  const shownKey = path.join('\n');
  const before = useRef<string>();
  useEffect(() => {
    document.title = `${route ? route.title(path) : 'Not found'} – Revenant`;
    // After a link, the new page starts at the top. The first page keeps the focus.
    if (before.current !== undefined && before.current !== shownKey) {
      window.scrollTo(0, 0);
      requestAnimationFrame(() => (document.querySelector<HTMLElement>('main h1') ?? document.getElementById('main'))?.focus({ preventScroll: true }));
    }
    before.current = shownKey;
  }, [shownKey]);
  useEffect(() => {
    if (!route || loaded.has(key)) return;
    let ended = false;
    setFailed(false);
    route.load().then((module) => {
      loaded.set(key, module[route.page]!);
      if (!ended) drawAgain((times) => times + 1);
    }).catch(() => { if (!ended) setFailed(true); });
    return () => void (ended = true);
  }, [key]);
  if (!route) return <State icon="search" title="There is no such page"><p><a href="#/">Overview</a></p></State>;
  const Found = loaded.get(key);
  if (failed && !Found) return <Failed error={new ApiError(0, 'unreachable', 'the broker cannot be reached')} retry={() => location.reload()} />;
  return Found ? <Found key={shownKey} path={path} /> : <Loading />;
}

function App(): JSX.Element | null {
  const user = session.use();
  const [ready, setReady] = useState(false);
  useEffect(() => void resume().finally(() => setReady(true)), []);
  if (!ready) return null;
  return user ? <Shell><Page /></Shell> : <Login />;
}

render(<App />, document.body);
