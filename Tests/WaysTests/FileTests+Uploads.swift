import LosslessJSON
import TestSupport
import Testing

/// Multipart uploads and presigned URLs.
extension Ways.FileTests {
  @Test("A multipart upload becomes one object")
  func multipartUpload() async throws {
    let larder = try await started()
    let path = "/v1/files/pics/film.mp4"
    let begun = try await larder.request(
      "POST", "\(path)/uploads", headers: [Self.admin, ("Content-Type", "video/mp4")])
    #expect(begun.status == 201)
    let id = begun.json?["uploadId"]?.string ?? ""
    let first = String(repeating: "1", count: 5 << 20)
    var parts: [String] = []
    for (number, body) in [(1, first), (2, "end")] {
      let stored = try await put(larder, "\(path)?uploadId=\(id)&partNumber=\(number)", body)
      #expect(stored.status == 200)
      parts.append("{\"partNumber\":\(number),\"etag\":\(quoted(stored["etag"] ?? ""))}")
    }
    let listed = try await larder.get("\(path)?uploadId=\(id)", Self.admin)
    #expect(listed.json?["Parts"]?.array?.count == 2)
    let uploads = try await larder.get("/v1/files/pics?uploads", Self.admin)
    #expect(uploads.json?["Uploads"]?.array?.count == 1)
    let completed = try await larder.post(
      "\(path)?uploadId=\(id)", "{\"parts\":[\(parts.joined(separator: ","))]}", Self.admin)
    #expect(completed.status == 201)
    #expect(completed["etag"]?.hasSuffix("-2\"") == true)
    let read = try await larder.get(path, ("Range", "bytes=-5"))
    #expect(read.text == "11end")
    #expect(read["content-type"] == "video/mp4")
    let over = try await put(larder, "\(path)?uploadId=\(id)&partNumber=1", "x")
    #expect(over.code == "no_such_upload")
    let other = try await larder.request(
      "POST", "\(path)/uploads", headers: [Self.admin])
    let aborted = try await larder.request(
      "DELETE", "\(path)?uploadId=\(other.json?["uploadId"]?.string ?? "")",
      headers: [Self.admin])
    #expect(aborted.status == 204)
    await larder.stop()
  }

  @Test("Presigned URLs allow one action until they expire")
  func presignedURLs() async throws {
    let larder = try await started()
    let path = "/v1/files/small/caf%C3%A9%3F.txt"
    func link(_ method: String, _ seconds: Int) async throws -> String {
      let answer = try await larder.post(
        "\(path)/presign", "{\"method\":\"\(method)\",\"expiresIn\":\(seconds)}", Self.admin)
      #expect(answer.status == 200)
      let url = answer.json?["url"]?.string ?? ""
      #expect(url.hasPrefix("http://127.0.0.1:\(larder.port)/v1/files/small/"))
      return String(url.dropFirst("http://127.0.0.1:\(larder.port)".count))
    }
    let write = try await link("PUT", 60)
    let stored = try await larder.request(
      "PUT", write, headers: [("Content-Type", "text/plain")], body: "by link")
    #expect(stored.status == 201)
    let read = try await link("GET", 60)
    #expect(try await larder.get(read).text == "by link")
    #expect(try await larder.request("HEAD", read).status == 200)
    for (method, target) in [
      ("DELETE", read), ("PUT", read), ("GET", write), ("GET", read + "x"),
      ("GET", read.replacing("caf", with: "cab")),
      ("GET", read.replacing("expires=", with: "expires=9")),
    ] {
      let refused = try await larder.request(
        method, target, headers: [("Content-Type", "text/plain")],
        body: method == "PUT" ? "x" : nil)
      #expect(refused.status == 403, "\(method) \(target)")
      #expect(refused.code == "signature_invalid")
    }
    let short = try await link("GET", 1)
    let expired = try await eventually(
      { try await larder.get(short) }, until: { $0.status == 403 })
    #expect(expired.code == "signature_expired")
    await larder.stop()
  }
}
