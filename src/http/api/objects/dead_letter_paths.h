// Dead-letter paths: the targets of each queue's dead letters, with the current settings and
// bindings. Read in parts, like every list (object_lists.h). Must not be called from a reactor
// thread.
#pragma once

#include "engine/view/query.h"
#include "http/api/object_lists.h"
#include "runtime/broker.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace revenant::http {

// The targets of one dead-letter address. Queues with the same policy share it.
struct Reach {
    std::string exchange_type;  // empty: the exchange does not exist
    // Sorted. All queues that the exchange can reach if the route depends on the message's key or
    // headers.
    std::vector<std::string> targets;
    // The targets are unknown: the default exchange, and dead letters keep their routing keys.
    bool unknown = false;
};

struct DeadLetterPath {
    std::string vhost;
    engine::DeadLetterSource source;
    std::shared_ptr<const Reach> reach;  // null: the queue has no dead-letter exchange
};

// Queues that have a dead-letter exchange or in which messages died, sorted by name.
std::vector<DeadLetterPath> dead_letter_paths_in(runtime::Broker& broker, const VhostRef& vhost);

// The targets of the dead-letter addresses in a virtual host. Each address is resolved once.
class Reaches {
  public:
    Reaches(runtime::Broker& broker, VhostRef vhost);

    // add() all sources, then call find_all() before find().
    void add(const engine::DeadLetterSource& source);
    void find_all();
    std::shared_ptr<const Reach> find(const engine::DeadLetterSource& source) const;

  private:
    using Known = std::map<engine::DeadLetterAddress, std::shared_ptr<Reach>>;

    void name_targets(std::span<const engine::DeadLetterAddress> addresses,
                      std::span<const engine::DeadLetterReach> reaches);
    const std::vector<std::string>& everything_behind(const std::string& exchange);
    void look_behind(const std::string& exchange, std::set<std::string>& queues,
                     std::vector<std::string>& exchanges) const;

    runtime::Broker& broker_;
    VhostRef vhost_;
    Known known_;
    std::map<std::string, std::vector<std::string>> behind_;  // by exchange
};

}  // namespace revenant::http
