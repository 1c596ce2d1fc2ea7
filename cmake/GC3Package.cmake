# `cpack` in a build directory makes five Debian packages from the components of GC3Install.cmake: libgc3-0 (the shared
# library), libgc3-nccl (the NCCL interposers), libgc3-dev (header and build files), gc3 (the tools), python3-gc3 (the Python package). dpkg-shlibdeps
# determines the packages on which they depend.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGE_CONTACT "gc3 developers <gc3@gc3.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package's description begins with its own
set(CPACK_COMPONENTS_ALL runtime nccl development tools python)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/package/copyright.cmake")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
# Code of these packages is linked into gc3, so the packages include their licences.
set(CPACK_GC3_INCLUDED_PACKAGES libasio-dev libflatbuffers-dev libxxhash-dev)
if(GC3_COMPILER)
  find_package(LLVM REQUIRED CONFIG)
  list(APPEND CPACK_GC3_INCLUDED_PACKAGES libantlr4-runtime-dev "llvm-${LLVM_VERSION_MAJOR}-dev")
endif()

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libgc3-0)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS libsodium23) # loaded when ranks connect
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS libucx0) # loaded when ranks of several hosts connect
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "${PROJECT_DESCRIPTION} (library)
The shared library that loads bundles, which gc3c has compiled, and runs them.")
# Programs that link the library need the package libgc3-0. This shlibs file states the dependency, because the file
# that CMake generates would also map NCCL's name to libgc3-nccl.
file(CONFIGURE OUTPUT package/shlibs CONTENT "libgc3 0 libgc3-0 (>= ${PROJECT_VERSION})\n" @ONLY)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${CMAKE_CURRENT_BINARY_DIR}/package/shlibs")

set(CPACK_DEBIAN_NCCL_PACKAGE_NAME libgc3-nccl)
set(CPACK_DEBIAN_NCCL_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_NCCL_PACKAGE_RECOMMENDS libsodium23)
set(CPACK_DEBIAN_NCCL_DESCRIPTION "${PROJECT_DESCRIPTION} (in front of NCCL)
Libraries that are loaded before NCCL, or in its place, and serve its
collectives with programs of bundles. NCCL itself has to be there, too.
libgc3tuner.so is a plugin of NCCL, which chooses NCCL's own algorithms.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libgc3-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libgc3-0 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "${PROJECT_DESCRIPTION} (development)
The header of the library, and what CMake and pkg-config need to find it.")
if(GC3_COMPILER)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "gc3 (= ${PROJECT_VERSION})")
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION " With
the package gc3, gc3_add_bundle() in CMake compiles programs.")
endif()

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME gc3)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "${PROJECT_DESCRIPTION} (tools)
gc3-run runs bundles on the host, and checks every element.")
if(GC3_COMPILER)
  string(APPEND CPACK_DEBIAN_TOOLS_DESCRIPTION " gc3c compiles
programs that say how chunks of data travel between GPUs into bundles, and
proves that they do what their collective promises. gc3-sim predicts their times.
gc3-tune makes a bundle of the fastest ones.")
endif()

if(GC3_HAS_SYNTH)
  string(APPEND CPACK_DEBIAN_TOOLS_DESCRIPTION " gc3-synth
finds programs for a topology.")
endif()

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-gc3)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9), libgc3-0 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "gc3 (= ${PROJECT_VERSION}), python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS python3-torch)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "${PROJECT_DESCRIPTION} (Python)
The Python package gc3, which compiles and runs programs on arrays of
NumPy and PyTorch. To compile, it needs the package gc3, too.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/cmake/package/python/postinst"
  "${PROJECT_SOURCE_DIR}/cmake/package/python/prerm")

include(CPack)
