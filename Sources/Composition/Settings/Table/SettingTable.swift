import GraphQL

/// Every setting there is.
package enum SettingTable {
  package static let sections: [SettingSection] = [
    place, upstream, cache, types, admin, tls, cors, limits, proxies, start, clock, drain, log,
    metrics,
    accounts, files, s3, push, queue, devices,
  ]

  package static let keys: [SettingKey] = sections.flatMap(\.keys)

  /// What a written name leads to.
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

  /// What a setting that others stand under, as `schema`, is called among them.
  static let ownMember = "path"

  /// Whether other settings stand under the one of this name.
  static func hasSettings(under path: [String]) -> Bool {
    keys.contains { $0.leads(from: path) && $0.components.count > path.count }
  }

  /// How names directly under `path` are spelled, where they are the writer's own.
  static func memberForm(under path: [String]) -> TextForm<String>? {
    keys.first { $0.openSection?.map(String.init) == path }?.memberForm
  }

  /// A name for somebody who wrote `path`: a sibling spelled much alike, else a setting of that
  /// name in another section.
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
