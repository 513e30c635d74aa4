import Glibc
import TestSupport
import Testing
import Transport

/// Descriptors are counted for the whole process, so these run one at a time; other suites open
/// descriptors beside them, hence the margin.
@Suite(.serialized)
struct RudePeerTests {
  private func listen(on group: EventLoopGroup, log: ServerLog) async throws -> UInt16 {
    let server = try await group.listen(on: .host("127.0.0.1", port: 0)) { _ in
      EchoAcceptor(log: log)
    }
    return server.address.port ?? 0
  }

  @Test("A peer that does not read stops the writer")
  func peerThatDoesNotReadHoldsTheWriterBack() async throws {
    try await withLoops(1) { group in
      let log = ServerLog()
      let port = try await listen(on: group, log: log)
      let peer = try RawPeer(connectedTo: port, receiveBufferBytes: 4096)
      var timeout = timeval(tv_sec: 0, tv_usec: 200_000)
      setsockopt(
        peer.descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
      // Sends until the server, whose output is not read, stops reading.
      let block = [UInt8](repeating: 9, count: 64 * 1024)
      var sent = 0
      while sent < 512 * 1024 * 1024 {
        let count = send(peer.descriptor, block, block.count, Int32(MSG_NOSIGNAL))
        guard count > 0 else { break }
        sent += count
      }
      #expect(sent < 64 * 1024 * 1024, "the server went on reading")
      #expect(log.current.bytes <= sent)
      let waiting = log.current.bytes
      #expect(try peer.receive(waiting).count == waiting)
      peer.shutDownWriting()
      #expect(try peer.receive(.max).count == sent - waiting)
      #expect(await eventuallyHolds { log.current.reasons == [.closedHere] })
      #expect(log.current.bytes == sent)
    }
  }

  @Test(
    "No way to disconnect leaves a descriptor behind",
    arguments: ["reset", "half close", "close", "reset unread"])
  func leavesNoDescriptorBehind(manner: String) async throws {
    try await withLoops(2) { group in
      let log = ServerLog()
      let port = try await listen(on: group, log: log)
      let before = await openCount(group)
      for _ in 0..<300 {
        let peer = try RawPeer(connectedTo: port)
        try peer.send([1, 2, 3])
        switch manner {
        case "reset": peer.closeWillReset()
        case "half close":
          peer.shutDownWriting()
          #expect(try peer.receive(4) == [1, 2, 3])
        case "reset unread":
          _ = try peer.receive(1)
          peer.closeWillReset()
        default: break
        }
      }
      #expect(await eventuallyHolds { log.current.reasons.count == 300 })
      #expect(await openCount(group) == before)
      #expect(log.current.accepted == 300)
    }
  }

  @Test("All descriptors are free after many connections")
  func descriptorsOfTheProcessComeBack() async throws {
    let before = descriptorCount()
    for _ in 0..<5 {
      try await withLoops(2) { group in
        let log = ServerLog()
        let port = try await listen(on: group, log: log)
        for _ in 0..<100 {
          let peer = try RawPeer(connectedTo: port)
          try peer.send([1])
          peer.closeWillReset()
        }
        #expect(await eventuallyHolds { log.current.reasons.count == 100 })
      }
    }
    #expect(await eventuallyHolds { descriptorCount() < before + 100 })
  }

  private func openCount(_ group: EventLoopGroup) async -> Int {
    var sum = 0
    for reactor in group.reactors { sum += await reactor.openCount }
    return sum
  }

  private func descriptorCount() -> Int {
    guard let directory = opendir("/proc/self/fd") else { return .max }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
  }
}
