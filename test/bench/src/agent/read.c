/* Opens, reads and closes the given files, as many times as the first argument says; prints the CPU time in seconds. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int count, char **arguments) {
  static char buffer[262144];
  int passes = count > 1 ? atoi(arguments[1]) : 0;
  for (int pass = 0; pass < passes; pass++) {
    for (int file = 2; file < count; file++) {
      int descriptor = open(arguments[file], O_RDONLY | O_CLOEXEC);
      if (descriptor < 0) return 1;
      while (read(descriptor, buffer, sizeof buffer) > 0) continue;
      close(descriptor);
    }
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("%f\n", usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
                     (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
  return 0;
}
