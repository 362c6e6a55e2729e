// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Env.cpp - Reads the environment variables --------------------------===//
//
// EnvVariables.cpp has the table of the variables, EnvLaunch.cpp the launchers.
#include "core/EnvTable.h"

#include <cstdlib>
#include <unistd.h>

using namespace iris::rt;

/// The default of IRIS_CACHE_DIR; empty if none is known. A relative path would
/// denote a different directory in each process.
static std::string defaultCacheDir(const EnvLookup &var) {
  if (std::string home = var("XDG_CACHE_HOME"); home[0] == '/')
    return home + "/iris";
  if (std::string home = var("HOME"); home[0] == '/')
    return home + "/.cache/iris";
  return "";
}

/// The default of IRIS_RENDEZVOUS_DIR, in the order in which they are tried.
static std::vector<std::string>
defaultRendezvousDirs(const EnvLookup &var, const std::string &cacheDir) {
  std::vector<std::string> directories;
  // Containers often set it to a directory that does not exist.
  std::string runtimeDir = var("XDG_RUNTIME_DIR");
  if (runtimeDir[0] == '/' && ::access(runtimeDir.c_str(), W_OK | X_OK) == 0)
    directories.push_back(runtimeDir + "/iris");
  directories.push_back("/tmp/iris-" + std::to_string(::geteuid()));
  // The fallback if another user has created the directory in /tmp.
  if (!cacheDir.empty())
    directories.push_back(cacheDir + "/rendezvous");
  return directories;
}

Env Env::read(const Lookup &lookup) {
  auto var = [&](const char *name) {
    const char *value = lookup(name);
    return std::string(value ? value : "");
  };
  Env env;
  env.launch_ = readLaunch(var);
  for (const EnvTable::Row &row : EnvTable::rows()) {
    if (!row.parse)
      continue;
    std::string value = var(row.variable.name);
    if (value.empty() || row.parse(env, value) || !env.warning_.empty())
      continue;
    env.warning_ = std::string(row.variable.name) + "='" +
                   escapeControls(value) + "' is ignored; expected " +
                   row.variable.value;
  }
  if (env.cacheDir_.empty())
    env.cacheDir_ = defaultCacheDir(var);
  if (env.rendezvousDirs_.empty())
    env.rendezvousDirs_ = defaultRendezvousDirs(var, env.cacheDir_);
  return env;
}

/// Whether the variable names an executable, a file or a directory.
static bool namesFile(std::string_view name) {
  for (const EnvTable::Row &row : EnvTable::rows())
    if (name == row.variable.name)
      return row.variable.namesFile;
  return true;
}

const Env &Env::get() {
  // Rank, size and limits are read in any process: a rank that ignored them
  // would silently run alone.
  static const Env env = read([](const char *name) {
    return namesFile(name) ? ::secure_getenv(name) : std::getenv(name);
  });
  return env;
}

const std::vector<EnvVariable> &Env::variables() {
  static const std::vector<EnvVariable> all = [] {
    std::vector<EnvVariable> variables;
    for (const EnvTable::Row &row : EnvTable::rows())
      variables.push_back(row.variable);
    return variables;
  }();
  return all;
}

std::string Env::describe() {
  std::string text = "| variable | value | default | meaning |\n"
                     "|---|---|---|---|\n";
  for (const EnvVariable &each : variables())
    text += std::string("| `") + each.name + "` | " + each.value + " | " +
            each.defaultValue + " | " + each.meaning + " |\n";
  return text;
}
