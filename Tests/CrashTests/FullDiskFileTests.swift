import Foundation
import S3Wire
import TestSupport
import Testing

extension Crashes {
  /// No room for content: whoever writes hears so in the words of its interface, what was there stays
  /// whole, and nothing of what did not fit stays behind.
  struct FullDiskFileTests {
    private static let settings = """
      files:
        buckets:
          pics:
            access: public-read
      """

    @Test(.enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func theDialectTellsThatTheDiskIsFull() async throws {
      let disk = try SmallDisk()
      let folder = try ServiceFolder(
        upstream: RefusedStartTests.nowhere, data: "\(disk.path)/data", settings: Self.settings)
      let larder = try await LarderProcess.serve(folder)
      let client = try await SignedClient(port: larder.port)
      let upload = try await Self.prepare(client)
      let part = [("partNumber", "2"), ("uploadId", upload)]

      try disk.fill()
      for (path, query) in [("/s3/pics/k", []), ("/s3/pics/new", []), ("/s3/pics/p", part)] {
        let refused = try await client.request(
          "PUT", path, query: query, content: Self.content(2))
        #expect(refused.status == 507, "\(path): \(refused.text)")
        #expect(refused.errorCode == "InsufficientStorage", "\(path): \(refused.text)")
      }
      try await Self.expect(Self.content(1), client)
      #expect(try await client.request("GET", "/s3/pics/new").errorCode == "NoSuchKey")
      #expect(try Self.incoming(folder) == [])

      try disk.free()
      #expect(try await client.request("PUT", "/s3/pics/k", content: Self.content(3)).status == 200)
      try await Self.expect(Self.content(3), client)
      let parts = try await client.request("GET", "/s3/pics/p", query: [("uploadId", upload)])
      #expect(try XMLReader.read(parts.body).all("Part").count == 1, "\(parts.text)")
      #expect(try Self.incoming(folder) == [])
      #expect(try await larder.terminate() == 0)
    }

    /// An object, and an upload with one part.
    ///
    /// - Returns: the upload's id.
    private static func prepare(_ client: SignedClient) async throws -> String {
      #expect(try await client.request("PUT", "/s3/pics/k", content: content(1)).status == 200)
      let begun = try await client.request("POST", "/s3/pics/p", query: [("uploads", "")])
      let upload = try #require(try XMLReader.read(begun.body)["UploadId"]?.text)
      let part = try await client.request(
        "PUT", "/s3/pics/p", query: [("partNumber", "1"), ("uploadId", upload)],
        content: content(1))
      #expect(part.status == 200, "\(part.text)")
      return upload
    }

    private static func expect(_ content: [UInt8], _ client: SignedClient) async throws {
      let read = try await client.request("GET", "/s3/pics/k")
      #expect(read.status == 200 && read.body == content, "\(read.body.count) bytes")
    }

    private static func content(_ version: UInt8) -> [UInt8] {
      [UInt8](repeating: version, count: 300_000 + Int(version))
    }

    private static func incoming(_ folder: ServiceFolder) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: "\(folder.dataPath)/files/incoming")
    }
  }
}
