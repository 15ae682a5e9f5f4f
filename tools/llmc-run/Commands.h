// The subcommands: each adds itself, with its options and its callback.
// Failures are thrown as llmc::Error; Main.cpp prints them.
#ifndef LLMC_TOOLS_LLMCRUN_COMMANDS_H
#define LLMC_TOOLS_LLMCRUN_COMMANDS_H

namespace CLI {
class App;
}

namespace llmcrun {

void addRun(CLI::App &App);
void addChat(CLI::App &App);
void addEval(CLI::App &App);
void addBench(CLI::App &App);
void addTokenize(CLI::App &App);
void addRender(CLI::App &App);
void addInspect(CLI::App &App);
void addVerify(CLI::App &App);
void addPlan(CLI::App &App);
void addDebug(CLI::App &App);

} // namespace llmcrun

#endif // LLMC_TOOLS_LLMCRUN_COMMANDS_H
