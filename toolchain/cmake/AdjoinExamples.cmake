# Examples as tests: each is compiled, linked with the plugin and run as a user would, by its own `build` script.

execute_process(COMMAND ${PROJECT_SOURCE_DIR}/toolchain/find-rustc
  OUTPUT_VARIABLE rustc OUTPUT_STRIP_TRAILING_WHITESPACE)
set(ADJOIN_RUSTC "${rustc}" CACHE FILEPATH "A rustc whose LLVM is 22")

# adjoin_example(<folder>) makes the test example.<folder>, which runs in a scratch folder.
function(adjoin_example name)
  set(scratch ${CMAKE_CURRENT_BINARY_DIR}/${name})
  file(MAKE_DIRECTORY ${scratch})
  add_test(NAME example.${name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/run ${name} WORKING_DIRECTORY ${scratch})
  set_tests_properties(example.${name} PROPERTIES LABELS example TIMEOUT 900
    ENVIRONMENT "CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER};RUSTC=${ADJOIN_RUSTC};ADJOIN_BIN=${PROJECT_BINARY_DIR}/bin")
endfunction()
