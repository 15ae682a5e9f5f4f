// The driver API: modules and functions.
#include "tools/cudasim/driver/Chip.h"
#include "tools/cudasim/driver/State.h"

#include <cstring>

using namespace llmc::cudasim;

namespace {

/// Options of the driver's compiler that are answered; others are ignored.
struct JitLog {
  char *Error = nullptr, *Info = nullptr;
  size_t ErrorBytes = 0, InfoBytes = 0;

  JitLog(unsigned Count, const int *Kinds, void **Values) {
    for (unsigned I = 0; Kinds && Values && I != Count; ++I) {
      if (Kinds[I] == 3)
        Info = static_cast<char *>(Values[I]);
      if (Kinds[I] == 4)
        InfoBytes = reinterpret_cast<size_t>(Values[I]);
      if (Kinds[I] == 5)
        Error = static_cast<char *>(Values[I]);
      if (Kinds[I] == 6)
        ErrorBytes = reinterpret_cast<size_t>(Values[I]);
    }
    if (Info && InfoBytes)
      Info[0] = 0;
    if (Error && ErrorBytes)
      Error[0] = 0;
  }
  void fail(const std::string &Text) {
    if (Error && ErrorBytes)
      std::snprintf(Error, ErrorBytes, "%s\n", Text.c_str());
  }
};

/// PTX begins with a directive, perhaps behind comments and blanks.
bool looksLikePtx(const char *Text) {
  for (size_t I = 0; I != size_t{1} << 16 && Text[I]; ++I) {
    if (std::strncmp(Text + I, "//", 2) == 0) {
      while (Text[I + 1] && Text[I + 1] != '\n')
        ++I;
    } else if (Text[I] == '.') {
      return std::strncmp(Text + I, ".version", 8) == 0;
    } else if (!std::strchr(" \t\r\n", Text[I])) {
      return std::strncmp(Text + I, "/*", 2) == 0;
    }
  }
  return false;
}

int load(Context &C, Module **Out, const void *Image, JitLog Log) {
  if (!Out || !Image)
    return InvalidValue;
  const char *Bytes = static_cast<const char *>(Image);
  uint32_t Magic;
  std::memcpy(&Magic, Image, 4);
  if (Magic == 0x464c457fu || Magic == 0xba55ed50u) {
    Log.fail("machine code of a GPU; the simulator takes PTX");
    return NoBinary;
  }
  if (!looksLikePtx(Bytes)) {
    Log.fail("neither PTX nor machine code");
    return InvalidImage;
  }
  try {
    std::unique_ptr<Module> M = loadModule(C, Bytes);
    *Out = M.get();
    C.Modules.insert(std::move(M));
    return Success;
  } catch (const PtxError &E) {
    Log.fail((E.Line ? "ptx line " + std::to_string(E.Line) + ": " : "") +
             E.what());
    return E.Code;
  }
}

int functionAttribute(const DeviceFunction &F, int Which, int &Value) {
  const Program &P = *F.Prog;
  switch (Which) {
  case 0:
    Value = static_cast<int>(P.MaxThreads);
    return Success;
  case 1:
    Value = static_cast<int>(P.SharedBytes);
    return Success;
  case 2:
  case 7:
    Value = 0;
    return Success;
  case 3:
    Value = static_cast<int>(P.LocalBytes);
    return Success;
  case 4:
    Value = static_cast<int>(estimatedRegisters(P));
    return Success;
  case 5:
  case 6:
    Value = static_cast<int>(P.Target);
    return Success;
  case 8:
    Value = static_cast<int>(F.MostDynamicShared
                                 ? F.MostDynamicShared
                                 : 49152 - std::min(49152u, P.SharedBytes));
    return Success;
  case 9:
    Value = F.Carveout;
    return Success;
  default:
    Value = 0;
    return Which > 0 && Which < 20 ? Success : InvalidValue;
  }
}
} // namespace

