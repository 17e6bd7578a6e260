// The admin pages. The module is loaded when the first of them is opened.
export { UsersPage, UserPage } from './users';
export { VhostsPage, VhostPage, LimitsPage } from './vhosts';
export { ClusterPage, DefinitionsPage, DeprecatedPage, FeatureFlagsPage, NodePage, NodesPage } from './broker';
