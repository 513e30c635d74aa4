import Foundation
import GRDB

/// What an upload, or going on with all of them, has done.
public struct UploadResult: Hashable, Sendable {
  /// False if it was interrupted: `resumeUploads` goes on.
  public let isDone: Bool
  /// Parts that were sent by this call.
  public let sent: Int
}

/// Uploads in parts that go on after a pause, a lost connection or a restart.
struct Uploads: Sendable {
  /// For one part.
  private static let partDeadline = Duration.seconds(300)
  private static let partsMax = 10_000
  /// The shape of a response to a part, or an object, that is stored.
  private static let stored = ResponseShape.object(["etag": .string])

  private struct Upload: Sendable {
    let number: Int
    let target: String
    let path: String
    let size: Int
    let modified: Double
    let partBytes: Int
    var uploadID: String?
    var isCompleting: Bool
  }

  typealias Progress = @Sendable (_ sentBytes: Int, _ size: Int) -> Void

  let store: PhoneStore
  let profiles: Profiles
  let paths: StoredPaths
  private let exclusive = Exclusive()

  init(store: PhoneStore, profiles: Profiles, paths: StoredPaths) {
    self.store = store
    self.profiles = profiles
    self.paths = paths
  }

  /// - Parameter key: `{user}` stands for the user's id.
  func upload(
    _ file: URL, bucket: String, key: String, partBytes: Int, progress: Progress
  ) async throws -> UploadResult {
    let profile = try await profiles.needActive()
    let user = HTTPRequest.encoded(profile.userID ?? "")
    let segments = key.components(separatedBy: "{user}").map { part in
      part.split(separator: "/", omittingEmptySubsequences: false)
        .map { HTTPRequest.encoded(String($0)) }.joined(separator: "/")
    }
    let target = "/v1/files/\(HTTPRequest.encoded(bucket))/" + segments.joined(separator: user)
    try HTTPRequest(path: target).checkPath()
    let (size, modified) = try Self.look(at: file.path)
    let path = paths.stored(file)
    let bytes = max(partBytes, 1, (size + Self.partsMax - 1) / Self.partsMax)
    try await store.write { db in
      // The same file under the same key goes on.
      try db.execute(
        sql: """
          DELETE FROM upload WHERE profile = ? AND target = ?
            AND (path != ? OR size != ? OR modified != ?)
          """, arguments: [profile.id, target, path, size, modified])
      try db.execute(
        sql: """
          INSERT OR IGNORE INTO upload (profile, target, path, size, modified, partBytes)
          VALUES (?, ?, ?, ?, ?, ?)
          """, arguments: [profile.id, target, path, size, modified, bytes])
    }
    return try await resume(target: target, progress: progress)
  }

  private static func reading<Result>(
    _ path: String, _ body: (String) throws -> Result
  ) throws -> Result {
    do {
      return try body(path)
    } catch {
      throw LarderError.invalidArgument("The file \(path) cannot be read.")
    }
  }

  private static func look(at path: String) throws -> (size: Int, modified: Double) {
    let attributes = try reading(path) { try FileManager.default.attributesOfItem(atPath: $0) }
    let modified = attributes[.modificationDate] as? Date
    let size = (attributes[.size] as? NSNumber)?.intValue ?? 0
    return (size, modified?.timeIntervalSinceReferenceDate ?? 0)
  }

  /// Goes on with the uploads of the profile, or with one of them.
  func resume(
    target: String? = nil, progress: Progress = { _, _ in }
  ) async throws -> UploadResult {
    let id = try await profiles.needActive().id
    return try await exclusive.run {
      let uploads = try await store.read { db in
        try Row.fetchAll(
          db,
          sql: """
            SELECT * FROM upload WHERE profile = ?1 AND target = ifnull(?2, target)
            ORDER BY number
            """,
          arguments: [id, target]
        ).map {
          Upload(
            number: $0["number"], target: $0["target"], path: paths.path($0["path"]),
            size: $0["size"], modified: $0["modified"], partBytes: $0["partBytes"],
            uploadID: $0["uploadID"], isCompleting: $0["isCompleting"])
        }
      }
      var sent = 0
      var isDone = true
      var failure: LarderError?
      uploading: for upload in uploads {
        do {
          try await finish(upload, id, &sent, progress)
          try await remove(upload)
        } catch let error as LarderError {
          switch error {
          case .offline, .unavailable:
            isDone = false
            break uploading
          case .refused(let problem) where problem.code == "no_such_upload":
            // It begins again next time.
            isDone = false
          case .refused, .invalidArgument, .unexpectedContent:
            // The others go on; the caller gets the first error.
            if Self.isEnd(error) { try await remove(upload) }
            failure = failure ?? error
          default: throw error
          }
        }
      }
      if let failure { throw failure }
      return UploadResult(isDone: isDone, sent: sent)
    }
  }

