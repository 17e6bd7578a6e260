# A room is one folder of src and one library. A folder that does not exist yet, or that has headers
# only, is an interface library, so that the list of rooms can be complete before the house is.

# Several files at once. Those named here stay alone: http/server/server is all of Asio and Beast, and eight
# files with it would be what a parallel build waits for. Two files of a room with the same private
# names would be a reason, too; a better name is the first thing to look for.
set(unity_loners "http/server/server")
function(revenant_unity target)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${REVENANT_UNITY} UNITY_BUILD_BATCH_SIZE 8)
    get_target_property(sources ${target} SOURCES)
    foreach(loner ${unity_loners})
        set(alone ${sources})
        list(FILTER alone INCLUDE REGEX "/${loner}\\.cc$")
        if(alone)
            set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
        endif()
    endforeach()
endfunction()

# Rooms that no fuzz target and no simulation runs through: with the sanitizers, half of the time of a
# build would go into optimizing them.
set(rooms_without_haste tls net http node cli)

# revenant_target(<variable> <room>...): the libraries of rooms. A room within a room, as engine/rules, is
# a folder with a library of its own, too.
function(revenant_target variable)
    string(REPLACE "/" "_" targets "${ARGN}")
    list(TRANSFORM targets PREPEND revenant_)
    set(${variable} ${targets} PARENT_SCOPE)
endfunction()

# revenant_room(<name> [LINKS <room>...] [LIBRARIES <target>...])
function(revenant_room name)
    cmake_parse_arguments(room "" "" "LINKS;LIBRARIES" ${ARGN})
    set(folder ${PROJECT_SOURCE_DIR}/src/${name})
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
    list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
    list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
    revenant_target(room_LINKS ${room_LINKS})
    revenant_target(target ${name})
    if(sources)
        add_library(${target} STATIC ${sources})
        revenant_unity(${target})
        set(scope PUBLIC)
    else()
        add_library(${target} INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} ${scope} revenant_compiler ${room_LINKS} ${room_LIBRARIES})
    string(REGEX REPLACE "/.*" "" outermost ${name})
    if(REVENANT_SANITIZE AND outermost IN_LIST rooms_without_haste)
        target_compile_options(${target} PRIVATE -O0)
    endif()
    set_property(GLOBAL APPEND PROPERTY REVENANT_ROOMS ${name})
endfunction()

# revenant_program(<name> ROOM <room>): the program whose main is src/<room>/main.cc, placed directly
# in the build directory.
function(revenant_program name)
    cmake_parse_arguments(program "" "ROOM" "" ${ARGN})
    file(GLOB main CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${program_ROOM}/main.cc)
    if(main)
        add_executable(${name} ${main})
        revenant_target(target ${program_ROOM})
        target_link_libraries(${name} PRIVATE ${target})
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    endif()
endfunction()
