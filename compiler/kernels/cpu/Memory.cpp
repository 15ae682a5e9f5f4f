// memcpy and memset for struct copies that the compiler emits as calls: an
// image imports nothing.
#include <stddef.h>

extern "C" void *memcpy(void *__restrict To, const void *__restrict From,
                        size_t N) {
  void *Result = To;
  asm volatile("rep movsb" : "+D"(To), "+S"(From), "+c"(N) : : "memory");
  return Result;
}

extern "C" void *memset(void *To, int Value, size_t N) {
  void *Result = To;
  asm volatile("rep stosb" : "+D"(To), "+c"(N) : "a"(Value) : "memory");
  return Result;
}
