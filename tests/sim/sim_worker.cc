#include "tests/sim/sim_worker.h"

#include <utility>

namespace revenant::sim {

void SimWorker::run(std::function<void()> work, std::function<void()> done) {
    waiting_.push_back({std::move(work), std::move(done)});
}

bool SimWorker::work_one() {
    if (waiting_.empty()) return false;
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    job.work();
    untold_.push_back(std::move(job.done));
    return true;
}

bool SimWorker::tell_one() {
    if (untold_.empty()) return false;
    const std::function<void()> done = std::move(untold_.front());
    untold_.pop_front();
    done();
    return true;
}

bool SimWorker::run_one() {
    if (untold_.empty() && !work_one()) return false;
    return tell_one();
}

void SimWorker::run_all() {
    while (run_one()) {
    }
}

void SimWorker::forget_all() {
    waiting_.clear();
    untold_.clear();
}

}  // namespace revenant::sim
