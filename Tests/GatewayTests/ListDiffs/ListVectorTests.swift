import LosslessJSON
import Model
import Testing

@testable import Gateway

struct ListVectorTests {
  private static func vector(_ rows: (String, String)...) -> ListVector {
    ListVector(rows: rows.map { ListVector.Row(id: $0.0, revision: $0.1) })
  }

  @Test func comparesNamesAndRevisions() {
    let old = Self.vector(("Film/1", "a"), ("Film/2", "b"), ("Film/3", "c"))
    let new = Self.vector(("Film/3", "c"), ("Film/1", "x"), ("Film/4", "b"))
    let diff = new.diff(from: old)
    #expect(diff.deletes == [1])
    #expect(diff.inserts == [2])
    #expect(diff.moves.count == 1)
    #expect(diff.updates == [.init(old: 0, new: 1)])
  }

  @Test func tagsTellOrderIdentityAndRevision() {
    let tags = [
      Self.vector(("Film/1", "a"), ("Film/2", "b")), Self.vector(("Film/2", "b"), ("Film/1", "a")),
      Self.vector(("Film/1", "a")), Self.vector(("Film/1", "b")), Self.vector(("Film/1a", "")),
    ].map(\.tag)
    #expect(Set(tags).count == tags.count)
    #expect(Self.vector(("Film/1", "a")).tag == tags[2])
  }

  @Test func theOldestListsAreForgotten() {
    let memory = ListMemory(byteLimit: 1_000)
    for number in 0..<20 {
      memory.keep(
        Self.vector(("Film/\(number)", "a")), tag: "\(number)", seenBy: .anonymous)
    }
    #expect(memory.vector(tagged: "0", seenBy: .anonymous) == nil)
    #expect(memory.vector(tagged: "19", seenBy: .anonymous) != nil)
    let user = Viewer(layers: [.user("ada"), .public])
    #expect(memory.vector(tagged: "19", seenBy: user) == nil)
    memory.keep(Self.vector(("Film/19", "a")), tag: "19", seenBy: user)
    #expect(memory.vector(tagged: "19", seenBy: user) != nil)
  }
}
