// CatalogStore: the catalog's own journal. Changes are rare, so whoever makes one waits for the
// disk.
#pragma once

#include "base/result.h"
#include "catalog/catalog.h"
#include "journal/disk.h"
#include "journal/disk_worker.h"
#include "journal/journal.h"

#include <memory>
#include <optional>
#include <string>

namespace revenant::runtime {

class CatalogStore {
  public:
    static Result<std::unique_ptr<CatalogStore>, std::string> open(journal::Disk& disk,
                                                                   const std::string& directory);

    // True if there was a catalog.
    Result<bool, std::string> load(Catalog& catalog);
    // Whether a change can be written down: a full disk refuses it before it is made.
    bool has_room() const;
    // Safe when it returns; the rules are those after it.
    Result<void, std::string> append(const CatalogRecord& record, const AccessRules& rules);
    // At a stop: what is damaged later cannot pass for a change that was torn.
    void close(const AccessRules& rules);

  private:
    // Does everything at once.
    class Inline final : public journal::DiskWorker {
      public:
        void run(std::function<void()> work, std::function<void()> done) override {
            work();
            done();
        }
    };

    journal::Disk* disk_ = nullptr;
    std::string directory_;
    Inline worker_;
    std::unique_ptr<journal::Journal> journal_;
    std::optional<std::string> failure_;
};

}  // namespace revenant::runtime
