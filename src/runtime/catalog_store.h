// CatalogStore: the journal of the catalog. Changes are rare, so the caller waits for the disk.
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

    // Returns true if a catalog existed.
    Result<bool, std::string> load(Catalog& catalog);
    // Whether the disk has space for a change. Checked first, so that a full disk refuses a change
    // before it is made.
    bool has_room() const;
    // The record is durable on return. `rules` are those after the change.
    Result<void, std::string> append(const CatalogRecord& record, const AccessRules& rules);
    // Writes a snapshot at shutdown, so that later damage cannot look like a torn change.
    void close(const AccessRules& rules);

  private:
    // Runs all work synchronously.
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
