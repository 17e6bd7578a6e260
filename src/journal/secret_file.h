// The file with the secret of a journal. Every batch has it as well; this is for a start that finds
// no whole batch in the last segment, and so could not tell a forged one from its own.
#pragma once

#include "base/result.h"
#include "journal/batch_format.h"
#include "journal/disk.h"

#include <string>

namespace revenant::journal {

// 0 if there is none, or none that could be read.
Secret read_secret(Disk& disk, const std::string& directory);
Result<void, IoError> keep_secret(Disk& disk, const std::string& directory, Secret secret);

}  // namespace revenant::journal
