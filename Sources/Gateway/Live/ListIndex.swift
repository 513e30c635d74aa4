import Model

/// The followed lists that a commit can change, by what they were read from.
///
/// A value without I/O. A commit is looked up by the scope and type, or the scope and key, of each of
/// its changes, so its cost does not grow with the number of lists that it does not touch.
struct ListIndex {
  /// Why a list must be read again.
  enum Touch: Equatable {
    /// These entities were changed, and no others of those it depends on.
    case keys(Set<EntityKey>)
    case everything

    /// The number of changed entities beyond which a list is read whole: reading them one by one would
    /// cost as much.
    static let keysMax = 128

    mutating func add(_ other: Touch) {
      guard case .keys(let known) = self, case .keys(let more) = other else {
        self = .everything
        return
      }
      let all = known.union(more)
      self = all.count > Self.keysMax ? .everything : .keys(all)
    }
  }

  private struct TypePlace: Hashable {
    let scope: Scope
    let type: String
  }

  private struct KeyPlace: Hashable {
    let scope: Scope
    let key: EntityKey
  }

  private struct Entry {
    let dependencies: ListDependencies
    let viewer: Viewer
  }

  private var entries: [UInt64: Entry] = [:]
  private var byType: [TypePlace: Set<UInt64>] = [:]
  private var byKey: [KeyPlace: Set<UInt64>] = [:]
  /// Lists that depend on everything in a device's scope.
  private var byDevice: [Scope: Set<UInt64>] = [:]
  /// How many lists depend on some entity of a type: changes of all others are skipped.
  private var typeCounts: [String: Int] = [:]

  var isEmpty: Bool { entries.isEmpty }

  /// Sets what a list depends on.
  ///
  /// - Returns: whether that differs from before.
  mutating func set(
    _ number: UInt64, to dependencies: ListDependencies, seenBy viewer: Viewer
  ) -> Bool {
    if let known = entries[number] {
      if known.dependencies == dependencies { return false }
      remove(number)
    }
    let entry = Entry(dependencies: dependencies, viewer: viewer)
    entries[number] = entry
    for type in Self.types(of: dependencies) { typeCounts[type, default: 0] += 1 }
    for scope in viewer.layers {
      for type in dependencies.types {
        byType[TypePlace(scope: scope, type: type), default: []].insert(number)
      }
      for key in dependencies.keys {
        byKey[KeyPlace(scope: scope, key: key), default: []].insert(number)
      }
    }
    for scope in Self.deviceScopes(of: entry) { byDevice[scope, default: []].insert(number) }
    return true
  }

  mutating func remove(_ number: UInt64) {
    guard let entry = entries.removeValue(forKey: number) else { return }
    for type in Self.types(of: entry.dependencies) {
      typeCounts[type, default: 1] -= 1
      if typeCounts[type] == 0 { typeCounts[type] = nil }
    }
    for scope in entry.viewer.layers {
      for type in entry.dependencies.types {
        Self.remove(number, from: &byType, at: TypePlace(scope: scope, type: type))
      }
      for key in entry.dependencies.keys {
        Self.remove(number, from: &byKey, at: KeyPlace(scope: scope, key: key))
      }
    }
    for scope in Self.deviceScopes(of: entry) { Self.remove(number, from: &byDevice, at: scope) }
  }

  /// Returns the lists that a commit can have changed, with what it changed of them.
  func touched(by report: CommitReport) -> [UInt64: Touch] {
    guard !entries.isEmpty else { return [:] }
    var touches: [UInt64: Touch] = [:]
    var keys: [TypePlace: Set<EntityKey>] = [:]
    let overlays = report.overlays.lazy.map {
      CommitReport.Change(scope: .ownData(ofDevice: $0.device), key: $0.key)
    }
    for changes in [report.changes, Array(overlays)] {
      for change in changes {
        if !byDevice.isEmpty, let found = byDevice[change.scope] {
          for number in found { touches[number] = .everything }
        }
        guard typeCounts[change.key.type] != nil else { continue }
        for number in byKey[KeyPlace(scope: change.scope, key: change.key)] ?? [] {
          touches[number, default: .keys([])].add(.keys([change.key]))
        }
        let place = TypePlace(scope: change.scope, type: change.key.type)
        if byType[place] != nil { keys[place, default: []].insert(change.key) }
      }
    }
    for (place, keys) in keys {
      let touch = keys.count > Touch.keysMax ? Touch.everything : .keys(keys)
      for number in byType[place] ?? [] {
        // Most lists share the set of the commit.
        if touches[number] == nil { touches[number] = touch } else { touches[number]?.add(touch) }
      }
    }
    for number in purged(by: report) { touches[number] = .everything }
    return touches
  }

  /// The lists of a purged type: the report of such a commit names no single entity.
  private func purged(by report: CommitReport) -> [UInt64] {
    guard report.revision != nil else { return [] }
    let types = report.invalidated.compactMap { target in
      if case .type(let type) = target { type } else { nil }
    }.filter { typeCounts[$0] != nil }
    guard !types.isEmpty else { return [] }
    return entries.filter { !Self.types(of: $0.value.dependencies).isDisjoint(with: types) }
      .map(\.key)
  }

  private static func types(of dependencies: ListDependencies) -> Set<String> {
    dependencies.types.union(dependencies.keys.map(\.type))
  }

  private static func deviceScopes(of entry: Entry) -> [Scope] {
    entry.dependencies.followsDevice ? entry.viewer.layers.filter { $0.kind == .device } : []
  }

  private static func remove<Place: Hashable>(
    _ number: UInt64, from lists: inout [Place: Set<UInt64>], at place: Place
  ) {
    lists[place]?.remove(number)
    if lists[place]?.isEmpty == true { lists[place] = nil }
  }
}
