// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 of the emulated machine, with the functions that PyTorch 2.6 looks up.
extern "C" {
int cuDevicePrimaryCtxGetState(int, unsigned *flags, int *active) {
  *flags = 0;
  *active = 1;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int) {
  *context = nullptr;
  return 0;
}
int cuCtxGetCurrent(void **context) {
  *context = nullptr;
  return 0;
}
int cuCtxSetCurrent(void *) {
  return 0;
}
int cuDeviceGetAttribute(int *value, int, int) {
  *value = 0;
  return 0;
}
int cuGetErrorString(int, const char **text) {
  *text = "an error of the emulated machine";
  return 0;
}

// PyTorch looks these functions up, but never calls them.
#define GC3_NOT_SUPPORTED(name)                                                                                        \
  int name() {                                                                                                         \
    return 801;                                                                                                        \
  }
GC3_NOT_SUPPORTED(cuFuncGetAttribute)
GC3_NOT_SUPPORTED(cuFuncSetAttribute)
GC3_NOT_SUPPORTED(cuLaunchCooperativeKernel)
GC3_NOT_SUPPORTED(cuLaunchKernel)
GC3_NOT_SUPPORTED(cuLinkAddData_v2)
GC3_NOT_SUPPORTED(cuLinkComplete)
GC3_NOT_SUPPORTED(cuLinkCreate_v2)
GC3_NOT_SUPPORTED(cuMemAddressFree)
GC3_NOT_SUPPORTED(cuMemAddressReserve)
GC3_NOT_SUPPORTED(cuMemCreate)
GC3_NOT_SUPPORTED(cuMemExportToShareableHandle)
GC3_NOT_SUPPORTED(cuMemGetAllocationGranularity)
GC3_NOT_SUPPORTED(cuMemImportFromShareableHandle)
GC3_NOT_SUPPORTED(cuMemMap)
GC3_NOT_SUPPORTED(cuMemRelease)
GC3_NOT_SUPPORTED(cuMemSetAccess)
GC3_NOT_SUPPORTED(cuMemUnmap)
GC3_NOT_SUPPORTED(cuMemsetD32Async)
GC3_NOT_SUPPORTED(cuModuleGetFunction)
GC3_NOT_SUPPORTED(cuModuleLoadData)
GC3_NOT_SUPPORTED(cuModuleLoadDataEx)
GC3_NOT_SUPPORTED(cuModuleUnload)
GC3_NOT_SUPPORTED(cuMulticastAddDevice)
GC3_NOT_SUPPORTED(cuMulticastBindMem)
GC3_NOT_SUPPORTED(cuMulticastCreate)
GC3_NOT_SUPPORTED(cuOccupancyMaxActiveBlocksPerMultiprocessor)
GC3_NOT_SUPPORTED(cuStreamWriteValue32)
GC3_NOT_SUPPORTED(cuTensorMapEncodeTiled)
}
