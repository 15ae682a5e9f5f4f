// llmc-run: the subcommands that need no compiler. Links no LLVM.
#include "runtime/base/Log.h"
#include "tools/llmc-run/Commands.h"
#include "tools/llmc-run/Common.h"

#include <CLI/CLI.hpp>
#include <new>

namespace {

/// Messages of the option parser begin with a capital letter.
std::string lowered(std::string S) {
  if (!S.empty() && S[0] >= 'A' && S[0] <= 'Z')
    S[0] = static_cast<char>(S[0] | 0x20);
  while (!S.empty() && (S.back() == '\n' || S.back() == '.'))
    S.pop_back();
  return S;
}

int report(llmc::Status S) { return llmc::exitCodeOf(S); }

int run(CLI::App &App, int Count, char **Arguments) {
  try {
    App.parse(Count, Arguments);
  } catch (const CLI::ParseError &E) {
    if (E.get_exit_code() == 0)
      return App.exit(E); // --help
    llmc::Status S = llmc::usageError(lowered(E.what()));
    std::string Command = "llmc";
    for (const CLI::App *Sub : App.get_subcommands())
      Command += " " + Sub->get_name();
    S.addNote("see " + Command + " --help");
    return report(std::move(S));
  } catch (const llmc::Error &E) {
    llmc::Status S(static_cast<llmc::StatusCode>(E.code()), E.what());
    for (const std::string &Note : E.notes())
      S.addNote(Note);
    return report(std::move(S));
  } catch (const std::bad_alloc &) {
    return report(llmc::doesNotFitError("out of memory"));
  } catch (const std::exception &E) {
    return report(llmc::internalError(E.what()));
  }
  return report(llmc::finishOutput());
}

} // namespace

int main(int Count, char **Arguments) {
  CLI::App App("Runs compiled language models.", "llmc");
  App.require_subcommand(1);
  App.set_version_flag("--version", std::string("llmc 0.1.0"));
  App.footer("Example: llmc run model.llmc \"Hello\"");
  llmcrun::addRun(App);
  llmcrun::addChat(App);
  llmcrun::addBench(App);
  llmcrun::addEval(App);
  llmcrun::addTokenize(App);
  llmcrun::addRender(App);
  llmcrun::addInspect(App);
  llmcrun::addVerify(App);
  llmcrun::addPlan(App);
  llmcrun::addDebug(App);
  return run(App, Count, Arguments);
}
