// The golden catalog: every kind of event, half of them in a snapshot, half after it.
#pragma once

#include "journal/disk.h"

#include <string>

namespace revenant::golden {

void write_catalog(journal::Disk& disk, const std::string& directory);

}  // namespace revenant::golden
