import Foundation
import S3Wire
import TestSupport
import Testing

extension Crashes {
  /// A disk without room for content: the writer gets an error in the form of its interface, existing objects
  /// stay whole, and nothing of the refused write stays on the disk.
  struct FullDiskFileTests {
    private static let settings = """
      files:
        buckets:
          pics:
            access: public-read
      """

    @Test(
      "A full disk is reported as such and leaves nothing of the refused write",
      .enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func fullDiskIsReportedAndLeavesNothing() async throws {
      let disk = try SmallDisk()
      let folder = try ServiceFolder(
        upstream: RefusedStartTests.nowhere, data: "\(disk.path)/data", settings: Self.settings)
      let larder = try await LarderProcess.serve(folder)
      let client = try await SignedClient(port: larder.port)
      let (upload, parts) = try await Self.prepare(client)
      let complete = Request("POST", "/s3/pics/p", [("uploadId", upload)], content: parts)
      let spare = try await client.request("PUT", "/s3/pics/spare", content: [1, 2, 3])
      #expect(spare.status == 200)

      try disk.fill()
      for request in [
        Request("PUT", "/s3/pics/k", content: Self.content(2)),
        Request("PUT", "/s3/pics/new", content: Self.content(2)), Request("PUT", "/s3/pics/new"),
        Request("PUT", "/s3/pics/new", fields: [("x-amz-copy-source", "pics/k")]),
        Request("PUT", "/s3/another"), Request("POST", "/s3/pics/q", [("uploads", "")]),
        Request(
          "PUT", "/s3/pics/p", [("partNumber", "2"), ("uploadId", upload)],
          content: Self.content(2)),
        complete,
      ] {
        let refused = try await request.send(by: client)
        #expect(refused.status == 507, "\(request): \(refused.text)")
        #expect(refused.errorCode == "InsufficientStorage", "\(request): \(refused.text)")
      }
      try await Self.expect(Self.content(1), client)
      #expect(try await client.request("GET", "/s3/pics/new").errorCode == "NoSuchKey")
      #expect(try Self.incoming(folder) == [])
      // Otherwise no client could free room.
      let removed = try await client.request("DELETE", "/s3/pics/spare")
      #expect(removed.status == 204, "\(removed.text)")
      #expect(try await client.request("GET", "/s3/pics/spare").errorCode == "NoSuchKey")

      try disk.free()
      #expect(try await client.request("PUT", "/s3/pics/k", content: Self.content(3)).status == 200)
      try await Self.expect(Self.content(3), client)
      let listed = try await client.request("GET", "/s3/pics/p", query: [("uploadId", upload)])
      #expect(try XMLReader.read(listed.body).all("Part").count == 1, "\(listed.text)")
      #expect(try await complete.send(by: client).status == 200)
      #expect(try await client.request("GET", "/s3/pics/p").body == Self.content(1))
      #expect(try Self.incoming(folder) == [])
      #expect(try await larder.terminate() == 0)
    }

    private struct Request: CustomStringConvertible {
      let method: String
      let path: String
      let query: [(String, String)]
      let fields: [(String, String)]
      let content: [UInt8]

      init(
        _ method: String, _ path: String, _ query: [(String, String)] = [],
        fields: [(String, String)] = [], content: [UInt8] = []
      ) {
        self.method = method
        self.path = path
        self.query = query
        self.fields = fields
        self.content = content
      }

      var description: String { "\(method) \(path) \(query) \(content.count)" }

      func send(by client: SignedClient) async throws -> RawResponse {
        try await client.request(method, path, query: query, fields: fields, content: content)
      }
    }

    /// Creates an object, and an upload with one part.
    ///
    /// - Returns: the upload's id, and the document that completes it.
    private static func prepare(
      _ client: SignedClient
    ) async throws -> (upload: String, parts: [UInt8]) {
      #expect(try await client.request("PUT", "/s3/pics/k", content: content(1)).status == 200)
      let begun = try await client.request("POST", "/s3/pics/p", query: [("uploads", "")])
      let upload = try #require(try XMLReader.read(begun.body)["UploadId"]?.text)
      let part = try await client.request(
        "PUT", "/s3/pics/p", query: [("partNumber", "1"), ("uploadId", upload)],
        content: content(1))
      let tag = try #require(part["etag"], "\(part.text)")
      var writer = XMLWriter("CompleteMultipartUpload")
      writer.element("Part") { writer in
        writer.element("PartNumber", "1")
        writer.element("ETag", tag)
      }
      return (upload, writer.finished())
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
