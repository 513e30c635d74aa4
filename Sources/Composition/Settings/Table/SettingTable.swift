import GraphQL

/// The table of all settings.
package enum SettingTable {
  package static let sections: [SettingSection] = [
    place, upstream, upstreams, links, graphQL, cache, types, admin, tls, cors, limits, proxies,
    start, clock, drain, log,
    metrics, tracing,
    accounts, files, s3, push, hooks, queue, devices, cluster, standby,
    generate,
  ]

  package static let keys: [SettingKey] = sections.flatMap(\.keys)

  /// The names of all sections and settings, without those that the operator chooses.
  static let memberNames = Set(
    keys.flatMap { $0.components.map(String.init) }.filter { !$0.hasPrefix("<") })

  /// The result of looking up a written name.
  enum Match {
    case key(SettingKey)
    case section
    case unknown
  }

  static func match(_ path: [String]) -> Match {
    let rows = keys.filter { $0.leads(from: path) }
    if let row = rows.first(where: { $0.components.count == path.count }) { return .key(row) }
    return rows.isEmpty ? .unknown : .section
  }

  /// The name of a setting that has other settings under it, as `schema` has, among them.
  static let ownMember = "path"

  /// Whether there are settings under the setting of this name.
  static func hasSettings(under path: [String]) -> Bool {
    keys.contains { $0.leads(from: path) && $0.components.count > path.count }
  }

  /// Whether a section has a setting that switches its part of the service off.
  static func hasSwitch(_ path: [String]) -> Bool {
    keys.contains { $0.components.map(String.init) == path + [SettingKey.switchMember] }
  }

  /// The form of names directly under `path`, if the operator chooses them.
  static func memberForm(under path: [String]) -> TextForm<String>? {
    keys.lazy.compactMap { $0.memberForm(under: path) }.first
  }

  /// A suggestion for the unknown name `path`: a sibling with a similar spelling, else a setting of
  /// the same name in another section.
  static func suggestion(for path: [String]) -> String? {
    guard let last = path.last else { return nil }
    let parent = Array(path.dropLast())
    let siblings = keys.filter { $0.leads(from: parent) && $0.components.count > parent.count }
      .map { String($0.components[parent.count]) }
      .filter { !$0.hasPrefix("<") }
    if let sibling = NearestNames.suggestions(for: last, among: siblings).first {
      return (parent + [sibling]).joined(separator: ".")
    }
    let namesake = keys.first { $0.components.last?.lowercased() == last.lowercased() }
    return namesake?.name
  }
}