  /// Whether the same upload can never be complete.
  private static func isEnd(_ error: LarderError) -> Bool {
    switch error {
    case .invalidArgument: true
    case .refused(let problem): problem.isAboutContent
    default: false
    }
  }

  private func remove(_ upload: Upload) async throws {
    try await store.write { db in
      try db.execute(sql: "DELETE FROM upload WHERE number = ?", arguments: [upload.number])
    }
  }

  private func save(_ upload: Upload) async throws {
    try await store.write { db in
      try db.execute(
        sql: "UPDATE upload SET uploadID = ?, isCompleting = ? WHERE number = ?",
        arguments: [upload.uploadID, upload.isCompleting, upload.number])
    }
  }

  /// Sends the parts that Larder does not have, then completes the object.
  private func finish(
    _ begun: Upload, _ id: String, _ sent: inout Int, _ progress: Progress
  ) async throws {
    var upload = begun
    let (size, modified) = try Self.look(at: upload.path)
    guard size == upload.size, modified == upload.modified else {
      throw LarderError.invalidArgument("The file \(upload.path) has changed: upload it again.")
    }
    var there: Set<Int> = []
    if let uploadID = upload.uploadID {
      if let parts = try await parts(upload, uploadID, id) {
        there = parts
      } else {
        if upload.isCompleting, try await isComplete(upload, id) { return }
        upload.uploadID = nil
      }
    }
    let uploadID: String
    if let known = upload.uploadID {
      uploadID = known
    } else {
      let begin = HTTPRequest(
        method: "POST", path: upload.target + "/uploads", shape: .object(["uploadId": .string]))
      let reply = try await profiles.send(begin, as: id).content()
      guard let new = reply["uploadId"]?.string else {
        throw LarderError.unexpectedContent("The response to a new upload lacks \"uploadId\".")
      }
      uploadID = new
      upload.uploadID = new
      upload.isCompleting = false
      try await save(upload)
    }
    let file = try Self.reading(upload.path) { path in
      try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    }
    defer { try? file.close() }
    let count = max(1, (size + upload.partBytes - 1) / upload.partBytes)
    for number in 1...count {
      let start = (number - 1) * upload.partBytes
      if !there.contains(number) {
        let body = try Self.reading(upload.path) { _ in
          try file.seek(toOffset: UInt64(start))
          return try file.read(upToCount: upload.partBytes) ?? Data()
        }
        var request = HTTPRequest(
          method: "PUT", path: upload.target, body: body, shape: Self.stored)
        request.query = [("uploadId", uploadID), ("partNumber", String(number))]
        request.headers["Content-Type"] = "application/octet-stream"
        request.deadline = Self.partDeadline
        _ = try await check(profiles.send(request, as: id))
        sent += 1
      }
      progress(min(size, start + upload.partBytes), size)
    }
    upload.isCompleting = true
    try await save(upload)
    let complete = HTTPRequest(
      method: "POST", path: upload.target, query: [("uploadId", uploadID)],
      deadline: Self.partDeadline, shape: Self.stored)
    _ = try await check(profiles.send(complete, as: id))
  }

  /// The numbers of the parts that have arrived; nil if Larder does not know the upload any more.
  private func parts(_ upload: Upload, _ uploadID: String, _ id: String) async throws -> Set<Int>? {
    let request = HTTPRequest(
      path: upload.target, query: [("uploadId", uploadID)],
      shape: .object(["Parts": .array]))
    let response = try await profiles.send(request, as: id)
    if response.status == 404 { return nil }
    let parts = try response.content()["Parts"]?.array ?? []
    return Set(parts.compactMap { $0["PartNumber"]?.int })
  }

  private func isComplete(_ upload: Upload, _ id: String) async throws -> Bool {
    let request = HTTPRequest(method: "HEAD", path: upload.target, shape: .head)
    let response = try await profiles.send(request, as: id)
    return response.status == 200
      && response.headers["content-length"].flatMap { Int($0) } == upload.size
  }

  private func check(_ response: HTTPResponse) throws -> HTTPResponse {
    if let error = response.error { throw error }
    return response
  }
}
