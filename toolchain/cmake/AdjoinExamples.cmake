# Tests that compile, link with the plugin and run a program as a user would: a script for each.
#
#   adjoin_script_test(<name> <label> <script> [<argument>...])
# runs `bash <script> <argument>...` in a folder of its own, with the tools in the environment:
#   CC, CXX, RUSTC   the compilers (of LLVM 22)
#   ADJOIN_BIN       the folder of ld.adjoin, adjoin-config, cargo-adjoin
#   ADJOIN_INCLUDE   the headers
function(adjoin_script_test name label script)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  file(MAKE_DIRECTORY ${folder})
  add_test(NAME ${name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARGN} WORKING_DIRECTORY ${folder})
  set_tests_properties(${name} PROPERTIES LABELS ${label}
    ENVIRONMENT "CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER};RUSTC=${ADJOIN_RUSTC};ADJOIN_BIN=${PROJECT_BINARY_DIR}/bin;ADJOIN_INCLUDE=${PROJECT_SOURCE_DIR}/toolchain/include")
endfunction()

execute_process(COMMAND ${PROJECT_SOURCE_DIR}/toolchain/find-rustc
  OUTPUT_VARIABLE rustc OUTPUT_STRIP_TRAILING_WHITESPACE)
set(ADJOIN_RUSTC "${rustc}" CACHE FILEPATH "A rustc whose LLVM is 22")
