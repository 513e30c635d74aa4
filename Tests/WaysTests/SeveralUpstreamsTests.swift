import Foundation
import LosslessJSON
import TestSupport
import Testing
import VendorDouble

extension Ways {
  /// One service with two upstreams: their operations, entities, changes and queue are one.
  struct SeveralUpstreamsTests {
    private static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
    private static let ada = ("Authorization", "Bearer user-ada")

    private struct World {
      let larder: RunningLarder
      let upstreams: TwoUpstreams

      func stop() async {
        await larder.stop()
        await upstreams.stop()
      }
    }

    /// - Parameter types: the setting of the type that both upstreams have.
    private static func start(
      shop: [String] = [], types: String = "types: {User: {as: Customer}}", timeout: String = "20s"
    ) async throws -> World {
      let upstreams = try await TwoUpstreams()
      let larder = try await RunningLarder.start(
        upstreams: [
          "films": .init(
            settings: ["url: \(upstreams.filmsURL)", "forward: [authorization]"],
            schema: TwoUpstreams.filmsSchema, operations: TwoUpstreams.filmsOperations),
          "shop": .init(
            settings: ["url: \(upstreams.shopURL)", "timeout: \(timeout)", types] + shop,
            schema: TwoUpstreams.shopSchema, operations: TwoUpstreams.shopOperations),
        ],
        settings: """
          devices: {register: open}
          queue: {debounce: 0s}
          links: {Film.offers: {type: Offer, field: filmId}}
          types: {Offer: {index: [filmId]}}
          """)
      return World(larder: larder, upstreams: upstreams)
    }

    @Test("Operations, entities, changes and links of two upstreams are one service")
    func servesBoth() async throws {
      let world = try await Self.start()
      let larder = world.larder
      let cursor = try #require(
        try JSONValue(parsing: try await larder.get("/v1/changes").body)["cursor"]?.string)
      for id in ["f1", "f2"] {
        let film = try await larder.get("/api/films/\(id)")
        #expect(film.status == 200, "\(film.text)")
      }
      let offers = try await larder.get("/api/offers")
      #expect(offers.status == 200, "\(offers.text)")
      #expect(try await larder.get("/api/films/f1").cacheStatus?.hasPrefix("hit") == true)

      let changes = try JSONValue(
        parsing: try await larder.get("/v1/changes?since=\(cursor)").body)
      let types = Set(
        (changes["changes"]?.array ?? []).compactMap { $0["type"]?.string })
      #expect(types == ["Film", "Offer"], "\(changes.text)")

      let joined = try await larder.get("/v1/entities/Film/f1/offers?order=price&total=true")
      #expect(joined.status == 200, "\(joined.text)")
      let items = try JSONValue(parsing: joined.body)["items"]?.array ?? []
      #expect(items.compactMap { $0["id"]?.string } == ["o3", "o1"], "\(joined.text)")
      let cheap = try await larder.get(
        "/v1/entities/Film/f1/offers?filter=price%3C250&limit=1")
      #expect(cheap.text.contains("\"o3\"") && !cheap.text.contains("\"o1\""), "\(cheap.text)")
      #expect(try await larder.get("/v1/entities/Film/f9/offers").status == 404)
      #expect(try await larder.get("/v1/entities/Film/f1/offer").status == 404)

