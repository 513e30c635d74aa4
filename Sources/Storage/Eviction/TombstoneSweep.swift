/// The order in which deletions are forgotten: that of ``TombstoneLog``.
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
