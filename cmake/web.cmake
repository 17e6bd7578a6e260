# The web pages: checked, bundled and compressed by web/build.mjs, which writes one source file. Only
# the program is linked with it, so that nothing else waits for it: it is made beside the rooms.

option(REVENANT_WEB "Put the web pages into the program; needs node and npm" ON)

set(web_folder ${PROJECT_BINARY_DIR}/web)
set(web_source ${web_folder}/web_assets.gen.cc)
if(REVENANT_WEB)
    find_program(REVENANT_NODE NAMES node nodejs)
    find_program(REVENANT_NPM npm)
    mark_as_advanced(REVENANT_NODE REVENANT_NPM)
    if(NOT REVENANT_NODE OR NOT REVENANT_NPM)
        message(FATAL_ERROR "The web pages need node and npm; -DREVENANT_WEB=OFF builds without them")
    endif()
    file(GLOB_RECURSE web_inputs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
    list(APPEND web_inputs ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_SOURCE_DIR}/web/index.html
         ${PROJECT_SOURCE_DIR}/web/favicon.svg ${PROJECT_SOURCE_DIR}/web/package-lock.json
         ${PROJECT_SOURCE_DIR}/web/tsconfig.json)
    # Two builds share web/node_modules.
    add_custom_command(
        OUTPUT ${web_source}
        BYPRODUCTS ${web_folder}/web_assets.bin ${web_folder}/sizes.json
        COMMAND ${CMAKE_COMMAND} -E make_directory ${web_folder}
        COMMAND flock ${PROJECT_SOURCE_DIR}/web/package-lock.json
                ${REVENANT_NODE} ${PROJECT_SOURCE_DIR}/web/build.mjs --out ${web_folder}
        COMMAND ${CMAKE_COMMAND} -E touch ${web_source}
        DEPENDS ${web_inputs}
        COMMENT "Building the web pages"
        VERBATIM)
    set_source_files_properties(${web_source} PROPERTIES OBJECT_DEPENDS ${web_folder}/web_assets.bin)
else()
    file(CONFIGURE OUTPUT ${web_source} @ONLY CONTENT "// Written by cmake/web.cmake.
#include \"http/web/web_assets.h\"

namespace revenant::http {

std::span<const WebAsset> web_assets() { return {}; }

}  // namespace revenant::http
")
endif()
add_library(revenant_web STATIC ${web_source})
target_include_directories(revenant_web PUBLIC ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(revenant_web PRIVATE revenant_compiler)
