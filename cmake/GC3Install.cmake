# Installs five components. Each is also a Debian package (GC3Package.cmake):
#   runtime      the shared library, and the plugin that it opens for messages between nodes
#   nccl         the NCCL interposers: libraries that applications load before NCCL, or in its place; NCCL's tuner plugin
#   development  the header, the CMake package, pkg-config's file
#   tools        gc3c, gc3-run, gc3-sim, gc3-synth, gc3-tune, manual pages, documentation
#   python       the Python package gc3
# The CMake package still works if the installed tree is moved, and if the tools are missing.
include(CMakePackageConfigHelpers)

set(GC3_INSTALL_CMAKE "${CMAKE_INSTALL_LIBDIR}/cmake/gc3")

install(TARGETS gc3 EXPORT gc3RuntimeTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT development
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/runtime/include/gc3.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
install(EXPORT gc3RuntimeTargets NAMESPACE gc3:: DESTINATION "${GC3_INSTALL_CMAKE}" COMPONENT development)

# libgc3nccl.so is preloaded by its name. The replacement has NCCL's own name, so its folder must not be on search paths.
install(TARGETS gc3nccl LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT nccl)
if(TARGET gc3nccl-replacement)
  install(TARGETS gc3nccl-replacement LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/gc3" COMPONENT nccl NAMELINK_SKIP)
endif()

# NCCL opens the tuner plugin, by the name or the path in NCCL_TUNER_PLUGIN.
install(TARGETS gc3tuner LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT nccl)

# The plugin for GIN works with only one version of NCCL, which it checks itself. The libraries in the parent folder
# open it (gin/Find.cpp).
if(TARGET gc3gin)
  install(TARGETS gc3gin LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/gc3" COMPONENT runtime)
endif()

install(TARGETS gc3-run DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
if(GC3_COMPILER)
  install(TARGETS gc3-sim gc3-tune DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
  install(TARGETS gc3c EXPORT gc3CompilerTargets DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
  install(EXPORT gc3CompilerTargets NAMESPACE gc3:: DESTINATION "${GC3_INSTALL_CMAKE}" COMPONENT tools)
endif()
if(GC3_HAS_SYNTH)
  install(TARGETS gc3-synth DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
endif()

# The folder is Debian's for packages that fit all versions of Python 3. The package finds libgc3 and the tools in the same
# installation.
set(GC3_INSTALL_PYTHONDIR lib/python3/dist-packages CACHE STRING "Folder of the Python package, relative to the prefix")
install(DIRECTORY python/gc3 DESTINATION "${GC3_INSTALL_PYTHONDIR}" COMPONENT python
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "*.cpp" PATTERN "__pycache__" EXCLUDE)

# Pages, standard library and examples keep their relative places in the source tree, so that links between them work.
install(FILES README.md CONTRIBUTING.md LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT tools)
install(DIRECTORY docs std examples topologies DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT tools
  PATTERN "pictures.sh" EXCLUDE)

configure_package_config_file(cmake/package/gc3Config.cmake.in gc3Config.cmake
  INSTALL_DESTINATION "${GC3_INSTALL_CMAKE}" NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(gc3ConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/gc3Config.cmake" "${PROJECT_BINARY_DIR}/gc3ConfigVersion.cmake" cmake/GC3AddBundle.cmake
  DESTINATION "${GC3_INSTALL_CMAKE}" COMPONENT development)

# The path from lib/pkgconfig to the prefix is relative, so that gc3.pc still works if the tree is moved.
file(RELATIVE_PATH GC3_PREFIX_OF_PKGCONFIG "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" GC3_PREFIX_OF_PKGCONFIG "${GC3_PREFIX_OF_PKGCONFIG}")
configure_file(cmake/package/gc3.pc.in gc3.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/gc3.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
