/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the AllReduce of a bundle for all ranks in this process, and checks the sums. */
#include <gc3.h>

#include <stdio.h>
#include <stdlib.h>

enum { Count = 1000 };

static void check(gc3Result_t result) {
  if (result == gc3Success)
    return;
  fprintf(stderr, "sum: %s: %s\n", gc3GetErrorString(result), gc3GetLastError(NULL));
  exit(1);
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory) {
    fprintf(stderr, "sum: no memory\n");
    exit(1);
  }
  return memory;
}

/* Rank r has r + 1 times the element's number. Returns how many elements of all ranks are wrong afterwards. */
static int sum(gc3Comm_t *comms, int ranks) {
  float *values = allocate((size_t)ranks * Count, sizeof *values);
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < Count; ++i)
      values[r * Count + i] = (float)((r + 1) * i);
  check(gc3GroupStart());
  for (int r = 0; r < ranks; ++r)
    check(gc3AllReduce(values + r * Count, values + r * Count, Count, gc3Float32, gc3Sum, comms[r], NULL));
  check(gc3GroupEnd());
  int wrong = 0;
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < Count; ++i)
      wrong += values[r * Count + i] != (float)(ranks * (ranks + 1) / 2 * i);
  free(values);
  return wrong;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: sum BUNDLE\n");
    return 2;
  }
  gc3Bundle_t bundle;
  gc3ProgramInfo_t info = {.size = sizeof info};
  check(gc3BundleLoad(&bundle, argv[1]));
  check(gc3BundleProgramInfo(bundle, 0, &info));

  gc3Comm_t *comms = allocate((size_t)info.ranks, sizeof *comms);
  check(gc3HostCommInitAll(comms, info.ranks, bundle, NULL));
  int wrong = sum(comms, info.ranks);
  printf("%s: %d ranks, %d elements, %d wrong\n", info.name, info.ranks, Count, wrong);

  for (int r = 0; r < info.ranks; ++r)
    check(gc3CommDestroy(comms[r]));
  free(comms);
  check(gc3BundleFree(bundle));
  return wrong != 0;
}
