// Joins the families of com.microsoft ops.
#include "compiler/eval/Microsoft.h"

namespace llmc::eval {

void addMicrosoftHandlers(HandlerMap &Map) {
  addMsAttention(Map);
  addMsGrouped(Map);
  addMsRotary(Map);
  addMsWeights(Map);
  addMsExperts(Map);
}

} // namespace llmc::eval