SIM_EXPORT int cuModuleLoadDataEx(Module **Out, const void *Image,
                                  unsigned Count, int *Kinds, void **Values) {
  return inContext([&](Context &C) {
    return load(C, Out, Image, JitLog(Count, Kinds, Values));
  });
}
SIM_EXPORT int cuModuleLoadData(Module **Out, const void *Image) {
  return cuModuleLoadDataEx(Out, Image, 0, nullptr, nullptr);
}
SIM_EXPORT int cuModuleLoadFatBinary(Module **Out, const void *Image) {
  return cuModuleLoadData(Out, Image);
}
SIM_EXPORT int cuModuleUnload(Module *M) {
  return inContext([&](Context &C) -> int {
    Module *Known = lookUp(C.Modules, M);
    if (!Known)
      return InvalidHandle;
    int Result = C.runUntil(0);
    unloadModule(C, *Known);
    erase(C.Modules, M);
    return Result;
  });
}
SIM_EXPORT int cuModuleGetFunction(DeviceFunction **Out, Module *M,
                                   const char *Name) {
  return inContext([&](Context &C) -> int {
    if (!Out || !Name)
      return InvalidValue;
    Module *Known = lookUp(C.Modules, M);
    if (!Known)
      return InvalidHandle;
    for (const std::unique_ptr<DeviceFunction> &F : Known->Functions)
      if (F->Prog->Name == Name) {
        *Out = F.get();
        return Success;
      }
    return NotFound;
  });
}
SIM_EXPORT int cuModuleGetFunctionCount(unsigned *Count, Module *M) {
  return inContext([&](Context &C) -> int {
    Module *Known = lookUp(C.Modules, M);
    if (!Known || !Count)
      return Known ? InvalidValue : InvalidHandle;
    *Count = static_cast<unsigned>(Known->Functions.size());
    return Success;
  });
}
SIM_EXPORT int cuModuleGetGlobal_v2(unsigned long long *Address, size_t *Bytes,
                                    Module *M, const char *Name) {
  return inContext([&](Context &C) -> int {
    if (!Name)
      return InvalidValue;
    Module *Known = lookUp(C.Modules, M);
    if (!Known)
      return InvalidHandle;
    auto It = Known->Symbols.find(Name);
    if (It == Known->Symbols.end())
      return NotFound;
    if (Address)
      *Address = It->second.Address;
    if (Bytes)
      *Bytes = It->second.Bytes;
    return Success;
  });
}
SIM_EXPORT int cuFuncGetAttribute(int *Value, int Which, DeviceFunction *F) {
  return inContext([&](Context &C) -> int {
    DeviceFunction *Known = functionOf(C, F);
    if (!Known || !Value)
      return Known ? InvalidValue : InvalidHandle;
    return functionAttribute(*Known, Which, *Value);
  });
}
SIM_EXPORT int cuFuncSetAttribute(DeviceFunction *F, int Which, int Value) {
  return inContext([&](Context &C) -> int {
    DeviceFunction *Known = functionOf(C, F);
    if (!Known)
      return InvalidHandle;
    if (Which == 9) {
      if (Value < -1 || Value > 100)
        return InvalidValue;
      Known->Carveout = Value;
      return Success;
    }
    unsigned Static = Known->Prog->SharedBytes;
    if (Which != 8 || Value < 0 ||
        static_cast<unsigned>(Value) + Static > chip().SharedOptIn)
      return InvalidValue;
    Known->MostDynamicShared = static_cast<unsigned>(Value);
    return Success;
  });
}
SIM_EXPORT int cuFuncSetCacheConfig(DeviceFunction *F, int) {
  return inContext(
      [&](Context &C) { return functionOf(C, F) ? Success : InvalidHandle; });
}
SIM_EXPORT int cuFuncGetModule(Module **Out, DeviceFunction *F) {
  return inContext([&](Context &C) -> int {
    DeviceFunction *Known = functionOf(C, F);
    if (!Known || !Out)
      return Known ? InvalidValue : InvalidHandle;
    *Out = Known->Of;
    return Success;
  });
}
SIM_EXPORT int cuFuncGetName(const char **Name, DeviceFunction *F) {
  return inContext([&](Context &C) -> int {
    DeviceFunction *Known = functionOf(C, F);
    if (!Known || !Name)
      return Known ? InvalidValue : InvalidHandle;
    *Name = Known->Prog->Name.c_str();
    return Success;
  });
}
