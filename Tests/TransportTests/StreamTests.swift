import Glibc
import TestSupport
import Testing
import Transport

struct StreamTests {
  enum Kind: CaseIterable, Sendable {
    case tcp
    case unix
    case tls
  }

  /// An echo server of `kind` and what a client needs to reach it.
  private func listen(
    _ kind: Kind, on group: EventLoopGroup, log: ServerLog
  ) async throws -> (server: ServerSocket, endpoint: Endpoint, tls: TLSClientContext?) {
    switch kind {
    case .unix:
      let path = try TestFolder.untilExit("transport").path + "/echo.sock"
      let server = try await group.listen(on: .unix(path: path)) { _ in EchoAcceptor(log: log) }
      return (server, .unix(path: path), nil)
    case .tcp:
      let server = try await group.listen(on: .host("127.0.0.1", port: 0)) { _ in
        EchoAcceptor(log: log)
      }
      return (server, .host("127.0.0.1", port: server.address.port ?? 0), nil)
    case .tls:
      let files = try TestCertificates.shared.get()
      let context = try TLSServerContext([files.leaf])
      let server = try await group.listen(on: .host("127.0.0.1", port: 0), tls: context) { _ in
        EchoAcceptor(log: log)
      }
      let client = try TLSClientContext(trust: .file(files.authority))
      return (server, .host("localhost", port: server.address.port ?? 0), client)
    }
  }

  @Test(
    "A stream echoes all bytes and ends cleanly",
    arguments: Kind.allCases, [1, 1000, 3_000_000])
  func echoesAndEndsCleanly(kind: Kind, size: Int) async throws {
    try await withLoops { group in
      let log = ServerLog()
      let (_, endpoint, tls) = try await listen(kind, on: group, log: log)
      let client = await TestClient(endpoint, tls: tls, on: group.reactors[0])
      let bytes = pattern(size)
      await client.write(bytes)
      #expect(difference(await client.receive(size, within: .seconds(20)), bytes) == nil)
      await client.perform { $0.shutDownWriting() }
      #expect(await eventuallyHolds { client.state.hasEnded })
      #expect(client.state.endedCleanly)
      await client.perform { $0.close() }
      #expect(await client.closeReason() == .closedHere)
      #expect(await eventuallyHolds { log.current.reasons == [.closedHere] })
      #expect(log.current.opened == 1)
    }
  }

