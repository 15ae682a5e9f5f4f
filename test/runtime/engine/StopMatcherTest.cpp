// Stop strings over pieces of text, against stored streams.
#include "runtime/engine/StopMatcher.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace llmc;
using Json = nlohmann::json;

namespace {

TEST(StopMatcher, Cases) {
  std::ifstream File(LLMC_TEST_INPUTS "/sampling/stop.jsonl");
  int Count = 0;
  for (std::string Line; std::getline(File, Line); ++Count) {
    Json Case = Json::parse(Line);
    StopMatcher M(Case["stop"].get<std::vector<std::string>>());
    std::vector<std::string> Stream;
    std::string Text;
    for (const Json &Piece : Case["pieces"]) {
      Stream.push_back(M.push(Piece.get<std::string>()));
      Text += Stream.back();
      if (M.stopped())
        break;
    }
    if (!M.stopped()) // nothing comes behind a stop string
      Stream.push_back(M.finish());
    Text += M.stopped() ? "" : Stream.back();
    EXPECT_EQ(Text, Case["expect_text"]) << Line;
    EXPECT_EQ(Json(Stream), Case["expect_stream"]) << Line;
    EXPECT_EQ(M.stopped(), Case["expect_stop"].is_string()) << Line;
    if (M.stopped() && Case["expect_stop"].is_string()) {
      EXPECT_EQ(M.stop(), Case["expect_stop"]) << Line;
    }
  }
  EXPECT_GT(Count, 40);
}

} // namespace
