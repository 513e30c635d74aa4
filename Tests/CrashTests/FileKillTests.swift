import Foundation
import Synchronization
import TestSupport
import Testing

extension Crashes {
  /// Objects being written while the service is killed or its disk is full: the old version or the new one,
  /// whole, and no stray files.
  struct FileKillTests {
    private static let rounds = 6
    private static let writers = 4
    private static let settings = """
      files:
        buckets:
          pics:
            access: public-read
      """

    /// The responses that a writer got for its object.
    private struct WriterState: Sendable {
      var acknowledged = 0
      var tried = 0
    }

    /// The variables of a service that encrypts its files.
    private static let encryption = [
      "LARDER_KEY=\(String(repeating: "5c", count: 32))", "LARDER_DATA_ENCRYPTION=true",
    ]

    private static func serve(
      _ folder: ServiceFolder, isEncrypted: Bool
    ) async throws -> LarderProcess {
      let larder = try LarderProcess.spawnService(folder, under: isEncrypted ? encryption : [])
      try await larder.becomeReady()
      return larder
    }

    @Test(
      "kill -9 during writes leaves whole objects and no other files",
      arguments: [UInt64(77)], [false, true])
    func killLeavesWholeObjects(seed: UInt64, isEncrypted: Bool) async throws {
      var random = SeededGenerator(seed: seed)
      let folder = try ServiceFolder(
        upstream: RefusedStartTests.nowhere, settings: Self.settings)
      let told = (0..<Self.writers).map { _ in Shared(WriterState()) }
      for round in 0..<Self.rounds {
        let larder = try await Self.serve(folder, isEncrypted: isEncrypted)
        await KilledService.load(
          larder, at: .init(after: 4..<40, delayMax: .milliseconds(15), random: &random),
          count: { told.reduce(0) { $0 + $1.value.acknowledged } },
          clients: told.enumerated().map { number, told in
            { port in Self.write(number, port: port, told: told) }
          })
        try await check(
          folder, isEncrypted: isEncrypted, told: told, note: "seed \(seed), round \(round)")
      }
    }

    @Test(
      "A full disk refuses writes and keeps the objects",
      .enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func fullDiskRefusesWritesAndKeepsObjects() async throws {
      let disk = try SmallDisk()
      let folder = try ServiceFolder(
        upstream: RefusedStartTests.nowhere, data: "\(disk.path)/data", settings: Self.settings)
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      #expect(try await Self.put("k", Self.content(1), port: port).status == 201)
      try disk.fill()
      let refused = try await Self.put("k", Self.content(2), port: port)
      #expect(refused.status == 503)
      #expect(refused.text.contains("\"code\":\"storage_full\""))
      let read = try await onOwnThread {
        try RawClient(port: port).request("GET", "/v1/files/pics/k")
      }
      #expect(read.body == Self.content(1))
      try disk.free()
      #expect(try await Self.put("k", Self.content(3), port: port).status == 200)
      #expect(try FileManager.default.contentsOfDirectory(atPath: Self.incoming(folder)) == [])
      #expect(try await larder.terminate() == 0)
    }

    /// Expects every object to be one that its writer sent, whole, and not older than the last acknowledged
    /// one.
    private func check(
      _ folder: ServiceFolder, isEncrypted: Bool, told: [Shared<WriterState>], note: String
    ) async throws {
      let larder = try await Self.serve(folder, isEncrypted: isEncrypted)
      let port = larder.port
      for (number, told) in told.enumerated() {
        let told = told.value
        let answer = try await onOwnThread {
          try RawClient(port: port).request("GET", "/v1/files/pics/k\(number)")
        }
        if told.acknowledged == 0, answer.status == 404 { continue }
        let version = answer.body.count - Self.contentBytes
        #expect(
          version >= told.acknowledged && version <= told.tried,
          "\(note): \(version) of \(told)")
        #expect(answer.body == Self.content(version), "\(note)")
      }
      let isSwept = await Moment.comes(withinSeconds: 20) {
        try FileManager.default.contentsOfDirectory(atPath: Self.incoming(folder)).isEmpty
      }
      #expect(isSwept, "\(note)")
      let kept = try FileManager.default.subpathsOfDirectory(
        atPath: "\(folder.dataPath)/files/objects"
      ).filter { $0.contains("/") }
      #expect(kept.count <= told.count, "\(note): \(kept.count) files")
      for name in kept {
        let file = URL(filePath: "\(folder.dataPath)/files/objects/\(name)")
        let isSealed = try Data(contentsOf: file).starts(with: Data("LARDERE1".utf8))
        #expect(isSealed == isEncrypted, "\(note): \(name)")
      }
      #expect(try StoredFiles(of: folder).faults() == [], "\(note)")
      await larder.kill()
    }

    /// Writes one object repeatedly until the service ends.
    private static func write(_ number: Int, port: Int, told: Shared<WriterState>) {
      while true {
        let version = told.value.tried + 1
        told.change { $0.tried = version }
        guard let client = try? RawClient(port: port),
          let answer = try? put("k\(number)", content(version), by: client)
        else { return }
        if answer.status < 300 { told.change { $0.acknowledged = version } }
      }
    }

    private static func put(
      _ key: String, _ content: [UInt8], port: Int
    ) async throws -> RawResponse {
      try await onOwnThread { try put(key, content, by: RawClient(port: port)) }
    }

    private static func put(
      _ key: String, _ content: [UInt8], by client: RawClient
    ) throws -> RawResponse {
      try client.send(
        "PUT /v1/files/pics/\(key) HTTP/1.1\r\nHost: x\r\n"
          + "Authorization: Bearer \(ServiceFolder.adminToken)\r\n"
          + "Content-Length: \(content.count)\r\n\r\n")
      try client.send(content)
      return try client.response(to: "PUT")
    }

    private static let contentBytes = 150_000

    /// The content of a version: each has its own length and bytes.
    private static func content(_ version: Int) -> [UInt8] {
      [UInt8](repeating: UInt8(truncatingIfNeeded: version), count: contentBytes + version)
    }

    private static func incoming(_ folder: ServiceFolder) -> String {
      "\(folder.dataPath)/files/incoming"
    }
  }
}

/// A value that several threads change.
private final class Shared<Value: Sendable>: Sendable {
  private let state: Mutex<Value>

  init(_ value: Value) { state = Mutex(value) }

  var value: Value { state.withLock { $0 } }

  func change(_ body: (inout Value) -> Void) { state.withLock { body(&$0) } }
}
