#include "tests/support/dead_letter_fixture.h"

namespace revenant::engine {
namespace {

std::string group_name(const ::testing::TestParamInfo<Group>& info) {
    switch (info.param) {
        case Group::classic:
            return "ClassicAtMostOnce";
        case Group::quorum:
            return "QuorumAtMostOnce";
        case Group::at_least_once:
            break;
    }
    return "QuorumAtLeastOnce";
}

}  // namespace

std::vector<std::string> numbers(int first, int last) {
    std::vector<std::string> all;
    for (int i = first; i <= last; ++i) all.push_back(std::to_string(i));
    return all;
}

INSTANTIATE_TEST_SUITE_P(Cases, EveryGroup,
                         ::testing::Values(Group::classic, Group::quorum, Group::at_least_once),
                         group_name);
INSTANTIATE_TEST_SUITE_P(Cases, EveryKind, ::testing::Values(Group::classic, Group::quorum),
                         group_name);

}  // namespace revenant::engine
