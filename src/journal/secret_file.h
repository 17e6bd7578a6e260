// The file with the secret of a journal. Every batch contains the secret as well; the file is
// needed if the last segment has no complete batch, to distinguish a forged batch from a real one.
#pragma once

#include "base/result.h"
#include "journal/batch_format.h"
#include "journal/disk.h"

#include <string>

namespace revenant::journal {

// Returns 0 if the file is missing or unreadable.
Secret read_secret(Disk& disk, const std::string& directory);
Result<void, IoError> keep_secret(Disk& disk, const std::string& directory, Secret secret);

}  // namespace revenant::journal
