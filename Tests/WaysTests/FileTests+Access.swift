import LosslessJSON
import TestSupport
import Testing

/// Access to files, and the harm that a file could do to a browser that opens it.
extension Ways.FileTests {
  @Test("Each bucket admits the callers that its access setting names")
  func bucketAccess() async throws {
    let larder = try await started()
    #expect(try await put(larder, "/v1/files/small/k", "x").status == 201)
    #expect(try await put(larder, "/v1/files/mine/u1/k", "x").status == 201)
    #expect(try await larder.get("/v1/files/small/k").status == 401)
    #expect(try await larder.get("/v1/files/small").status == 401)
    let unsigned = try await larder.get("/v1/files/mine/u1/k", ("Authorization", "Bearer opaque"))
    #expect(unsigned.status == 401)
    #expect(unsigned.code == "sign_in_required")
    let written = try await larder.request(
      "PUT", "/v1/files/pics/k", headers: [("Content-Type", "text/plain")], body: "x")
    #expect(written.status == 401)
    let unknown = try await larder.get("/v1/files/nowhere/k")
    #expect(unknown.status == 401)
    let missing = try await larder.get("/v1/files/nowhere/k", Self.admin)
    #expect(missing.status == 404)
    #expect(missing.code == "no_such_bucket")
    await larder.stop()
  }

  @Test("Users cannot reach each other's objects in a private bucket")
  func keepsUsersApart() async throws {
    let larder = try await started()
    let ann = try await signUp("ann", in: larder)
    let bob = try await signUp("bob", in: larder)
    let path = "/v1/files/mine/\(ann.id)/k"
    let stored = try await larder.request("PUT", path, headers: [ann.token], body: "hers")
    #expect(stored.status == 201)
    let read = try await larder.get(path, ann.token)
    #expect(read.text == "hers")
    #expect(read["cache-control"] == "private, no-cache")
    #expect(try await larder.get("/v1/files/mine", ann.token).text.contains("/k"))
    for method in ["GET", "HEAD", "PUT", "DELETE"] {
      let tried = try await larder.request(
        method, path, headers: [bob.token], body: method == "PUT" ? "his" : nil)
      #expect(tried.status == 403, "\(method)")
    }
    let copied = try await larder.post("\(path)/copy", "{\"to\":\"\(bob.id)/k\"}", bob.token)
    #expect(copied.status == 403)
    let listed = try await larder.get("/v1/files/mine", bob.token)
    #expect(listed.json?["Contents"]?.array?.isEmpty == true)
    #expect(listed.json?["Prefix"]?.string == "\(bob.id)/")
    #expect(try await larder.get("/v1/files/mine?prefix=\(ann.id)/", bob.token).status == 403)
    #expect(try await larder.get(path).status == 401)
    #expect(try await larder.get(path, Self.admin).text == "hers")
    await larder.stop()
  }

  private func signUp(
    _ name: String, in larder: RunningLarder
  ) async throws -> (id: String, token: (String, String)) {
    let answer = try await larder.post(
      "/v1/auth/sign-up",
      "{\"email\":\"\(name)@example.com\",\"password\":\"correct horse battery staple\"}")
    #expect(answer.status == 201, "\(answer.text)")
    let token = answer.json?["accessToken"]?.string ?? ""
    return (answer.json?["userId"]?.string ?? "", ("Authorization", "Bearer \(token)"))
  }

  @Test("The operator creates and deletes buckets")
  func createsAndDeletesBuckets() async throws {
    let larder = try await started()
    let made = try await larder.request("PUT", "/v1/files/fresh", headers: [Self.admin])
    #expect(made.status == 201)
    let again = try await larder.request("PUT", "/v1/files/fresh", headers: [Self.admin])
    #expect(again.status == 409)
    #expect(try await put(larder, "/v1/files/fresh/k", "x").status == 201)
    let list = try await larder.get("/v1/files", Self.admin)
    #expect(list.text.contains("\"fresh\""))
    let full = try await larder.request("DELETE", "/v1/files/fresh", headers: [Self.admin])
    #expect(full.code == "bucket_not_empty")
    _ = try await larder.request("DELETE", "/v1/files/fresh/k", headers: [Self.admin])
    let gone = try await larder.request("DELETE", "/v1/files/fresh", headers: [Self.admin])
    #expect(gone.status == 204)
    await larder.stop()
  }

  @Test("A stored object cannot run as a page of the service")
  func objectsCannotScriptTheService() async throws {
    let larder = try await started()
    for type in ["text/html", "image/svg+xml", "application/xhtml+xml", "TEXT/HTML; charset=x"] {
      _ = try await larder.request(
        "PUT", "/v1/files/pics/p.html", headers: [Self.admin, ("Content-Type", type)],
        body: "<script>alert(1)</script>")
      let read = try await larder.get("/v1/files/pics/p.html")
      #expect(read["content-disposition"] == "attachment; filename*=UTF-8''p.html", "\(type)")
      #expect(read["content-security-policy"] == "sandbox; default-src 'none'")
    }
    await larder.stop()
  }
}
