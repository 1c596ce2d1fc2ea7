# Decides whether this build has the CUDA part, and for which GPUs. GC3_CUDA: AUTO builds it if a CUDA toolkit is found,
# ON requires it, OFF omits it. Without the CUDA part everything else builds, and functions that need a GPU report that
# this build has no GPU support.
set(GC3_CUDA AUTO CACHE STRING "Build the CUDA part: AUTO (where a toolkit is found), ON, OFF")
set_property(CACHE GC3_CUDA PROPERTY STRINGS AUTO ON OFF)
set(GC3_CUDA_ARCHITECTURES "" CACHE STRING "GPUs that the CUDA part is compiled for; empty: CMAKE_CUDA_ARCHITECTURES, or 80-real;90-real;100")
if(NOT GC3_CUDA_ARCHITECTURES)
  set(GC3_CUDA_ARCHITECTURES "80-real;90-real;100")
  # If CUDA is already enabled, the variable can be CMake's own choice, which is for an older GPU.
  if(CMAKE_CUDA_ARCHITECTURES AND NOT CMAKE_CUDA_COMPILER_LOADED)
    set(GC3_CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}")
  endif()
endif()
if(NOT GC3_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "GC3_CUDA is '${GC3_CUDA}'; it can be AUTO, ON or OFF")
endif()

set(GC3_HAS_CUDA OFF)
if(NOT GC3_CUDA STREQUAL "OFF")
  find_package(CUDAToolkit 12.0 QUIET)
  if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE)
    if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
      set(CMAKE_CUDA_COMPILER "${CUDAToolkit_NVCC_EXECUTABLE}" CACHE FILEPATH "CUDA compiler")
    endif()
    if(NOT CMAKE_CUDA_HOST_COMPILER AND NOT DEFINED ENV{CUDAHOSTCXX})
      set(CMAKE_CUDA_HOST_COMPILER "${CMAKE_CXX_COMPILER}" CACHE FILEPATH "The compiler of CUDA's host code")
    endif()
    set(CMAKE_CUDA_ARCHITECTURES "${GC3_CUDA_ARCHITECTURES}") # before enable_language(), whose default may be too old for the toolkit
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 does not know this option of nvcc 12 and later
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    # ptxas reports spills in kernels as warnings. With GC3_WERROR they are errors, because nvcc passes --Werror on to
    # ptxas.
    set(GC3_CUDA_OPTIONS -Xcompiler=-Wall,-Wextra)
    set(GC3_PTXAS_OPTIONS -Xptxas=-warn-spills,-warn-lmem-usage)
    if(GC3_WERROR)
      list(APPEND GC3_CUDA_OPTIONS --Werror=all-warnings)
    endif()
    set(GC3_HAS_CUDA ON)
  endif()
endif()

if(GC3_HAS_CUDA)
  message(STATUS "CUDA ${CUDAToolkit_VERSION}: building the CUDA part for ${GC3_CUDA_ARCHITECTURES}")
elseif(GC3_CUDA STREQUAL "ON")
  message(FATAL_ERROR "GC3_CUDA is ON, but no CUDA toolkit of 12.0 or later with nvcc was found; CUDAToolkit_ROOT says where it is")
elseif(GC3_CUDA STREQUAL "OFF")
  message(STATUS "CUDA: OFF, building without the CUDA part")
else()
  message(STATUS "CUDA: no toolkit with nvcc found, building WITHOUT the CUDA part (kernels are neither compiled nor checked); GC3_CUDA=ON demands it")
endif()

# GC3_GPU_TESTS does not depend on GC3_TESTS, because a machine with a GPU may lack GoogleTest and the compiler's
# dependencies.
set(GC3_GPU_TESTS OFF)
if(GC3_HAS_CUDA AND PROJECT_IS_TOP_LEVEL)
  set(GC3_GPU_TESTS ON)
endif()
