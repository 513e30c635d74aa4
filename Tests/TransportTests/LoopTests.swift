import Testing
import Transport

struct LoopTests {
  @Test func hopsToTheLoopAndBack() async throws {
    let group = try EventLoopGroup(count: 2)
    #expect(await group.reactors[0].openCount == 0)
    await group.shutdown()
  }
}
