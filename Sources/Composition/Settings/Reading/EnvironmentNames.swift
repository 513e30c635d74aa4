import GraphQL

/// The environment variables that are settings.
enum EnvironmentNames {
  static let prefix = "LARDER_"

  /// `upstream.url` is `LARDER_UPSTREAM_URL`, `cache.maxAge` is `LARDER_CACHE_MAX_AGE`.
  static func variable(for path: [Substring]) -> String {
    let words = path.map { component in
      component.map { $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
    }
    return prefix + words.joined(separator: "_")
  }

  /// The setting's path for each variable; an open section has one variable for all its members.
  static let paths: [String: [String]] = {
    var paths: [String: [String]] = [:]
    for key in SettingTable.keys {
      let path = key.openSection ?? key.components
      paths[variable(for: path)] = path.map(String.init)
    }
    return paths
  }()

  /// Variables named after a section, for the setting that switches its part of the service off:
  /// `LARDER_PUSH=off`.
  static let switches: [String: [String]] = {
    let keys = SettingTable.keys.filter { $0.components.last == SettingKey.switchMember[...] }
    return Dictionary(
      uniqueKeysWithValues: keys.map {
        (variable(for: $0.components.dropLast()), $0.components.map(String.init))
      })
  }()

  /// Whether a variable with our prefix is not a setting.
  ///
  /// `LARDER_KEY` encrypts secrets at rest and is read by ``DataFolder``; `LARDER_TEST_…` belongs to
  /// tests. Kubernetes sets the others in every container of a namespace with a service named
  /// `larder`.
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
