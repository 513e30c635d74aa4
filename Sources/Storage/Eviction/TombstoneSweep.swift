/// The order in which deletions go: that of the index over change rows of what is not there.
enum TombstoneSweep {
  struct Place: Equatable {
    var revision: Int64
    var scope: Int64
    var type: Int64
    var key: String
  }
}

extension EvictionPass.Phase {
  static let firstOfTombstones = EvictionPass.Phase.tombstones(
    after: .init(revision: 0, scope: -1, type: 0, key: ""))
  static let firstOfInvalidations = EvictionPass.Phase.invalidations(
    after: .init(kind: -1, name: "", scope: 0))
}
