// Overloaded: combines lambdas for the alternatives of a variant, for std::visit.
#pragma once

namespace revenant {

template <typename... Branches>
struct Overloaded : Branches... {
    using Branches::operator()...;
};
template <typename... Branches>
Overloaded(Branches...) -> Overloaded<Branches...>;

}  // namespace revenant
