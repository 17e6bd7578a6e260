// Compares the router with tests/http/routes.txt, the table for the external tests of every
// endpoint.
#include "http/api_test.h"

#include <fstream>
#include <regex>
#include <sstream>

namespace revenant::http {
namespace {

using Routes = std::set<std::string>;

Routes table() {
    Routes routes;
    std::ifstream file(std::string(REVENANT_SOURCE_DIR) + "/tests/http/routes.txt");
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        std::istringstream words(line);
        std::string method;
        std::string path;
        words >> method >> path;
        routes.insert(method + " " + std::regex_replace(path, std::regex("\\{\\w+\\}"), "*"));
    }
    return routes;
}

TEST_F(ApiTest, EveryRouteStandsInTheTableOfRoles) {
    const std::vector<std::string> listed = api_->routes();
    EXPECT_EQ(Routes(listed.begin(), listed.end()), table());
    EXPECT_EQ(listed.size(), table().size()) << "one is there twice";
}

}  // namespace
}  // namespace revenant::http
