import Model
import Testing

@testable import Gateway

/// Which lists a commit can have changed.
struct ListIndexTests {
  private static let ada = Scope.user("ada")
  private static let phone = Scope.device("d1")

  private static func key(_ type: String, _ key: String) -> EntityKey {
    EntityKey(type: type, key: key)
  }

  private static func report(
    _ changes: [(Scope, EntityKey)], invalidated: [InvalidationTarget] = [],
    overlays: [CommitReport.Overlay] = []
  ) -> CommitReport {
    CommitReport(
      revision: Revision(1), changes: changes.map { .init(scope: $0.0, key: $0.1) },
      invalidated: invalidated, resultChanged: false, isExact: true, head: Revision(1),
      overlays: overlays)
  }

  private var index = ListIndex()

  init() {
    let adas = Viewer(layers: [Self.ada, .public])
    _ = index.set(1, to: ListDependencies(types: ["Film"]), seenBy: .anonymous)
    _ = index.set(2, to: ListDependencies(types: ["Film"]), seenBy: adas)
    _ = index.set(3, to: ListDependencies(keys: [Self.key("Film", "1")]), seenBy: .anonymous)
    _ = index.set(
      4, to: ListDependencies(types: ["Note"], followsDevice: true),
      seenBy: Viewer(layers: [Self.phone, .public]))
  }

  @Test("A commit touches the lists of its types, keys and scopes only")
  func touchesByTypeKeyAndScope() {
    let film = Self.key("Film", "1")
    let other = Self.key("Film", "2")
    #expect(
      index.touched(by: Self.report([(.public, film)]))
        == [1: .keys([film]), 2: .keys([film]), 3: .keys([film])])
    #expect(
      index.touched(by: Self.report([(.public, film), (.public, other)]))[1]
        == .keys([film, other]))
    #expect(index.touched(by: Self.report([(.public, other)]))[3] == nil)
    #expect(index.touched(by: Self.report([(Self.ada, film)])) == [2: .keys([film])])
    #expect(index.touched(by: Self.report([(.public, Self.key("Person", "1"))])).isEmpty)
    #expect(index.touched(by: Self.report([(Self.phone, film)])) == [4: .everything])
    let overlay = CommitReport.Overlay(device: "d1", key: film, isLaid: true)
    #expect(index.touched(by: Self.report([], overlays: [overlay])) == [4: .everything])
  }

  @Test("The purge of a type touches its lists whole, an invalidation of anything else none")
  func purgesTouchWholeLists() {
    let touched = index.touched(by: Self.report([], invalidated: [.type("Film")]))
    #expect(touched == [1: .everything, 2: .everything, 3: .everything])
    #expect(
      index.touched(by: Self.report([], invalidated: [.operation("Films"), .tag("t")])).isEmpty)
  }

  @Test("More changed entities than are read one by one touch a list whole")
  func manyChangesTouchWholeLists() {
    let changes = (0...ListIndex.Touch.keysMax).map { (Scope.public, Self.key("Film", "\($0)")) }
    #expect(index.touched(by: Self.report(changes))[1] == .everything)
  }

  @Test("A list that is removed, or depends on something else, is no longer touched")
  func removedListsAreNotTouched() {
    var index = index
    let isSame = !index.set(1, to: ListDependencies(types: ["Film"]), seenBy: .anonymous)
    let isMoved = index.set(1, to: ListDependencies(types: ["Person"]), seenBy: .anonymous)
    #expect(isSame && isMoved)
    for number in [2, 3, 4] as [UInt64] { index.remove(number) }
    #expect(index.touched(by: Self.report([(.public, Self.key("Film", "1"))])).isEmpty)
    let person = Self.key("Person", "1")
    #expect(index.touched(by: Self.report([(.public, person)])) == [1: .keys([person])])
    index.remove(1)
    #expect(index.isEmpty)
  }
}
