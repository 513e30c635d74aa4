import Model
import SyncScheduler
import Testing

/// Lists of local writes among a device's mutations.
struct LocalWriteOrderTests {
  private static func write(
    _ mode: MutationMode = .lazy, refs: [EntityKey] = [], creates: [TemporaryEntity] = []
  ) -> QueueFixture.Asked {
    QueueFixture.Asked(
      operation: Mutation.writeOperation, object: nil, mode: mode,
      effect: creates.isEmpty ? .update : .create, refs: refs, creates: creates,
      rule: .sendAgain, upstream: Mutation.writeUpstream)
  }

  @Test("Every later mutation waits for a list of local writes, whatever upstream it is for")
  func laterMutationsWait() throws {
    var fixture = QueueFixture()
    try fixture.add("write", Self.write())
    try fixture.add("lazy")
    try fixture.add("steady", .steady(.film("2")))
    var other = QueueFixture.Asked.rename(.film("3"))
    other.upstream = "shop"
    try fixture.add("other", other)
    #expect(fixture.ready == ["write"])
    try fixture.claim("write")
    #expect(fixture.ready == [])
    try fixture.settle("write", .applied(created: [:]))
    #expect(Set(fixture.ready) == ["lazy", "other"])
  }

  @Test("A forced mutation overtakes local writes that it does not conflict with")
  func forceOvertakes() throws {
    var fixture = QueueFixture()
    try fixture.add("write", Self.write(refs: [.film("1")]))
    try fixture.add("free", .force(.film("2")))
    try fixture.add("bound", .force(.film("1")))
    #expect(Set(fixture.ready) == ["write", "free"])
    try fixture.send("write")
    // One at a time to each upstream is asked for next.
    try fixture.send("free")
    #expect(fixture.ready == ["bound"])
  }

  @Test("A lazy list waits only for what it conflicts with, a steady one for all steady mutations")
  func writesWait() throws {
    var fixture = QueueFixture()
    try fixture.add("one", .steady(.film("1")))
    var other = QueueFixture.Asked.steady(.film("2"))
    other.upstream = "shop"
    try fixture.add("two", other)
    try fixture.add("steady", Self.write(.steady))
    #expect(Set(fixture.ready) == ["one", "two"])
    try fixture.send("one")
    #expect(fixture.ready == ["two"])
    try fixture.send("two")
    #expect(fixture.ready == ["steady"])
    try fixture.send("steady")
    try fixture.add("three", .steady(.film("1")))
    try fixture.add("free", Self.write())
    try fixture.add("bound", Self.write(refs: [.film("1")]))
    #expect(Set(fixture.ready) == ["three", "free"])
    try fixture.send("free")
    #expect(fixture.ready == ["three"])
    try fixture.send("three")
    #expect(fixture.ready == ["bound"])
  }

  @Test("A rejected list rejects the mutations that mention what it was to insert, and no others")
  func rejectionReachesDependants() throws {
    var fixture = QueueFixture()
    let id = TemporaryID.test(1)
    try fixture.add(
      "write", Self.write(creates: [TemporaryEntity(id: id, type: "Trip")]))
    var booking = QueueFixture.Asked(operation: "Book", object: nil)
    booking.mentions = [id]
    try fixture.add("booking", booking)
    try fixture.add("other", .rename(.film("3")))
    try fixture.send("write", .permanent)
    #expect(fixture.state("write") == .rejected)
    #expect(fixture.state("booking") == .rejected)
    #expect(fixture.ready == ["other"])
  }

  @Test("A parked list holds up no mutation that does not conflict with it")
  func parkedListBlocksNothingElse() throws {
    var fixture = QueueFixture()
    try fixture.add("write", Self.write())
    try fixture.add("other")
    try fixture.send("write", .operationChanged)
    #expect(fixture.state("write") == .parked)
    #expect(fixture.ready == ["other"])
  }
}
