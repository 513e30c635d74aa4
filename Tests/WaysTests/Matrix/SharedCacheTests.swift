import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// A shared cache in front of the service, with the setting `cdn` and without it.
  struct SharedCacheTests {
    /// The setting, and whether the cache passes devices' requests on, as `cdn` needs it.
    struct Setup: Sendable, CustomStringConvertible {
      let isBehindCDN: Bool
      let passesDevices: Bool

      var description: String { "cdn: \(isBehindCDN), passes devices: \(passesDevices)" }
    }

    private static let setups = [
      Setup(isBehindCDN: false, passesDevices: false),
      Setup(isBehindCDN: true, passesDevices: true),
      Setup(isBehindCDN: true, passesDevices: false),
    ]

    /// One caller of each kind, and a second user.
    private static let callers = MatrixCaller.all.filter {
      !["zdtokenb", "zfphoneb"].contains($0.word)
    }

    /// The requests that a shared cache may answer: those that read, with the secrets of some owners.
    private static func asks(
      _ world: MatrixWorld, _ secrets: [MatrixSecrets]
    ) throws -> [String] {
      var targets: [String] = []
      for route in world.routes where route.hasPrefix("GET ") {
        for owner in secrets {
          let asks = try #require(MatrixRequests.all(of: route, owner), "\(route)")
          targets += asks.filter { $0.isSafe && !$0.isStream && $0.headers.isEmpty }.map(\.target)
        }
      }
      var seen: Set<String> = []
      return targets.filter { !$0.contains("ticket=") && seen.insert($0).inserted }
    }

    @Test(
      "No caller gets from a shared cache what the service would not give it", arguments: setups)
    func separatesCallers(setup: Setup) async throws {
      let world = try await MatrixWorld.start(settings: setup.isBehindCDN ? "cdn: true" : "")
      let larder = world.larder
      var secrets: [MatrixSecrets] = []
      for caller in Self.callers where ["zgbothab", "zhuserada"].contains(caller.word) {
        secrets.append(try await world.plant(caller))
      }
      let targets = try Self.asks(world, secrets)
      let cache = SharedCacheModel(larder, passesDevices: setup.passesDevices)
      let encodings = ["identity", "identity", "gzip", "identity", "gzip"]
      for (turn, encoding) in encodings.enumerated() {
        // Everything is stale from then on, and validated with the fields of each caller.
        if turn == 3 { cache.advance(seconds: 86_400) }
        for target in targets {
          // Each turn fills the cache by another caller.
          let first = turn % Self.callers.count
          for caller in Self.callers[first...] + Self.callers[..<first] {
            let fields = world.headers(of: caller) + [("Accept-Encoding", encoding)]
            let answer = try await cache.get(target, fields)
            guard answer.isStored else { continue }
            let place = "\(setup): \(caller): \(target)"
            for other in MatrixCaller.owners where other.word != caller.word {
              guard !target.contains(other.word) else { continue }
              #expect(!answer.text.contains(other.word), "\(place)")
            }
            if setup.isBehindCDN, target.hasPrefix("/api/") || target.contains("/operations/") {
              #expect(answer["sync-cursor"] == nil || answer["vary"]?.contains("Auth") == true)
            }
            // Without passing devices on, a device gets a copy without what is its own.
            if setup.isBehindCDN, !setup.passesDevices, caller.kind.hasDevice { continue }
            let direct = try await larder.request("GET", target, headers: fields)
            #expect(answer.status == direct.status, "\(place)")
            #expect(answer["etag"] == direct["etag"] && answer.body == direct.body, "\(place)")
          }
        }
      }
      #expect(cache.stored > 20 && cache.hits > 5 && cache.validated > 10)
      await world.stop()
    }

    @Test("With cdn, all callers without a device share one copy of an operation of scope PUBLIC")
    func sharesPublicOperations() async throws {
      let world = try await MatrixWorld.start(settings: "cdn: true")
      let larder = world.larder
      for target in ["/api/films/f1", "/v1/operations/Film?id=f1", "/api/films"] {
        let cache = SharedCacheModel(larder, passesDevices: true)
        // The first response to each is made by the router, the next on the loop.
        for _ in 1...2 {
          for caller in Self.callers where !caller.kind.hasDevice {
            let fields = world.headers(of: caller)
            let direct = try await larder.request("GET", target, headers: fields)
            #expect(direct["vary"] == "Accept-Encoding", "\(caller)")
            #expect(direct["cache-control"]?.hasPrefix("public, max-age=600") == true)
            #expect(direct["sync-cursor"] == nil)
            let tag = try #require(direct["etag"])
            let unchanged = try await larder.request(
              "GET", target, headers: fields + [("If-None-Match", tag)])
            #expect(unchanged.status == 304 && unchanged["etag"] == tag)
            #expect(unchanged["vary"] == "Accept-Encoding" && unchanged["sync-cursor"] == nil)
            let head = try await larder.request("HEAD", target, headers: fields)
            #expect(head["etag"] == tag && head["vary"] == "Accept-Encoding")
            _ = try await cache.get(target, fields)
          }
        }
        #expect(cache.stored == 1, "\(target)")
      }
      // What depends on the caller is as without the setting.
      for target in ["/api/me", "/api/films/f1/mine", "/v1/entities/Film/f1"] {
        for caller in Self.callers {
          let answer = try await larder.request("GET", target, headers: world.headers(of: caller))
          #expect(
            answer["vary"]?.contains("Authorization, Device-Token") == true, "\(caller): \(target)")
        }
      }
      await world.stop()
    }

    @Test(
      "With cdn, a device has its own form of a public response, which validates no shared copy")
    func devicesHaveTheirOwnForm() async throws {
      let world = try await SyncWorld.start(settings: "cdn: true")
      let larder = world.larder
      let shared = try await larder.get("/api/films/f1")
      let sharedTag = ("If-None-Match", try #require(shared["etag"]))
      let own = try await larder.get("/api/films/f1", world.device)
      let ownTag = ("If-None-Match", try #require(own["etag"]))
      #expect(own["cache-control"]?.hasPrefix("private") == true && own["sync-cursor"] != nil)
      #expect(own.body == shared.body && ownTag.1 != sharedTag.1)
      #expect(try await larder.get("/api/films/f1", world.device, ownTag).status == 304)
      #expect(try await larder.get("/api/films/f1", sharedTag).status == 304)
      // A cache that validates its copy for a device gets the device's response, and keeps none.
      let other = try await larder.get("/api/films/f1", world.device, sharedTag)
      #expect(other.status == 200 && other["cache-control"]?.hasPrefix("private") == true)
      let gzip = ("Accept-Encoding", "gzip")
      for fields in [[world.device, gzip], [gzip]] {
        let list = try await larder.request("GET", "/api/films?limit=20", headers: fields)
        let tag = try #require(list["etag"])
        #expect(tag.contains("-own") == (fields.count == 2))
        let same = try await larder.request(
          "GET", "/api/films?limit=20", headers: fields + [("If-None-Match", tag)])
        #expect(same.status == 304 && same["etag"] == tag)
      }
      // The tag of either form begins a diff.
      let list = try await larder.get("/api/films?limit=20", world.device)
      let text = try #require(list["etag"]?.replacing("\"", with: "%22"))
      let diff = try await larder.get("/api/films/diff?limit=20&from=\(text)", world.device)
      #expect(diff.status == 200 || diff.status == 304, "\(diff.text)")
      // A pending change shows for the device alone.
      try await world.pause()
      let optimistic =
        #","optimistic":[{"op":"merge","type":"Film","id":"f1","fields":{"title":"Mine"}}]"#
      _ = try await world.enqueue(SyncWorld.rating("f1", more: optimistic), key: "1")
      let pending = try await larder.get("/api/films/f1", world.device)
      #expect(pending["cache-control"]?.hasPrefix("private") == true)
      #expect(pending.text.contains("Mine"))
      #expect(try await larder.get("/api/films/f1").body == shared.body)
      await world.stop()
    }
  }
}
