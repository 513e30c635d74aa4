import Synchronization
import Testing

@testable import HTTPServer

/// Back-pressure between a connection's loop, which offers content, and its reader.
struct BodyChannelTests {
  private static func chunk(_ kibibytes: Int) -> [UInt8] {
    [UInt8](repeating: 0, count: kibibytes * 1024)
  }

  /// The loop offers all chunks of one read of the socket, also after the reader has fallen behind; in
  /// between, the reader takes some. Once it has caught up it must ask for more, or the socket is never read again.
  @Test("A reader that catches up asks for more, whatever was offered since it fell behind")
  func asksForMoreAfterLateChunks() async throws {
    let asked = Mutex(0)
    let channel = BodyChannel { asked.withLock { $0 += 1 } }
    #expect(!channel.offer(Self.chunk(40)))
    #expect(channel.offer(Self.chunk(40)))
    #expect(try await channel.next()?.count == 40 * 1024)
    channel.offer(Self.chunk(1))
    #expect(asked.withLock { $0 } == 0)
    #expect(try await channel.next()?.count == 40 * 1024)
    #expect(asked.withLock { $0 } == 1)
    #expect(try await channel.next()?.count == 1024)
    #expect(asked.withLock { $0 } == 1)
  }

  /// Any order of offers and takes: whenever the loop was told to stop and the reader has then taken
  /// everything, it has been asked to go on.
  @Test("After a backlog the loop is asked to go on", arguments: 0..<200)
  func neverForgetsToAsk(seed: UInt64) async throws {
    var dice = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func roll(_ count: UInt64) -> UInt64 {
      dice ^= dice << 13
      dice ^= dice >> 7
      dice ^= dice << 17
      return dice % count
    }
    let isHeld = Mutex(false)
    let channel = BodyChannel { isHeld.withLock { $0 = false } }
    var waiting = 0
    for _ in 0..<300 {
      if waiting > 0, roll(2) == 0 {
        #expect(try await channel.next() != nil)
        waiting -= 1
        #expect(waiting > 0 || !isHeld.withLock { $0 }, "seed \(seed)")
      } else {
        // A loop that was told to stop still offers the rest of what it has read.
        if isHeld.withLock({ $0 }), roll(4) > 0 { continue }
        if channel.offer(Self.chunk(Int(roll(50)) + 1)) { isHeld.withLock { $0 = true } }
        waiting += 1
      }
    }
  }
}
