# How everything of ours is compiled. Third-party headers are system headers, so that none of this
# reaches them.

option(REVENANT_WARNINGS_AS_ERRORS "Treat warnings as errors" ON)
set(REVENANT_SANITIZE "" CACHE STRING "Value of -fsanitize for every target")
option(REVENANT_FEWER_HISTORIES "Run fewer random histories in the tests, as with the sanitizers" OFF)
option(REVENANT_COVERAGE "Count executed lines for gcov" OFF)
option(REVENANT_FUZZ "Build the fuzz targets; needs clang" OFF)

option(REVENANT_UNITY "Compile several files as one; half the time when all must be compiled" OFF)
option(REVENANT_PRECOMPILE "Precompile common headers; less time when few files must be compiled" OFF)

find_program(REVENANT_CCACHE ccache)
mark_as_advanced(REVENANT_CCACHE)
if(REVENANT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Without these two, ccache refuses what uses a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${REVENANT_CCACHE})
endif()

add_library(revenant_compiler INTERFACE)

target_compile_options(revenant_compiler INTERFACE
    -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast -Wcast-qual
    -Wextra-semi -Wformat=2 -Wimplicit-fallthrough -Wvla
    # A codec that cuts a number silently loses messages. Signedness alone is not reported.
    -Wconversion -Wno-sign-conversion
    # An aggregate with designated initializers leaves fields at their defaults on purpose.
    -Wno-missing-field-initializers)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(revenant_compiler INTERFACE
        -Wduplicated-cond -Wlogical-op
        # g++ 12 reports these inside std::string, std::variant and std::optional where nothing is
        # wrong (GCC bugs 105329, 105562, 105593, 80635).
        -Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow
        -Wno-stringop-overread)
endif()

if(REVENANT_WARNINGS_AS_ERRORS)
    target_compile_options(revenant_compiler INTERFACE -Werror)
endif()

if(REVENANT_SANITIZE)
    set(sanitize -fsanitize=${REVENANT_SANITIZE} -fno-omit-frame-pointer)
    if(REVENANT_SANITIZE MATCHES "undefined")
        list(APPEND sanitize -fno-sanitize-recover=all)
    endif()
    target_compile_options(revenant_compiler INTERFACE ${sanitize})
    target_link_options(revenant_compiler INTERFACE ${sanitize})
endif()

# Fuzz targets follow the branches of the code they run. Counting them takes a third of the compile time of a
# test; a target with the property REVENANT_UNFUZZED does without.
if(REVENANT_FUZZ)
    target_compile_options(revenant_compiler INTERFACE
        $<$<NOT:$<BOOL:$<TARGET_PROPERTY:REVENANT_UNFUZZED>>>:-fsanitize=fuzzer-no-link>)
endif()

if(REVENANT_COVERAGE)
    target_compile_options(revenant_compiler INTERFACE --coverage -fprofile-update=atomic)
    target_link_options(revenant_compiler INTERFACE --coverage)
endif()
