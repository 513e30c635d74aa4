import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Every route of the table times every way of being an operator, or none.
  struct OperatorMatrixTests {
    /// One way of sending a request.
    private struct Way {
      let name: String
      let fields: [(String, String)]
    }

    /// Problems by which operators' credentials are refused.
    private static let refusals: Set<String> = [
      "unauthenticated", "session_expired", "csrf_invalid", "cross_origin", "read_only",
    ]
    private static let secrets = MatrixSecrets(
      word: "operator", listID: "l1", revision: "none", tags: [], listTag: "none", cursor: "none",
      pageToken: nil)

    /// Routes that identify their callers by other means than operators' credentials.
    private static func isOther(_ route: String) -> Bool {
      route.contains(" /s3") || route.hasSuffix(" /v1/admin/session")
    }

    private static func isOperators(_ route: String) -> Bool { route.contains(" /v1/admin/") }

    /// Routes that tell nothing of whether the viewer may use them by their method alone.
    private static func isDecidedByRequest(_ route: String) -> Bool {
      ["POST /v1/operations/{name}", "POST /v1/graphql", "GET /v1/graphql"].contains(route)
    }

    /// The status of a response, and the code of its problem.
    private static func outcome(
      of ask: MatrixAsk, _ fields: [(String, String)], _ larder: RunningLarder
    ) async throws -> (status: Int, code: String?) {
      let headers = fields + ask.headers
      if ask.isStream {
        let events = try await EventClient.open(
          port: larder.port, ask.target, headers: headers, body: ask.body)
        return (events.status, nil)
      }
      let answer = try await larder.request(
        ask.method, ask.target, headers: headers, body: ask.body)
      return (answer.status, (try? JSONValue(parsing: answer.body))?["code"]?.string)
    }

    private static func asks(
      _ route: String, without names: Set<String>
    ) throws -> [MatrixAsk] {
      let asks = try #require(MatrixRequests.all(of: route, secrets), "\(route)")
      return asks.filter { ask in !ask.headers.contains { names.contains($0.0) } }
    }

    /// Other callers: none of them is an operator.
    private static func others(_ world: MatrixWorld) async throws -> [Way] {
      let larder = world.larder
      let device = try await DeviceTests.register(larder).token
      let user = try await AccountTests.signUp(larder, "operators-friend")
      let session = try await ConsoleSession.open(larder, token: RunningLarder.adminToken)
      return [
        Way(name: "none", fields: []), Way(name: "device", fields: [("Device-Token", device)]),
        Way(name: "user", fields: [user.bearer]),
        Way(
          name: "user with the console's session",
          fields: [user.bearer] + session.fields),
        Way(
          name: "opaque token", fields: [("Authorization", "Bearer \(RunningLarder.adminToken)a")]),
        Way(name: "made-up cookie", fields: [("Cookie", "larder-console=\(session.csrf.1)")]),
      ]
    }

    @Test("No route below /v1/admin serves a caller who is no operator")
    func othersAreRefused() async throws {
      let world = try await MatrixWorld.start()
      let others = try await Self.others(world)
      var count = 0
      for route in world.routes where Self.isOperators(route) && !Self.isOther(route) {
        for ask in try Self.asks(route, without: []) {
          for way in others {
            let (status, code) = try await Self.outcome(of: ask, way.fields, world.larder)
            #expect(status == 401, "\(way.name): \(ask): \(code ?? "")")
            count += 1
          }
        }
      }
      #expect(count > 150)
      await world.stop()
    }

    @Test("The viewer reads by every route and writes by none, with its token as with its session")
    func viewersRead() async throws {
      let world = try await MatrixWorld.start()
      let viewer = ("Authorization", "Bearer \(RunningLarder.viewerToken)")
      let session = try await ConsoleSession.open(world.larder, token: RunningLarder.viewerToken)
      #expect(session.role == "viewer")
      var (read, refused) = (0, 0)
      for route in world.routes where !Self.isOther(route) && !Self.isDecidedByRequest(route) {
        for ask in try Self.asks(route, without: ["Device-Token"]) {
          for way in [
            Way(name: "token", fields: [viewer]), Way(name: "session", fields: session.fields),
          ] {
            let (status, code) = try await Self.outcome(of: ask, way.fields, world.larder)
            if ReadOnlyTests.isRead(route) {
              #expect(code != "read_only" && code != "csrf_invalid", "\(way.name): \(ask)")
              if Self.isOperators(route) {
                #expect(status < 500 && !Self.refusals.contains(code ?? ""), "\(way.name): \(ask)")
              }
              read += 1
            } else {
              #expect(status == 403 && code == "read_only", "\(way.name): \(ask): \(status)")
              refused += 1
            }
          }
        }
      }
      #expect(read > 100 && refused > 100)
      await world.stop()
    }

    @Test("The session's cookie alone only reads below /v1/admin, and is nothing elsewhere")
    func cookiesAloneOnlyRead() async throws {
      let world = try await MatrixWorld.start()
      let session = try await ConsoleSession.open(world.larder, token: RunningLarder.adminToken)
      let wrong = ("Console-CSRF-Token", String(session.csrf.1.reversed()))
      for route in world.routes where !Self.isOther(route) {
        for ask in try Self.asks(route, without: ["Device-Token", "Cookie"]) {
          let alone = try await Self.outcome(of: ask, [session.cookie], world.larder)
          let forged = try await Self.outcome(of: ask, [session.cookie, wrong], world.larder)
          if Self.isOperators(route) {
            if ask.isSafe {
              #expect(!Self.refusals.contains(alone.code ?? ""), "\(ask)")
            } else {
              #expect(alone.status == 403 && alone.code == "csrf_invalid", "\(ask)")
            }
            #expect(forged.status == 403, "\(ask)")
          } else {
            #expect(alone.code != "csrf_invalid", "\(ask)")
            // The refresh token of a sign-in has the same code.
            let isRefresh = route.hasSuffix(" /v1/auth/refresh")
            #expect(isRefresh || alone.code != "session_expired", "\(ask)")
          }
        }
      }
      // What only the operator reads stays closed to the cookie alone.
      let larder = world.larder
      #expect(try await larder.get("/v1/files/pics", session.cookie).status == 401)
      let headers = [session.cookie, session.csrf]
      #expect(try await larder.request("GET", "/v1/files/pics", headers: headers).status == 200)
      let correction = try await larder.request(
        "PATCH", "/v1/entities/Film/f1", headers: [session.cookie], body: #"{"tagline":"x"}"#)
      #expect(correction.status == 401 || correction.status == 403, "\(correction.text)")
      await world.stop()
    }

    @Test("A page of another origin never acts in the console's session")
    func foreignPagesAreRefused() async throws {
      let world = try await MatrixWorld.start()
      let session = try await ConsoleSession.open(world.larder, token: RunningLarder.adminToken)
      let pages = [
        ("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"), ("Origin", "null"),
      ]
      var count = 0
      for route in world.routes where Self.isOperators(route) && !Self.isOther(route) {
        for ask in try Self.asks(route, without: []) where !ask.isSafe {
          for page in pages {
            let (status, code) = try await Self.outcome(
              of: ask, session.fields + [page], world.larder)
            #expect(status == 403 && code == "cross_origin", "\(page): \(ask)")
            count += 1
          }
        }
      }
      #expect(count > 50)
      await world.stop()
    }

    @Test("The admin's session does what the admin token does")
    func sessionsActAsTheToken() async throws {
      let world = try await MatrixWorld.start()
      let session = try await ConsoleSession.open(world.larder, token: RunningLarder.adminToken)
      let page = [
        ("Origin", "http://localhost"), ("Sec-Fetch-Site", "same-origin"),
      ]
      for route in world.routes where Self.isOperators(route) && !Self.isOther(route) {
        for ask in try Self.asks(route, without: []) {
          let (_, code) = try await Self.outcome(of: ask, session.fields + page, world.larder)
          #expect(!Self.refusals.contains(code ?? ""), "\(ask): \(code ?? "")")
        }
      }
      await world.stop()
    }
  }
}
