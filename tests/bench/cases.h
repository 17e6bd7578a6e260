// The benchmark cases. Each prepares, measures one kind of work and fills in the result line, or
// throws Failure.
#pragma once

#include "options.h"
#include "report.h"

namespace bench {

// cases_publish.cc
void run_publish(const Options& options, Report& report);
void run_confirm(const Options& options, Report& report);

// cases_consume.cc
void run_through(const Options& options, Report& report);
void run_backlog(const Options& options, Report& report);

// cases_dead_letter.cc
void run_reject(const Options& options, Report& report);
void run_expire(const Options& options, Report& report);
void run_maxlen(const Options& options, Report& report);
void run_chain(const Options& options, Report& report);
void run_retry(const Options& options, Report& report);

// cases_drain.cc
void run_drain(const Options& options, Report& report);

// cases_latency.cc
void run_latency(const Options& options, Report& report);

// cases_memory.cc
void run_memory(const Options& options, Report& report);

// cases_disk.cc
void run_disk_reject(const Options& options, Report& report);
void run_letters(const Options& options, Report& report);

// cases_restart.cc
void run_fill(const Options& options, Report& report);
void run_recovered(const Options& options, Report& report);

}  // namespace bench
