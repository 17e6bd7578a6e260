// AMQP 1.0 cases, written as users of rhea write them.
// Usage: node cases.js HOST PORT HTTP_PORT [CASE]...
'use strict';

require('./cases_messages.js');
require('./cases_links.js');
require('./cases_dead_letters.js');
require('./cases_management.js');

require('./peer.js').runAll().catch((error) => {
    console.error(error);
    process.exit(1);
});
