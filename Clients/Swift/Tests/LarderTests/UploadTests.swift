import Foundation
import Testing

@testable import Larder

struct UploadTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent(UUID().uuidString)

  private func file(_ name: String) throws -> URL {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent(name)
    try Data(name.utf8).write(to: file)
    return file
  }

  @Test("A refused upload and one whose file is gone are given up, and do not hold up the others")
  func goesOnWithOthers() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let isOffline = Locked(true)
    let transport = ScriptedLarder.withAccount { request in
      if isOffline.withLock({ $0 }) { throw LarderError.offline("flight mode", wasSent: false) }
      if request.path.contains("/refused") { return (403, ["code": "forbidden"]) }
      return request.path.hasSuffix("/uploads") ? (200, ["uploadId": "u"]) : (200, ["etag": "e"])
    }
    let larder = try await ScriptedLarder.registered(transport)
    let gone = try file("gone")
    for name in ["gone", "refused", "good"] {
      #expect(try await !larder.upload(file(name), bucket: "pics", key: name).isDone)
    }
    try FileManager.default.removeItem(at: gone)
    isOffline.withLock { $0 = false }
    #expect(await failure { _ = try await larder.resumeUploads() }?.code == "invalid_argument")
    #expect(transport.requests.contains("PUT /v1/files/pics/good"))
    #expect(transport.requests.last == "POST /v1/files/pics/good")
    #expect(try await larder.resumeUploads() == UploadResult(isDone: true, sent: 0))
  }

  @Test("An upload goes on after the app's folder has moved")
  func followsFolder() async throws {
    let moved = folder.appendingPathExtension("moved")
    defer {
      for folder in [folder, moved] { try? FileManager.default.removeItem(at: folder) }
    }
    let isOffline = Locked(true)
    var options = Larder.Options()
    let transport = ScriptedLarder.withAccount { request in
      if isOffline.withLock({ $0 }) { throw LarderError.offline("flight mode", wasSent: false) }
      return request.path.hasSuffix("/uploads") ? (200, ["uploadId": "u"]) : (200, ["etag": "e"])
    }
    options.transport = transport
    let credentials = MemoryCredentialStore()
    let url = try #require(URL(string: "http://larder"))
    func open(_ folder: URL) async throws -> Larder {
      try await Larder(
        url: url, store: .file(folder.appendingPathComponent("larder.sqlite")),
        credentials: credentials, options: options)
    }
    do {
      let larder = try await open(folder)
      try await larder.register()
      #expect(try await !larder.upload(file("cat"), bucket: "pics", key: "cat").isDone)
    }
    try FileManager.default.moveItem(at: folder, to: moved)
    isOffline.withLock { $0 = false }
    let larder = try await open(moved)
    #expect(try await larder.resumeUploads() == UploadResult(isDone: true, sent: 1))
  }

  @Test(
    "Keys and buckets that lead elsewhere are refused, and leave nothing to resume",
    arguments: [("pics", ".."), ("pics", "a/../b"), ("pics", "./a"), ("..", "a"), (".", "a")])
  func refusesDotSegments(bucket: String, key: String) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let transport = ScriptedLarder { ScriptedLarder.account($0) ?? (200, [:]) }
    let larder = try await ScriptedLarder.registered(transport)
    let file = try file("cat")
    #expect(
      await failure { _ = try await larder.upload(file, bucket: bucket, key: key) }?.code
        == "invalid_argument")
    #expect(try await larder.resumeUploads() == UploadResult(isDone: true, sent: 0))
    #expect(transport.requests == ["POST /v1/devices"])
  }
}
