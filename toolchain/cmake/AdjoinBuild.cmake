# How Adjoin's own C++ is compiled: flags shared by the plugin, its tests and its tools.

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

find_program(ADJOIN_CCACHE ccache)
if(ADJOIN_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ADJOIN_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${ADJOIN_CCACHE})
endif()

add_library(adjoin_flags INTERFACE)
target_include_directories(adjoin_flags SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_include_directories(adjoin_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
separate_arguments(ADJOIN_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(adjoin_flags INTERFACE ${ADJOIN_LLVM_DEFINITIONS})
target_compile_options(adjoin_flags INTERFACE
  -Wall -Wextra -Wno-unused-parameter -Werror -fno-rtti -fno-exceptions)

# Embeds the LLVM bitcode of C sources into C++ as an array of bytes.
#   adjoin_embed_bitcode(<name> <source>...) makes <name>.cpp in the current binary folder,
#   which defines llvm::StringRef adjoin::<name>() with the bitcode of the sources, linked together.
# The bitcode has no target attributes and no debug info: it is parsed into the module of a link.
function(adjoin_embed_bitcode name)
  set(bitcodes)
  foreach(source ${ARGN})
    get_filename_component(base ${source} NAME_WE)
    set(bitcode ${CMAKE_CURRENT_BINARY_DIR}/${name}-${base}.bc)
    add_custom_command(OUTPUT ${bitcode}
      COMMAND clang-22 -O2 -std=c11 -fno-vectorize -fno-slp-vectorize -ffreestanding
              -fno-builtin -fexceptions -Wall -Wextra -Werror -emit-llvm -c
              ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${bitcode}
      DEPENDS ${source} VERBATIM)
    list(APPEND bitcodes ${bitcode})
  endforeach()
  add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp
    COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-link ${bitcodes} -o ${CMAKE_CURRENT_BINARY_DIR}/${name}.bc
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DINPUT=${CMAKE_CURRENT_BINARY_DIR}/${name}.bc
            -DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp
            -P ${PROJECT_SOURCE_DIR}/toolchain/cmake/EmbedFile.cmake
    DEPENDS ${bitcodes} ${PROJECT_SOURCE_DIR}/toolchain/cmake/EmbedFile.cmake VERBATIM)
endfunction()