  @Test(
    "Many streams are served at once on all loops",
    arguments: Kind.allCases)
  func servesManyAtOnceOnAllLoops(kind: Kind) async throws {
    try await withLoops { group in
      let log = ServerLog()
      let (_, endpoint, tls) = try await listen(kind, on: group, log: log)
      await withTaskGroup(of: Bool.self) { tasks in
        for index in 0..<40 {
          tasks.addTask {
            let client = await TestClient(endpoint, tls: tls, on: group.next())
            let bytes = Array("client \(index)".utf8)
            await client.write(bytes)
            let answer = await client.receive(bytes.count)
            await client.perform { $0.close() }
            return answer == bytes
          }
        }
        for await isRight in tasks { #expect(isRight) }
      }
      #expect(await eventuallyHolds { log.current.reasons.count == 40 })
    }
  }

  @Test(
    "Files and bytes are sent in order",
    arguments: Kind.allCases)
  func sendsFilesBetweenBytes(kind: Kind) async throws {
    let folder = try TestFolder("transport")
    defer { folder.remove() }
    let path = folder.path + "/file"
    let content = pattern(1_500_000)
    let target = open(path, O_CREAT | O_WRONLY, 0o600)
    #expect(write(target, content, content.count) == content.count)
    Glibc.close(target)
    try await withLoops { group in
      let (_, endpoint, tls) = try await listen(kind, on: group, log: ServerLog())
      let client = await TestClient(endpoint, tls: tls, on: group.reactors[0])
      let file = try OpenFile(path: path)
      #expect(file.byteCount == content.count)
      await client.perform { stream in
        stream.write([1, 2, 3])
        stream.write(file, offset: 10, count: content.count - 10)
        stream.write([4, 5, 6])
      }
      let answer = await client.receive(content.count - 4, within: .seconds(20))
      #expect(difference(answer, [1, 2, 3] + content[10...] + [4, 5, 6]) == nil)
    }
  }

  @Test("Anything but a regular file is refused")
  func fileThatIsNoRegularFileIsRefused() {
    #expect(throws: SystemError.self) { try OpenFile(path: "/tmp") }
    #expect(throws: SystemError.self) { try OpenFile(path: "/dev/null") }
  }

  @Test("A head and a body written together arrive in order")
  func headAndBodyArriveInOrder() async throws {
    try await withLoops(1) { group in
      let (_, endpoint, tls) = try await listen(.tcp, on: group, log: ServerLog())
      let client = await TestClient(endpoint, tls: tls, on: group.reactors[0])
      let body = [UInt8](repeating: 7, count: 2_000_000)
      #expect(await eventuallyHolds { client.state.isOpened })
      await client.perform { $0.write([1, 2], body) }
      let answer = await client.receive(body.count + 2, within: .seconds(20))
      #expect(difference(answer, [1, 2] + body) == nil)
    }
  }

  @Test("A refused connection is reported")
  func refusedConnectIsReported() async throws {
    try await withLoops(1) { group in
      let server = try await group.listen(on: .host("127.0.0.1", port: 0)) { _ in
        EchoAcceptor(log: ServerLog())
      }
      let port = server.address.port ?? 0
      await server.stopAccepting()
      let client = await TestClient(.host("127.0.0.1", port: port), on: group.reactors[0])
      guard case .connectFailed(.refused(let error)) = await client.closeReason() else {
        Issue.record("not refused: \(String(describing: client.state.reason))")
        return
      }
      #expect(error.code == ECONNREFUSED)
    }
  }

  /// The peer responds, does not read the request, and closes: its reset must not lose the response.
  @Test(
    "A response is read although writing has failed",
    arguments: [false, true])
  func responseIsReadThoughWritingFails(isSlow: Bool) async throws {
    try await withLoops(2) { group in
      let server = try await group.listen(on: .host("127.0.0.1", port: 0)) { _ in RefusingServer() }
      for _ in 0..<20 {
        let client = await TestClient(
          .host("127.0.0.1", port: server.address.port ?? 0), on: group.reactors[0])
        #expect(await eventuallyHolds { client.state.isOpened })
        if isSlow {
          await client.write([1])
          #expect(await client.receive(2) == [78, 79])
        }
        await client.write([UInt8](repeating: 1, count: 20_000_000))
        #expect(await client.closeReason() == .resetByPeer)
        #expect(client.state.bytes == [78, 79])
      }
    }
  }

  @Test("An unknown host name is reported")
  func unknownNameIsReported() async throws {
    try await withLoops(1) { group in
      let client = await TestClient(.host("no-such-name.invalid", port: 80), on: group.reactors[0])
      guard case .connectFailed(.unresolved) = await client.closeReason() else {
        Issue.record("not unresolved: \(String(describing: client.state.reason))")
        return
      }
    }
  }

  @Test("A loop that stops closes its streams")
  func loopThatStopsClosesItsStreams() async throws {
    let log = ServerLog()
    let group = try EventLoopGroup(count: 1)
    let (_, endpoint, _) = try await listen(.tcp, on: group, log: log)
    let client = await TestClient(endpoint, on: group.reactors[0])
    await client.write([1])
    #expect(await client.receive(1) == [1])
    await group.shutdown()
    #expect(client.state.reason == .loopStopped)
    #expect(log.current.reasons == [.loopStopped])
  }
}

/// Responds with "NO" to the first bytes and closes without reading further.
private final class RefusingServer: StreamAcceptor, StreamDelegate {
  func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)? {
    self
  }

  func received(
    _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor
  ) {
    stream.pauseReading()
    stream.write([78, 79])
    stream.close()
  }

  func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor) { stream.close() }
  func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor) {}
}
