import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// One user's data reaches no other user, by any status, tag or cache.
  struct ScopeTests {
    @Test("Each user has their own copy of private data")
    func eachUserHasTheirOwnCopy() async throws {
      let larder = try await RunningLarder.start()
      let ada = ("Authorization", "Bearer user-ada")
      let bob = ("Authorization", "Bearer user-bob")
      for _ in 0..<2 {
        let mine = try await larder.get("/api/me", ada)
        let theirs = try await larder.get("/api/me", bob)
        let anonymous = try await larder.get("/api/me")
        #expect(mine["cache-control"]?.hasPrefix("private") == true)
        #expect(try JSONValue(parsing: mine.body)["data"]?["me"]?["name"] != .null)
        #expect(mine.body != theirs.body)
        #expect(mine["etag"] != theirs["etag"])
        #expect(try JSONValue(parsing: anonymous.body)["data"]?["me"] == .null)
        let tag = try #require(mine["etag"])
        #expect(try await larder.get("/api/me", bob, ("If-None-Match", tag)).status == 200)
        #expect(try await larder.get("/api/me", ("If-None-Match", tag)).status == 200)
      }
      await larder.stop()
    }

    @Test("A public response is fetched without the caller's credential")
    func publicResponseIsFetchedWithoutTheCredential() async throws {
      let larder = try await RunningLarder.start()
      let answer = try await larder.get("/api/films/f1", ("Authorization", "Bearer user-ada"))
      #expect(answer["cache-control"]?.hasPrefix("private") == true)
      let anonymous = try await larder.get("/api/films/f1")
      #expect(anonymous["cache-control"]?.hasPrefix("public") == true)
      #expect(anonymous.cacheStatus?.hasPrefix("hit") == true)
      #expect(larder.demo.report.recent.allSatisfy { $0["authorization"] == nil })
      await larder.stop()
    }

    @Test("A caller that upstream refuses gets no stale response")
    func refusedCallerGetsNothingStale() async throws {
      let larder = try await RunningLarder.start()
      let ada = ("Authorization", "Bearer user-ada")
      #expect(try await larder.get("/api/me/watchlist", ada).status == 200)
      try await larder.demo.change { $0.fail = .status(401) }
      let refused = try await larder.get("/api/me/watchlist", ada, ("Cache-Control", "no-cache"))
      #expect(refused.status == 401)
      #expect(refused["www-authenticate"] != nil)
      // The copy is deleted: a read that accepts stale data does not find it either.
      let cached = try await larder.get(
        "/api/me/watchlist", ada, ("Cache-Control", "only-if-cached"))
      #expect(cached.status == 504)
      await larder.stop()
    }

    /// A permission error on a nullable field is part of the response, and nothing of it is stored.
    @Test("A permission error on a nullable field is returned and not stored")
    func permissionErrorIsNotStored() async throws {
      let larder = try await RunningLarder.start()
      for _ in 0..<2 {
        let answer = try await larder.get("/api/me/watchlist")
        #expect(answer.status == 200)
        #expect(answer.text.contains("UNAUTHENTICATED"))
        #expect(answer["cache-control"] == "public, no-cache")
        #expect(answer.cacheStatus == "fwd=uri-miss")
      }
      #expect(larder.demo.report["Watchlist"].requests == 2)
      await larder.stop()
    }

    @Test("A credential that is not sent upstream does not make its caller a user")
    func unverifiedTokenIsNoUser() async throws {
      let larder = try await RunningLarder.start(
        settings: "accounts: {passwordCost: 10, signUp: open}",
        operations: [
          "shared": "query Shared @access(role: USER) @cache(scope: PUBLIC, maxAge: 60) "
            + "{ studios { id } }",
          "own": "query Own @access(role: USER) { serverTime }",
        ], service: "x-service-key: s3cret")
      let user = try await AccountTests.signUp(larder)
      // The second time the response is cached.
      for _ in 0..<2 {
        for value in ["Bearer garbage", "Basic Og==", "Bearer user-ada"] {
          let forged = ("Authorization", value)
          let refused = try await larder.get("/v1/operations/Shared", forged)
          #expect(refused.status == 401, "\(value): \(refused.text)")
          // Here the credential is sent upstream, which judges it.
          #expect(try await larder.get("/v1/operations/Own", forged).status != 401)
        }
        #expect(try await larder.get("/v1/operations/Shared").status == 401)
        #expect(try await larder.get("/v1/operations/Shared", user.bearer).status == 200)
      }
      await larder.stop()
    }

    @Test("A repeated or empty Authorization field is 400 on every route")
    func oneAuthorization() async throws {
      let larder = try await RunningLarder.start()
      let bearer = ("Authorization", "Bearer user-ada")
      for target in [
        "/", "/healthz", "/api/films/f1", "/v1/operations", "/v1/entities", "/v1/changes",
        "/v1/files/pics", "/v1/queue", "/v1/admin/tables", "/nowhere",
      ] {
        for fields in [
          [("Authorization", "")], [bearer, bearer], [("Authorization", ""), bearer],
        ] {
          let refused = try await larder.request("GET", target, headers: fields)
          #expect(refused.status == 400, "\(target) \(fields)")
          #expect(refused["content-type"] == "application/problem+json")
          #expect(refused["cache-control"] == "no-store")
          let problem = try JSONValue(parsing: refused.body)
          #expect(problem["detail"]?.string?.contains("Authorization") == true)
        }
      }
      #expect(larder.demo.report.recent.isEmpty)
      await larder.stop()
    }

    @Test(
      "The service's secret is sent as its vendor expects it, for signed-in users too",
      arguments: [("appsync", "x-api-key"), ("hasura", "x-hasura-admin-secret")])
    func secretIsSentForEachVendor(dialect: String, field: String) async throws {
      let larder = try await RunningLarder.start(
        settings: "accounts: {passwordCost: 10, signUp: open}",
        operations: [
          "open": "query Open @cache(maxAge: 0, scope: PUBLIC) { studios { id } }",
          "own": "query Own @cache(maxAge: 0) { serverTime }",
        ], upstreamLines: "  dialect: \(dialect)\n  secret: s3cret")
      let user = try await AccountTests.signUp(larder)
      // What the secret can read is not for everyone.
      #expect(try await larder.get("/v1/operations/Own").status == 401)
      #expect(larder.demo.report.recent.isEmpty)
      let calls: [(String, [(String, String)])] = [("Open", []), ("Own", [user.bearer])]
      for (name, headers) in calls {
        let response = try await larder.request("GET", "/v1/operations/\(name)", headers: headers)
        #expect(response.status == 200, "\(name): \(response.text)")
        let sent = try #require(larder.demo.report.recent.last)
        #expect(sent.operationName == name)
        #expect(sent[field] == "s3cret", "\(name)")
        // The user's token, which the vendor does not know, does not take the secret's place.
        #expect(sent["authorization"] == nil, "\(name)")
      }
      await larder.stop()
    }

    @Test("With service credentials, operations that are not declared open are closed")
    func serviceCredentialsCloseUndeclaredOperations() async throws {
      let closed = try await RunningLarder.start(
        operations: [
          "open": "query Open @cache(scope: PUBLIC, maxAge: 5) { studios { id } }",
          "time": "query Time @access(role: PUBLIC) { serverTime }",
          "rest": "query Rest { serverTime }",
          "boss": "query Boss @access(role: ADMIN) { serverTime }",
        ], service: "x-service-key: s3cret")
      #expect(try await closed.get("/v1/operations/Open").status == 200)
      #expect(try await closed.get("/v1/operations/Time").status == 200)
      #expect(try await closed.get("/v1/operations/Rest").status == 401)
      let ada = ("Authorization", "Bearer user-ada")
      #expect(try await closed.get("/v1/operations/Rest", ada).status == 200)
      // The service's credential is sent only with calls that carry no user's credential.
      let recent = closed.demo.report.recent
      #expect(
        recent.filter { $0.operationName == "Rest" }.allSatisfy { $0["x-service-key"] == nil })
      #expect(
        recent.filter { $0.operationName == "Open" }.allSatisfy { $0["x-service-key"] != nil })
      #expect(try await closed.get("/v1/operations/Boss", ada).status == 401)
      let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
      #expect(try await closed.get("/v1/operations/Boss", admin).status == 200)
      #expect(
        closed.demo.report.recent.allSatisfy { $0["authorization"]?.contains("aaaa") != true })
      await closed.stop()
    }
  }
}