      let listing = try JSONValue(parsing: try await larder.get("/v1/operations").body)
      let upstreams = (listing["operations"]?.array ?? []).compactMap {
        operation -> String? in
        guard let name = operation["name"]?.string, let upstream = operation["upstream"]?.string
        else { return nil }
        return "\(name) \(upstream)"
      }
      #expect(
        upstreams == [
          "Buy shop", "Customer shop", "Film films", "Offers shop", "Rate films", "User films",
        ])
      let ready = try JSONValue(parsing: try await larder.get("/readyz").body)
      #expect(ready["upstreams"] == ["films": "reachable", "shop": "reachable"])
      await world.stop()
    }

    @Test("A renamed type and its namesake are two types, and responses keep its own name")
    func renames() async throws {
      let world = try await Self.start()
      let larder = world.larder
      let user = try await larder.get("/v1/operations/User?id=u1")
      let customer = try await larder.get("/v1/operations/Customer?id=u1")
      #expect(user.text == #"{"data":{"user":{"__typename":"User","id":"u1","name":"Ada"}}}"#)
      #expect(
        customer.text
          == #"{"data":{"user":{"__typename":"User","id":"u1","email":"ada@example.com"}}}"#)
      let again = try await larder.get(
        "/v1/operations/Customer?id=u1", ("Cache-Control", "max-age=0"))
      #expect(again.text == customer.text)
      #expect(try await larder.get("/v1/entities/User/u1").text.contains(#""name":"Ada""#))
      let stored = try await larder.get("/v1/entities/Customer/u1")
      #expect(stored.text.contains(#""__typename":"Customer""#), "\(stored.text)")
      #expect(stored.text.contains("ada@example.com") && !stored.text.contains("Ada"))
      await world.stop()
    }

    @Test("A shared type has the fields of both upstreams in one entity")
    func shares() async throws {
      let upstreams = try await TwoUpstreams()
      let larder = try await RunningLarder.start(
        upstreams: [
          "films": .init(
            settings: ["url: \(upstreams.filmsURL)", "types: {User: {shared: true}}"],
            schema: TwoUpstreams.filmsSchema, operations: TwoUpstreams.filmsOperations),
          "shop": .init(
            settings: ["url: \(upstreams.shopURL)", "types: {User: {shared: true}}"],
            schema: TwoUpstreams.shopSchema, operations: TwoUpstreams.shopOperations),
        ])
      _ = try await larder.get("/v1/operations/User?id=u1")
      _ = try await larder.get("/v1/operations/Customer?id=u1")
      let user = try await larder.get("/v1/entities/User/u1")
      #expect(user.text.contains("Ada") && user.text.contains("ada@example.com"), "\(user.text)")
      await larder.stop()
      await upstreams.stop()
    }

    @Test("A header field reaches only the upstreams that forward it, and a secret only its own")
    func keepsHeadersApart() async throws {
      let world = try await Self.start(
        shop: ["headers: {X-Key: sesame}", "forward: [x-tenant]"])
      let larder = world.larder
      let fields = [Self.ada, ("X-Tenant", "acme"), ("Cookie", "s=1")]
      #expect(try await larder.request("GET", "/api/films/f1", headers: fields).status == 200)
      #expect(try await larder.request("GET", "/api/offers", headers: fields).status == 200)
      let films = try #require(world.upstreams.filmsRequests.last?.fields)
      let shop = try #require(world.upstreams.shopRequests.last?.fields)
      #expect(films["authorization"] == "Bearer user-ada")
      #expect(films["x-tenant"] == nil && films["x-key"] == nil && films["cookie"] == nil)
      #expect(shop["x-tenant"] == "acme" && shop["x-key"] == "sesame")
      #expect(shop["authorization"] == nil && shop["cookie"] == nil)
      await world.stop()
    }

    @Test("Stored data is guarded by the credentials of the upstream that it came from")
    func guardsStoredData() async throws {
      let world = try await Self.start(shop: ["headers: {X-Key: sesame}"])
      let larder = world.larder
      #expect(try await larder.get("/api/films/f1").status == 200)
      #expect(try await larder.get("/api/offers").status == 200)
      #expect(try await larder.get("/v1/entities/Film/f1").status == 200)
      #expect(try await larder.get("/v1/changes?types=Film").status == 200)
      for target in [
        "/v1/entities/Offer/o1", "/v1/entities/Offer", "/v1/entities/Film/f1/offers",
        "/v1/changes?types=Offer", "/v1/changes?types=Film,Offer", "/v1/changes",
      ] {
        #expect(try await larder.get(target).status == 401, "\(target)")
        #expect(try await larder.get(target, Self.ada).status == 401, "an opaque token, \(target)")
        #expect(try await larder.get(target, Self.admin).status == 200, "\(target)")
      }
      let types = try await larder.get("/v1/entities")
      #expect(types.text.contains("\"Film\"") && !types.text.contains("\"name\":\"Offer\""))
      await world.stop()
    }

    @Test(
      "Each upstream has its own sync: one that hangs delays neither reads nor the queue of the other",
      .timeLimit(.minutes(2)))
    func oneHangs() async throws {
      let world = try await Self.start(shop: ["concurrency: 2"], timeout: "60s")
      let larder = world.larder
      let device = try await Ways.DeviceTests.register(larder)
      let token = ("Device-Token", device.token)
      #expect(try await larder.get("/api/offers", token).status == 200)
      try await world.upstreams.hang()

      func submit(_ body: String, key: String) async throws -> String {
        let response = try await larder.request(
          "POST", "/v1/mutations", headers: [token, ("Idempotency-Key", key)], body: body)
        #expect(response.status == 202, "\(response.text)")
        return try JSONValue(parsing: response.body)["id"]?.string ?? ""
      }
      let buying = try await submit(
        #"{"operation":"Buy","mode":"steady","variables":{"id":"o1"}}"#, key: "buy")
      // Reads that wait for the shop, more than it has connections.
      let port = larder.port
      let waiting = (0..<8).map { number in
        Task {
          try await onOwnThread {
            try RawClient(port: port).request(
              "GET", "/v1/operations/Customer?id=u\(number)", headers: [])
          }
        }
      }
      for number in 0..<20 {
        let film = try await larder.get("/api/films/g\(number)")
        #expect(film.status == 200 && film.text.contains("A film"), "\(film.text)")
      }
      var rated: [String] = []
      for number in 0..<3 {
        rated.append(
          try await submit(
            #"{"operation":"Rate","mode":"steady","variables":{"id":"f\#(number)","stars":5}}"#,
            key: "rate-\(number)"))
      }
      for id in rated {
        let mutation = try await larder.get("/v1/mutations/\(id)?wait=20", token)
        #expect(mutation.text.contains(#""state":"applied""#), "\(mutation.text)")
      }
      let held = try await larder.get("/v1/mutations/\(buying)", token)
      #expect(!held.text.contains(#""state":"applied""#), "\(held.text)")
      #expect(try await larder.get("/api/offers").status == 200, "stored data is served")

      try await world.upstreams.resume()
      let bought = try await eventually {
        try await larder.get("/v1/mutations/\(buying)", token)
      } until: {
        $0.text.contains(#""state":"applied""#)
      }
      #expect(bought.text.contains(#""state":"applied""#), "\(bought.text)")
      for task in waiting { _ = try await task.value }
      await world.stop()
    }

    @Test(
      "Operators see each upstream's breaker, outage and refused credentials, others see nothing")
    func operatorsSeeEach() async throws {
      let world = try await Self.start(timeout: "200ms")
      let larder = world.larder
      #expect(try await larder.get("/api/films/f1", Self.ada).status == 200)
      try await world.upstreams.hang()
      for number in 0..<6 {
        #expect(try await larder.get("/v1/operations/Customer?id=u\(number)").status >= 500)
      }
      #expect(try await larder.get("/v1/admin/upstreams").status == 401)
      #expect(try await larder.get("/v1/admin/upstreams", Self.ada).status == 401)
      let response = try await larder.get("/v1/admin/upstreams", Self.admin)
      let items = try JSONValue(parsing: response.body)["items"]?.array ?? []
      #expect(items.map { $0["name"] } == ["films", "shop"], "\(response.text)")
      let (films, shop) = (try #require(items.first), try #require(items.last))
      #expect(films["reachable"] == true && films["outage"] == nil, "\(response.text)")
      #expect(films["breaker"] == ["state": "closed", "operations": []], "\(response.text)")
      #expect(films["origin"].map { world.upstreams.filmsURL.hasPrefix($0.string ?? "?") } == true)
      #expect(films["live"] == ["connections": 0, "reconnects": 0, "gaps": 0])
      #expect(shop["reachable"] == false && shop["outage"] != nil, "\(response.text)")
      #expect(shop["breaker"]?["operations"] == ["Customer"], "\(response.text)")
      #expect(shop["credentialsRefused"]?["calls"] == 0, "\(response.text)")
      try await world.upstreams.resume()
      await world.stop()
    }

    @Test("Queued mutations follow their operation from one upstream to several")
    func movesQueue() async throws {
      let upstreams = try await TwoUpstreams()
      try await upstreams.hang()
      let larder = try await RunningLarder.start(
        settings: "devices: {register: open}\nqueue: {debounce: 0s}",
        operations: [
          "all":
            "mutation Buy($id: ID!) @sync(object: \"Offer:$id\", repeatable: true) { buy(id: $id) { id sold } }"
        ],
        upstreamTimeout: "500ms", upstream: upstreams.shopURL, schema: TwoUpstreams.shopSchema)
      let device = try await Ways.DeviceTests.register(larder)
      let token = ("Device-Token", device.token)
      let response = try await larder.request(
        "POST", "/v1/mutations", headers: [token, ("Idempotency-Key", "buy")],
        body: #"{"operation":"Buy","mode":"steady","variables":{"id":"o1"}}"#)
      #expect(response.status == 202, "\(response.text)")
      let id = try #require(try JSONValue(parsing: response.body)["id"]?.string)
      await larder.stopService()
      try await upstreams.resume()
      larder.upstreams = [
        "films": .init(
          settings: ["url: \(upstreams.filmsURL)"], schema: TwoUpstreams.filmsSchema,
          operations: TwoUpstreams.filmsOperations),
        "shop": .init(
          settings: ["url: \(upstreams.shopURL)", "types: {User: {as: Customer}}"],
          schema: TwoUpstreams.shopSchema, operations: TwoUpstreams.shopOperations),
      ]
      try? FileManager.default.removeItem(atPath: "\(larder.folder)/operations")
      try await larder.startService()
      let bought = try await eventually {
        try await larder.get("/v1/mutations/\(id)", token)
      } until: {
        $0.text.contains(#""state":"applied""#)
      }
      #expect(bought.text.contains(#""state":"applied""#), "\(bought.text)")
      #expect(upstreams.filmsRequests.isEmpty)
      await larder.stop()
      await upstreams.stop()
    }
  }
}
