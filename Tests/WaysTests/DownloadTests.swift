import Foundation
import TestSupport
import Testing

extension Ways {
  /// Clients that disconnect in the middle of a download, and the resources that they held.
  struct DownloadTests {
    private static let settings = """
      files:
        buckets:
          pics:
            access: public-read
      """
    private static let path = "/v1/files/pics/k"
    /// More than the buffers of two sockets hold.
    private static let content = String(repeating: "0123456789abcdef", count: 2 << 20)

    private static func put(_ body: String, port: Int) throws {
      let stored = try RawClient(port: port).request(
        "PUT", path, headers: [("Authorization", "Bearer \(RunningLarder.adminToken)")],
        body: body)
      #expect([200, 201].contains(stored.status), "\(stored.text)")
    }

    /// The object files that this process, and so the service in it, has open, including those that have been
    /// removed in the meantime.
    private static func openObjects(in folder: String) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
        // A descriptor can be closed between the two calls.
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
      }.filter { $0.contains("\(folder)/data/files/") }
    }

    /// Begins downloads, runs a check once the first bytes of each have arrived, and disconnects.
    private static func withDownloads(
      _ count: Int, of path: String = path, port: Int, _ look: @escaping @Sendable () throws -> Void
    ) async throws {
      try await onOwnThread {
        let clients = try (0..<count).map { _ in
          let client = try RawClient(port: port)
          try client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
          return client
        }
        for client in clients {
          let first = try client.readSome()
          #expect(String(decoding: first.prefix(15), as: UTF8.self) == "HTTP/1.1 200 OK")
        }
        try look()
        withExtendedLifetime(clients) {}
      }
    }

    @Test(
      "A file is closed when the client that downloads it disconnects", arguments: [false, true])
    func fileIsClosedWithItsReader(isReplaced: Bool) async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let (port, folder) = (larder.port, larder.folder)
      try await onOwnThread { try Self.put(Self.content, port: port) }
      try await Self.withDownloads(3, port: port) {
        #expect(try Self.openObjects(in: folder).count == 3)
        guard isReplaced else { return }
        try Self.put("after", port: port)
        let open = try Self.openObjects(in: folder)
        #expect(open.count == 3 && open.allSatisfy { $0.hasSuffix("(deleted)") }, "\(open)")
      }
      let left = try await eventually({ try Self.openObjects(in: folder) }, until: \.isEmpty)
      #expect(left == [])
      let read = try await larder.get(Self.path)
      #expect(read.text == (isReplaced ? "after" : Self.content))
      await larder.stop()
    }

    /// More downloads than the service makes at once: the last one gets a place, since each is cancelled with
    /// its reader.
    @Test("A disconnected client's download from the S3 service is cancelled")
    func abandonedDownloadsAreCancelled() async throws {
      let service = try await LongObjectService()
      let larder = try await RunningLarder.start(
        settings: """
          \(Self.settings)
            store: s3
            endpoint: http://127.0.0.1:\(service.port)
            accessKey: AKIATEST
            secretKey: secretsecret
          """)
      let waves = 30
      for _ in 0..<waves {
        try await Self.withDownloads(10, of: "/v1/files/pics/long", port: larder.port) {
          #expect(service.downloads.open >= 10)
        }
      }
      let left = try await eventually({ service.downloads }, until: { $0.open == 0 })
      #expect(left == LongObjectService.Downloads(open: 0, begun: waves * 10))
      await larder.stop()
      await service.stop()
    }
  }
}
