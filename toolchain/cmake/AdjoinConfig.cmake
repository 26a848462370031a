# find_package(Adjoin): derivatives in the link of a target.
#
#   find_package(Adjoin REQUIRED)
#   adjoin_target(my_program)
#
# compiles my_program and the static, object and interface libraries that it links to LLVM bitcode (-flto), and links it with
# LLD 22 and the plugin. The headers are found by the targets too; Adjoin::adjoin has them alone.

get_filename_component(ADJOIN_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(ADJOIN_PLUGIN "${ADJOIN_PREFIX}/lib/libadjoin.so")
set(ADJOIN_LINKER "${ADJOIN_PREFIX}/bin/ld.adjoin")

if(NOT TARGET Adjoin::adjoin)
  add_library(Adjoin::adjoin INTERFACE IMPORTED)
  target_include_directories(Adjoin::adjoin INTERFACE "${ADJOIN_PREFIX}/include")
endif()

function(_adjoin_check_compiler language)
  if(CMAKE_${language}_COMPILER AND
     NOT (CMAKE_${language}_COMPILER_ID STREQUAL "Clang" AND CMAKE_${language}_COMPILER_VERSION MATCHES "^22\\."))
    message(FATAL_ERROR "Adjoin needs clang 22 as ${language} compiler, found "
      "${CMAKE_${language}_COMPILER_ID} ${CMAKE_${language}_COMPILER_VERSION} (${CMAKE_${language}_COMPILER})")
  endif()
endfunction()

# The compile flags of one target, once.
function(_adjoin_compile target)
  get_target_property(done ${target} ADJOIN_COMPILED)
  get_target_property(imported ${target} IMPORTED)
  if(done OR imported)
    return()
  endif()
  set_target_properties(${target} PROPERTIES ADJOIN_COMPILED ON)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    # The LTO round vectorises and unrolls again, after differentiation.
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:C,CXX>:-flto;-fno-vectorize;-fno-slp-vectorize;SHELL:-mllvm -unroll-runtime=false>")
    target_include_directories(${target} PRIVATE "${ADJOIN_PREFIX}/include")
  endif()
  foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
    if(property STREQUAL LINK_LIBRARIES AND type STREQUAL "INTERFACE_LIBRARY")
      continue()
    endif()
    get_target_property(libraries ${target} ${property})
    foreach(library IN LISTS libraries)
      # $<LINK_ONLY:x> is how a static library names its private dependencies.
      string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" library "${library}")
      if(TARGET ${library})
        get_target_property(actual ${library} ALIASED_TARGET)
        if(actual)
          set(library ${actual})
        endif()
        get_target_property(kind ${library} TYPE)
        if(kind MATCHES "^(STATIC|OBJECT|INTERFACE)_LIBRARY$")
          _adjoin_compile(${library})
        endif()
      endif()
    endforeach()
  endforeach()
endfunction()

function(adjoin_target target)
  _adjoin_check_compiler(C)
  _adjoin_check_compiler(CXX)
  target_link_options(${target} PRIVATE -flto -fuse-ld=lld "--ld-path=${ADJOIN_LINKER}")
  # When all is known: the libraries may be named after this call.
  cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL _adjoin_compile [[${target}]])")
endfunction()
