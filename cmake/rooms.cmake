# A room is one folder of src and one library. A folder that does not exist yet, or that has headers
# only, is an interface library, so that the list of rooms can be complete before the house is.

# Several files compiled as one (docs/decisions/0010-units-and-precompiled-headers.md). The unit of a file follows
# from its name alone, and the number of units is a power of two: a new file changes no other unit, and a growing
# room splits units without mixing them. So a private name can collide with one in a new file, but never because of
# a third file. A better name is the first thing to look for; the files named here are compiled alone.
# http/server/server is all of Asio and Beast: a parallel build would wait for its unit.
set(unity_loners "http/server/server")

# revenant_unity(<target> <files per unit>)
function(revenant_unity target size)
    if(NOT REVENANT_UNITY)
        return()
    endif()
    get_target_property(sources ${target} SOURCES)
    list(LENGTH sources count)
    set(units 1)
    while(count GREATER size)
        math(EXPR units "2 * ${units}")
        math(EXPR count "(${count} + 1) / 2")
    endwhile()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    foreach(source ${sources})
        string(REGEX REPLACE "^${PROJECT_SOURCE_DIR}/(src/)?|\\.cc$" "" file ${source})
        if(NOT file IN_LIST unity_loners)
            get_filename_component(name ${source} NAME)
            string(MD5 hash ${name})
            string(SUBSTRING ${hash} 0 4 digits)
            math(EXPR unit "0x${digits} % ${units}")
            set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${unit})
        endif()
    endforeach()
endfunction()

# revenant_precompile(<target> <header>...): headers that most files of the target include, if they exist.
function(revenant_precompile target)
    if(NOT REVENANT_PRECOMPILE)
        return()
    endif()
    foreach(header ${ARGN})
        if(header MATCHES "^<" OR EXISTS ${PROJECT_SOURCE_DIR}/${header})
            string(REGEX REPLACE "^(src|tests)/" "${PROJECT_SOURCE_DIR}/\\1/" header ${header})
            target_precompile_headers(${target} PRIVATE ${header})
        endif()
    endforeach()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE -fpch-preprocess)  # For ccache.
    else()
        target_compile_options(${target} PRIVATE -fpch-instantiate-templates)
    endif()
endfunction()

set(common_headers <algorithm> <map> <memory> <optional> <string> <string_view> <variant> <vector>)

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
    set(links ${room_LINKS})
    revenant_target(room_LINKS ${room_LINKS})
    revenant_target(target ${name})
    if(sources)
        add_library(${target} STATIC ${sources})
        revenant_unity(${target} 12)
        get_filename_component(innermost ${name} NAME)
        revenant_precompile(${target} ${common_headers} src/${name}/${innermost}.h)
        set(scope PUBLIC)
    else()
        add_library(${target} INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} ${scope} revenant_compiler ${room_LINKS} ${room_LIBRARIES})
    string(REGEX REPLACE "/.*" "" outermost ${name})
    if(sources AND REVENANT_SANITIZE AND outermost IN_LIST rooms_without_haste)
        target_compile_options(${target} PRIVATE -O0)
        set_target_properties(${target} PROPERTIES REVENANT_UNFUZZED ON)
    endif()
    set_property(GLOBAL APPEND PROPERTY REVENANT_ROOMS ${name})
    set_property(GLOBAL PROPERTY REVENANT_LINKS_OF_${target} ${links})
endfunction()

# revenant_rooms(<variable> <module>...): every module itself, if it is a room, and the rooms within it.
function(revenant_rooms variable)
    get_property(rooms GLOBAL PROPERTY REVENANT_ROOMS)
    set(found)
    foreach(module ${ARGN})
        set(within ${rooms})
        list(FILTER within INCLUDE REGEX "^${module}(/|$)")
        list(APPEND found ${within})
    endforeach()
    set(${variable} ${found} PARENT_SCOPE)
endfunction()

# revenant_closure(<variable> <room>...): the rooms and all that they link, directly or not, each before those it
# links.
function(revenant_closure variable)
    set(found)
    set(waiting ${ARGN})
    while(waiting)
        list(POP_FRONT waiting room)
        list(REMOVE_ITEM found ${room})
        list(APPEND found ${room})
        revenant_target(target ${room})
        get_property(links GLOBAL PROPERTY REVENANT_LINKS_OF_${target})
        list(APPEND waiting ${links})
    endwhile()
    set(${variable} ${found} PARENT_SCOPE)
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
