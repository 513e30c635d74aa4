import GraphQL

/// Which variables of the environment are settings.
enum EnvironmentNames {
  static let prefix = "LARDER_"

  /// `upstream.url` is `LARDER_UPSTREAM_URL`, `cache.maxAge` is `LARDER_CACHE_MAX_AGE`.
  static func variable(for path: [Substring]) -> String {
    let words = path.map { component in
      component.map { $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
    }
    return prefix + words.joined(separator: "_")
  }

  /// The path a variable stands for; an open section has one variable for all its members.
  static let paths: [String: [String]] = {
    var paths: [String: [String]] = [:]
    for key in SettingTable.keys {
      let path = key.openSection ?? key.components
      paths[variable(for: path)] = path.map(String.init)
    }
    return paths
  }()

  /// Variables of our prefix that are no settings.
  ///
  /// `LARDER_KEY` seals secrets at rest and is read where they are sealed; `LARDER_TEST_…` belongs
  /// to tests. The others are what Kubernetes puts into every container of a namespace in which a
  /// service is called `larder`.
  static func isForeign(_ variable: String) -> Bool {
    if variable == "LARDER_KEY" || variable.hasPrefix("LARDER_TEST_") { return true }
    let rest = variable.dropFirst(prefix.count)
    if rest == "SERVICE_HOST" || rest == "PORT" || rest == "SERVICE_PORT" { return true }
    if rest.hasPrefix("SERVICE_PORT_") { return true }
    let words = rest.split(separator: "_", omittingEmptySubsequences: false)
    return (3...4).contains(words.count) && words[0] == "PORT" && Int(decimal: words[1]) != nil
      && ["TCP", "UDP", "SCTP"].contains(words[2])
      && (words.count == 3 || ["PROTO", "PORT", "ADDR"].contains(words[3]))
  }

  static func suggestion(for variable: String) -> String? {
    let known = paths.keys.sorted()
    let suffixes = known.map { String($0.dropFirst(prefix.count)) }
    return NearestNames.suggestions(
      for: String(variable.dropFirst(prefix.count)), among: suffixes
    ).first.map { prefix + $0 }
  }
}
