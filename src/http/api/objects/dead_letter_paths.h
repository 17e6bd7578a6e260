// Dead-letter paths: which queues send their dead letters where, as settings and bindings are now.
// Found out in parts, as every list (object_lists.h), however many queues there are. From any
// thread but a reactor's.
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

// Where the letters to one address go. Queues under one policy share it.
struct Reach {
    std::string exchange_type;  // empty: the exchange does not exist
    // Sorted. Every queue that the exchange can lead to, where the key or the headers decide.
    std::vector<std::string> targets;
    // Nothing can be said of targets: the default exchange, and dead letters keep their keys.
    bool unknown = false;
};

struct DeadLetterPath {
    std::string vhost;
    engine::DeadLetterSource source;
    std::shared_ptr<const Reach> reach;  // none: the queue names no dead-letter exchange
};

// Queues that name a dead-letter exchange, and those in which messages died. Sorted by name.
std::vector<DeadLetterPath> dead_letter_paths_in(runtime::Broker& broker, const VhostRef& vhost);

// Addresses of one vhost to where they lead; each is found out once.
class Reaches {
  public:
    Reaches(runtime::Broker& broker, VhostRef vhost);

    // Before find().
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
